"""Addresses of arrays as numbers, and accesses through them."""

from __future__ import annotations

import ast

import numpy as np

from .. import values
from ..errors import Unsupported
from ..memory import Array
from ..sites import Kind, Problem
from . import arithmetic
from .blocks import access, active, here, spread

SHIFT = 36  # bits of an address within one array
FIRST = 1 << 10


def global_address(run, n, m, array: Array):
    """``global_address(array)``: a number of 64 bits, of its own for each array."""
    known = run.session.addresses
    if array.buffer not in known:
        known[array.buffer] = FIRST + len(known)
    start = (known[array.buffer] << SHIFT) + array.buffer.base
    return np.uint64(start) + np.asarray(array.offset * array.dtype.itemsize).astype(np.uint64)[()]


def shared_address(run, n, m, array: Array):
    """``shared_address(array)``: bytes from the start of the block's shared memory."""
    address = here(run).block.address_of(array)
    return address.astype(np.uint32) if isinstance(address, np.ndarray) else np.uint32(address)


def global_cells(run, n, m, addresses, on, width: int, op: str, ordered=False):
    """Check and count an access of a warp to global memory by address.

    Parameters
    ----------
    addresses : ndarray of int, shape (lanes,)
    on : ndarray of bool, shape (lanes,)
        Lanes that access it.
    width : int
        Bytes a lane accesses.
    ordered : bool
        Whether a store releases or a load acquires.

    Returns
    -------
    tuple of ndarray or None
        The bytes of the array, and where in them each lane begins.
    """
    if not on.any():
        return None
    warp = here(run)
    cluster = warp.block.cluster
    addresses = addresses.astype(np.int64)
    lane = int(np.argmax(on))
    number = int(addresses[lane]) >> SHIFT
    buffer = next((b for b, k in run.session.addresses.items() if k == number), None)
    if buffer is None:
        message = f"{ast.unparse(n)}: {int(addresses[lane])} is no address of an array"
        cluster.problem(Kind.OUT_OF_BOUNDS, n.lineno, message, warp.block.number, warp.thread(lane))
        return None
    starts = addresses - ((number << SHIFT) + buffer.base)
    size = buffer.dtype.itemsize
    outside = (starts < 0) | (starts > buffer.size * size - width)
    for k in np.nonzero(on & (outside | (addresses % width != 0)))[0]:
        kind, why = Kind.MISALIGNED, f"no multiple of {width}"
        if outside[k]:
            kind, why = Kind.OUT_OF_BOUNDS, f"outside its {buffer.size * size} bytes"
        message = (
            f"thread {warp.thread(int(k))} of block {warp.block.number} {op}s {width} bytes at "
            f"byte {int(starts[k])} of {buffer.name}, {why}"
        )
        cluster.problem(kind, n.lineno, message, warp.block.number, warp.thread(int(k)))
    starts = np.clip(starts, 0, max(0, buffer.size * size - width))
    if run.tracer is not None:
        shape, per_lane = run.lanes.shape, max(1, width // size)
        elements = (starts // size).reshape(shape)
        mask = run.lanes.mask(on.reshape(shape), run.lanes.all)
        cells = [elements + k for k in range(per_lane)]
        cells = cells if per_lane > 1 else cells[0]
        run.tracer.access(n, buffer, op, elements, cells, mask, run.lanes, per_lane, ordered)
        if ordered and op == "store":
            run.tracer.release(mask, run.lanes)
    return buffer.flat.view(np.uint8), starts


#: What two floats become where an array holds 16 bits a number.
ROUNDED = {"float16": arithmetic.float16, "uint16": arithmetic.bfloat16}


def store_pair(run, n, m, C, row, col, first, second):
    """``store_pair(C, row, col, first, second)``: two neighbours in one store."""
    if not isinstance(C, Array) or C.dtype.name not in ("float32", *ROUNDED):
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: takes a matrix of float32 or 16 bits")
    run.memory.check_index(C, (row, col), n)
    run.memory.writes(C)
    elements, inside = run.memory.locate(C, (row, col), m, n)
    if inside is not None:
        _, inside = run.memory.locate(C, (row, col + 1), inside, n)
    if inside is None:
        return
    buffer = C.buffer
    odd = (np.asarray(elements) * C.dtype.itemsize + buffer.base) % (2 * C.dtype.itemsize) != 0
    wrong = odd & run.array_of(inside)
    if wrong.any():
        block, thread, position = run.lanes.first(wrong)
        where = ", ".join(str(int(run.lanes.at(i, position))) for i in (row, col))
        message = (
            f"thread {thread} of block {block} stores a pair at {C.name}[{where}], whose address "
            f"is no multiple of {2 * C.dtype.itemsize}: columns and width are even"
        )
        problem = Problem(
            Kind.MISALIGNED,
            line=n.lineno,
            array=C.name,
            block=block,
            thread=thread,
            message=message,
        )
        run.problem((Kind.MISALIGNED, n), problem, run.lane_count(wrong))
    cells = [run.memory.cells(buffer, elements + k) for k in range(2)]
    if run.tracer is not None:
        run.tracer.access(n, buffer, "store", elements, cells, inside, run.lanes, 2)
    for cell, part in zip(cells, (first, second), strict=True):
        part = values.cast(np.dtype(np.float32), part)
        if C.dtype.name in ROUNDED:
            part = ROUNDED[C.dtype.name](part).astype(np.uint16).view(C.dtype)
        run.memory.scatter(buffer.flat, cell, part, inside)


def store_shared(count: int, dtype=np.float32):
    """``st_shared_v2_f32(to, a, b)`` and its like."""

    def store(run, n, m, to, *parts):
        to = spread(run, to).astype(np.int64)
        on = access(run, n, m, "writes", to, 4 * count, "a store")
        data = np.stack([spread(run, v).astype(dtype) for v in parts], 1)[on]
        here(run).block.memory[to[on][:, None] + np.arange(4 * count)] = data.view(np.uint8)

    return store


def load_shared(count: int, dtype=np.uint32):
    """``ld_shared_v4_f32(source)`` and its like."""

    def load(run, n, m, source):
        source = spread(run, source).astype(np.int64)
        on = access(run, n, m, "reads", source, 4 * count, "a load")
        raw = np.full((len(source), 4 * count), 0xFF, np.uint8)
        raw[on] = here(run).block.memory[source[on][:, None] + np.arange(4 * count)]
        given = tuple(raw.view(dtype)[:, k].reshape(run.lanes.shape) for k in range(count))
        return given if count > 1 else given[0]

    return load


def load_global(count: int, dtype=np.uint32, acquires=False):
    """``ld_global_v4_u32(source)`` and its like."""

    def load(run, n, m, source):
        source, on = spread(run, source), active(run, m)
        words = np.zeros((len(source), count), dtype)
        found = global_cells(run, n, m, source, on, 4 * count, "load", acquires)
        if found is not None:
            raw, starts = found
            words[on] = raw[starts[on][:, None] + np.arange(4 * count)].view(dtype)
        given = tuple(words[:, k].reshape(run.lanes.shape) for k in range(count))
        return given if count > 1 else given[0]

    return load


def store_global(dtype=np.uint32, releases=False):
    """``st_global_v2_u32(to, a, b)`` and its like."""

    def store(run, n, m, to, *parts):
        to, on = spread(run, to), active(run, m)
        width = np.dtype(dtype).itemsize * len(parts)
        found = global_cells(run, n, m, to, on, width, "store", releases)
        if found is not None:
            raw, starts = found
            data = np.stack([spread(run, v).astype(dtype) for v in parts], 1)[on]
            raw[starts[on][:, None] + np.arange(width)] = data.view(np.uint8)

    return store


FUNCTIONS = {
    "global_address": global_address,
    "shared_address": shared_address,
    "store_pair": store_pair,
    "st_global_u16": store_global(np.uint16),
    "st_global_u32": store_global(),
    "st_global_v2_u32": store_global(),
    "st_global_cg_v4_f32": store_global(np.float32),
    "st_release_gpu_u32": store_global(releases=True),
    "st_shared_v2_f32": store_shared(2),
    "st_shared_v4_f32": store_shared(4),
    "st_shared_v4_u32": store_shared(4, np.uint32),
    "st_shared_u32": store_shared(1, np.uint32),
    "ld_shared_u32": load_shared(1),
    "ld_shared_v4_f32": load_shared(4, np.float32),
    "ld_global_u32": load_global(1),
    "ld_global_v4_u32": load_global(4),
    "ld_global_cg_v4_f32": load_global(4, np.float32),
    "ld_acquire_gpu_u32": load_global(1, acquires=True),
}
