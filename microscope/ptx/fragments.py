"""Small matrices in the registers of a warp: ``ldmatrix``, ``stmatrix`` and ``mma``."""

from __future__ import annotations

import ast

import numpy as np

from ..errors import KernelError
from ..memory import Array
from .blocks import access, active, here, spread, together
from .formats import SIZES, floats

ROWS, ROW = 8, 16  # of a block of 16-bit numbers, and bytes of a row


def registers(run, a: Array, count: int, n) -> np.ndarray:
    """The first elements of every thread's local array: a view of shape (count, lanes)."""
    lanes = run.lanes.count
    if not isinstance(a, Array) or a.buffer.space != "local" or a.ndim != 1:
        raise KernelError(f"line {n.lineno}: {ast.unparse(n)}: takes local arrays of one axis")
    if isinstance(a.offset, np.ndarray) or a.strides != (1,) or int(a.shape[0]) < count:
        raise KernelError(
            f"line {n.lineno}: {ast.unparse(n)}: {a.name} needs {count} neighbouring elements, "
            "in the same place in all threads"
        )
    start = int(a.offset) * lanes
    return a.buffer.flat[start : start + count * lanes].reshape(count, lanes)


def touched(run, a: Array, count: int, n, op: str) -> None:
    """An instruction reads or writes registers, as ordinary code does."""
    if a.buffer in run.memory.in_flight:
        elements = int(a.offset) + np.arange(count)
        run.memory.in_flight[a.buffer](n, elements)
    written = run.tracer.written.get(a.buffer) if run.tracer is not None else None
    if written is not None and op == "store":
        start = int(a.offset) * run.lanes.count
        written[start : start + count * run.lanes.count] = True


def load_blocks(count: int, transposed: bool = False):
    """``ldmatrix_x4(row)`` and its like."""

    def ldmatrix(run, n, m, row):
        together(run, n, m)
        row = spread(run, row).astype(np.int64)
        asked = np.arange(len(row)) < ROWS * count
        mask = run.lanes.mask(asked.reshape(run.lanes.shape), run.lanes.all)
        on = access(run, n, mask, "reads", row, ROW, "ldmatrix")
        raw = np.full((len(row), ROW), 0xFF, np.uint8)
        raw[on] = here(run).block.memory[row[on][:, None] + np.arange(ROW)]
        blocks = raw[: ROWS * count].view(np.uint16).reshape(count, ROWS, ROWS)
        if transposed:
            blocks = np.ascontiguousarray(blocks.swapaxes(1, 2))
        words = blocks.view(np.uint32).reshape(count, *run.lanes.shape)
        here(run).block.cluster.count("ldmatrix", count)
        return tuple(words) if count > 1 else words[0]

    return ldmatrix


def store_blocks(count: int, transposed: bool = False):
    """``stmatrix_x4(row, a, b, c, d)`` and its like."""

    def stmatrix(run, n, m, row, *parts):
        together(run, n, m)
        row = spread(run, row).astype(np.int64)
        words = np.stack([spread(run, v).astype(np.uint32) for v in parts])
        blocks = words.view(np.uint16).reshape(count, ROWS, ROWS)
        if transposed:
            blocks = np.ascontiguousarray(blocks.swapaxes(1, 2))
        asked = np.arange(len(row)) < ROWS * count
        mask = run.lanes.mask(asked.reshape(run.lanes.shape), run.lanes.all)
        on = access(run, n, mask, "writes", row, ROW, "stmatrix")
        data = np.zeros((len(row), ROW), np.uint8)
        data[: ROWS * count] = blocks.reshape(-1, ROWS).view(np.uint8).reshape(-1, ROW)
        here(run).block.memory[row[on][:, None] + np.arange(ROW)] = data[on]

    return stmatrix


def matrix_of(words: np.ndarray, dtype: str) -> np.ndarray:
    """A matrix from its fragments.

    Parameters
    ----------
    words : ndarray of uint32, shape (down, across, 32)
        Of each block of 8 rows and 16 bytes, the word of every thread.

    Returns
    -------
    ndarray of float32, shape (8 · down, across · 16 bytes of numbers)
    """
    down, across, _ = words.shape
    rows = np.ascontiguousarray(words.reshape(down, across, 8, 4).transpose(0, 2, 1, 3))
    return floats(rows.reshape(8 * down, -1).view(np.uint8), dtype)


def mma(run, n, m, acc, a, b, *, k: int, dtype: str):
    """``mma(k, dtype)(acc, a, b)``: 16×8 sums += 16×k by k×8."""
    together(run, n, m)
    across = k * SIZES[dtype] // ROW
    for array, count, op in ((a, 2 * across, "load"), (b, across, "load"), (acc, 4, "store")):
        touched(run, array, count, n, op)
    left = registers(run, a, 2 * across, n).view(np.uint32)
    right = registers(run, b, across, n).view(np.uint32)
    A = matrix_of(left.reshape(across, 2, 32).transpose(1, 0, 2), dtype)
    B = matrix_of(right.reshape(1, across, 32), dtype)
    sums = (A @ B.T).reshape(2, 8, 4, 2).transpose(0, 3, 1, 2).reshape(4, 32)
    own = registers(run, acc, 4, n)
    on = active(run, m)
    own[:, on] += sums[:, on]
    count_products(run, n, "mma", dtype, 16 * 8 * k)


def count_products(run, n, pipe: str, dtype: str, products: int) -> None:
    """Count multiply-adds of a tensor core."""
    if run.tracer is None:
        return
    here(run).block.cluster.count(f"{pipe} {dtype}", products)
    run.tracer.flops[f"tensor {dtype}"] += 2 * products
    run.tracer.flops_by_line[n.lineno] += 2 * products


FUNCTIONS = {
    "ldmatrix_x1": load_blocks(1),
    "ldmatrix_x1_trans": load_blocks(1, transposed=True),
    "ldmatrix_x2": load_blocks(2),
    "ldmatrix_x2_trans": load_blocks(2, transposed=True),
    "ldmatrix_x4": load_blocks(4),
    "ldmatrix_x4_trans": load_blocks(4, transposed=True),
    "stmatrix_x1": store_blocks(1),
    "stmatrix_x1_trans": store_blocks(1, transposed=True),
    "stmatrix_x2": store_blocks(2),
    "stmatrix_x2_trans": store_blocks(2, transposed=True),
    "stmatrix_x4": store_blocks(4),
    "stmatrix_x4_trans": store_blocks(4, transposed=True),
    "mma": mma,
}
