"""``cuda.atomic``: read, change and write back, one thread at a time."""

from __future__ import annotations

import ast

import numpy as np

from . import bfloat16, values
from .errors import Unsupported
from .memory import Array

UFUNCS = {
    "add": np.add,
    "sub": np.subtract,
    "max": np.maximum,
    "min": np.minimum,
    "nanmax": np.fmax,
    "nanmin": np.fmin,
    "and_": np.bitwise_and,
    "or_": np.bitwise_or,
    "xor": np.bitwise_xor,
}
NUMBERS = ("int32", "uint32", "int64", "uint64", "float32", "float64")
TYPES = dict.fromkeys(("add", "sub", "max", "min", "nanmax", "nanmin"), NUMBERS)
TYPES |= dict.fromkeys(
    ("and_", "or_", "xor", "exch", "cas", "compare_and_swap"), NUMBERS[:4]
) | dict.fromkeys(("inc", "dec"), ("uint32", "uint64"))
STEPS = {
    "exch": lambda old, v: v,
    "inc": lambda old, v: old.dtype.type(0) if old >= v else old + old.dtype.type(1),
    "dec": lambda old, v: v if old == 0 or old > v else old - old.dtype.type(1),
}


def atomic(run, op: str, n: ast.Call, m):
    """``cuda.atomic.op(array, index, value)``; gives the old value back.

    Lanes take their turns in order.
    """
    swap = op in ("cas", "compare_and_swap")
    if op == "compare_and_swap":
        array, expected, v = run.exactly(n, m, 3)
        index = tuple(np.int64(0) for _ in getattr(array, "shape", ()))
    elif op == "cas":
        array, index, expected, v = run.exactly(n, m, 4)
    else:
        array, index, v = run.exactly(n, m, 3)
    v = bfloat16.plain(v)
    if not isinstance(array, Array):
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: the first argument must be an array")
    if array.dtype.name not in TYPES[op]:
        raise Unsupported(
            n.lineno,
            f"{ast.unparse(n)}: this takes arrays of {', '.join(TYPES[op])}, "
            f"not of {array.dtype.name}: use a wider array",
        )
    index = index if isinstance(index, tuple) else (index,)
    index = tuple(  # Numba cuts a float off, though it refuses one between brackets
        values.cast(values.INT64, i) if values.is_value(i) and i.dtype.kind == "f" else i
        for i in index
    )
    run.memory.check_index(array, index, n)
    run.memory.writes(array)
    elements, inside = run.memory.locate(array, index, m, n)
    buffer, lanes = array.buffer, run.lanes
    if inside is None:
        return run.memory.unread(buffer.dtype)
    cells = run.memory.cells(buffer, elements)
    if run.tracer is not None:
        run.tracer.access(n, buffer, "atomic", elements, cells, inside, lanes)
        if buffer in run.tracer.written:
            run.memory.uninitialised(buffer, elements, cells, inside, n)
            run.memory.scatter(run.tracer.written[buffer], cells, np.bool_(True), inside)
        if op in ("add", "sub") and buffer.dtype.kind == "f":
            run.tracer.count_flops(buffer.dtype.name, inside.n, n.lineno)
    active = lanes.full(run.array_of(inside))
    where = lanes.full(np.asarray(cells))[active]
    amount = lanes.full(values.cast(buffer.dtype, v))[active]
    if op in ("max", "min") and np.isnan(amount).any():  # which never compares as greater or less
        amount = np.where(np.isnan(amount), -np.inf if op == "max" else np.inf, amount)
        amount = amount.astype(buffer.dtype)
    if run.unused is n and op in UFUNCS:
        UFUNCS[op].at(buffer.flat, where, amount)
        return None
    if swap:
        wanted = lanes.full(values.cast(buffer.dtype, expected))[active]
        old = _swap(buffer.flat, where, wanted, amount)
    else:
        old = _in_turn(buffer.flat, where, amount, UFUNCS.get(op) or STEPS[op])
    result = np.zeros(lanes.shape, buffer.dtype)
    result[active] = old
    return result


def _in_turn(flat, where, amount, step) -> np.ndarray:
    old = np.empty(where.size, flat.dtype)
    for k, (cell, v) in enumerate(zip(where.tolist(), amount, strict=True)):
        old[k] = flat[cell]
        flat[cell] = step(flat[cell], v)
    return old


def _swap(flat, where, wanted, new) -> np.ndarray:
    old = np.empty(where.size, flat.dtype)
    for k, cell in enumerate(where.tolist()):
        old[k] = flat[cell]
        if old[k] == wanted[k]:
            flat[cell] = new[k]
    return old
