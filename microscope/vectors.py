"""Four elements in one instruction: the functions of `kernels.backend.vector` in the interpreter.

Four neighbours that lie in 16 aligned bytes are one request of 16 bytes a lane. The guarded
functions leave out what lies beyond the edges, and fall back to four requests of 4 bytes.
"""

from __future__ import annotations

import ast

import numpy as np

from . import values
from .errors import Unsupported
from .memory import Array
from .sites import Kind, Problem

WIDTH = 4  # elements
ZERO = np.float32(0)


def load4(run, n, m):
    """``load4(array, row, col)``: a tuple of four elements."""
    array, *index = run.exactly(n, m, 3)
    return _load(run, array, index, m, n)


def store4(run, n, m):
    """``store4(array, row, col, a, b, c, d)``."""
    array, row, col, *parts = run.exactly(n, m, 7)
    _store(run, array, [row, col], parts, m, n)


def load4_guarded(run, n, m):
    """``load4_guarded(array, row, col, wide)``: zeros beyond the edges."""
    array, row, col, wide = run.exactly(n, m, 4)
    _matrix(array, n)
    below = values.binary(ast.Add, row, np.int64(0)) < array.shape[0]
    if _same_for_all(wide, n):
        inside, _ = run.lanes.split(values.truth(below & (col < array.shape[1])), m)
        if inside is None:
            return (ZERO,) * WIDTH
        parts = _load(run, array, [row, col], inside, n)
        return tuple(_or_zero(part, inside) for part in parts)
    parts = []
    for at in _columns(col):
        inside, _ = run.lanes.split(values.truth(below & (at < array.shape[1])), m)
        part = ZERO if inside is None else run.memory.load(array, (row, at), inside, n)
        parts.append(part if inside is None else _or_zero(part, inside))
    return tuple(parts)


def store4_guarded(run, n, m):
    """``store4_guarded(array, row, col, a, b, c, d, wide)``: nothing beyond the edges."""
    array, row, col, *parts, wide = run.exactly(n, m, 8)
    _matrix(array, n)
    below = values.binary(ast.Add, row, np.int64(0)) < array.shape[0]
    if _same_for_all(wide, n):
        inside, _ = run.lanes.split(values.truth(below & (col < array.shape[1])), m)
        if inside is not None:
            _store(run, array, [row, col], parts, inside, n)
        return
    for at, part in zip(_columns(col), parts, strict=True):
        inside, _ = run.lanes.split(values.truth(below & (at < array.shape[1])), m)
        if inside is not None:
            run.memory.put(array, (row, at), part, inside, n)


def aligned16(run, n, m):
    """``aligned16(array)``: whether 16 bytes may go at once in every row."""
    (array,) = run.exactly(n, m, 1)
    _matrix(array, n)
    start = array.buffer.base + array.offset * array.dtype.itemsize
    row_bytes, col_bytes = (stride * array.dtype.itemsize for stride in array.strides)
    rows_fit = row_bytes % 16 == 0 and array.shape[1] % WIDTH == 0
    return np.bool_(start % 16 == 0 and rows_fit and col_bytes == 4)


def unrolled(run, n, m):
    """``unrolled()``: how a loop is compiled changes nothing here."""
    run.exactly(n, m, 0)


def _matrix(array, n) -> None:
    if not isinstance(array, Array) or array.ndim != 2 or array.dtype != np.float32:
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: takes a matrix of float32")


def _same_for_all(wide, n) -> bool:
    if isinstance(wide, np.ndarray):
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: wide must be the same in all threads")
    return bool(wide)


def _columns(col) -> list:
    return [values.binary(ast.Add, col, np.int64(k)) for k in range(WIDTH)]


def _or_zero(part, inside):
    return part if inside.array is None else np.where(inside.array, part, ZERO)


def _locate(run, array, index, m, n):
    """Numbers of the first of four elements, with the lanes whose four may be touched."""
    _matrix(array, n)
    row, col = index
    run.memory.check_index(array, (row, col), n)
    elements, inside = run.memory.locate(array, (row, col), m, n)
    in_row = isinstance(array.strides[1], int) and array.strides[1] == 1
    if inside is not None and not in_row:
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: neighbours in a row must be neighbours")
    if inside is not None:
        _, inside = run.memory.locate(array, (row, _columns(col)[-1]), inside, n)
    if inside is None:
        return elements, None
    odd = (np.asarray(elements) * array.dtype.itemsize + array.buffer.base) % 16 != 0
    wrong = odd & run.array_of(inside)
    if wrong.any():
        _misaligned(run, array, (row, col), np.reshape(wrong, np.shape(wrong) or (1,) * 4), n)
        inside = run.lanes.mask(run.array_of(inside) & ~odd, inside)
    return elements, inside


def _misaligned(run, array, index, wrong, n) -> None:
    block, thread, position = run.lanes.first(wrong)
    element = tuple(int(run.lanes.at(i, position)) for i in index)
    message = (
        f"thread {thread} of block {block} takes 16 bytes at {array.name}"
        f"[{', '.join(map(str, element))}], whose address is no multiple of 16: "
        "start at a multiple of four elements, in rows that do too"
    )
    problem = Problem(
        Kind.MISALIGNED,
        line=n.lineno,
        array=array.name,
        element=element,
        block=block,
        thread=thread,
        message=message,
    )
    run.problem((Kind.MISALIGNED, n), problem, run.lane_count(wrong))


def _load(run, array, index, m, n) -> tuple:
    elements, inside = _locate(run, array, index, m, n)
    buffer = array.buffer
    if inside is None:
        return (run.memory.unread(buffer.dtype),) * WIDTH
    cells = [run.memory.cells(buffer, elements + k) for k in range(WIDTH)]
    if run.tracer is not None:
        run.tracer.access(n, buffer, "load", elements, cells, inside, run.lanes, WIDTH)
        if buffer in run.tracer.written:
            for k, cell in enumerate(cells):
                run.memory.uninitialised(buffer, elements + k, cell, inside, n)
    parts = []
    for cell in cells:
        part = buffer.flat.take(cell) if isinstance(cell, np.ndarray) else buffer.flat[cell]
        if inside is not m and inside.array is not None:
            part = np.where(inside.array, part, values.poison(buffer.dtype))
        parts.append(part)
    return tuple(parts)


def _store(run, array, index, parts, m, n) -> None:
    elements, inside = _locate(run, array, index, m, n)
    if not all(values.is_value(part) for part in parts):
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: stores four numbers")
    run.memory.writes(array)
    buffer = array.buffer
    if inside is None:
        return
    cells = [run.memory.cells(buffer, elements + k) for k in range(WIDTH)]
    if run.tracer is not None:
        run.tracer.access(n, buffer, "store", elements, cells, inside, run.lanes, WIDTH)
    for cell, part in zip(cells, parts, strict=True):
        if run.tracer is not None and buffer in run.tracer.written:
            run.memory.scatter(run.tracer.written[buffer], cell, np.bool_(True), inside)
        run.memory.scatter(buffer.flat, cell, values.cast(buffer.dtype, part), inside)


FUNCTIONS = {
    "load4": load4,
    "store4": store4,
    "load4_guarded": load4_guarded,
    "store4_guarded": store4_guarded,
    "aligned16": aligned16,
    "unrolled": unrolled,
}
