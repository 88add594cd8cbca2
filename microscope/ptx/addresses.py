"""Addresses of arrays as numbers, and accesses through them."""

from __future__ import annotations

import ast

import numpy as np

from ..memory import Array
from ..sites import Kind
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


def global_cells(run, n, m, addresses, on, width: int, op: str):
    """Check and count an access of a warp to global memory by address.

    Parameters
    ----------
    addresses : ndarray of int, shape (lanes,)
    on : ndarray of bool, shape (lanes,)
        Lanes that access it.
    width : int
        Bytes a lane accesses.

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
    for k in np.nonzero(on)[0]:
        kind = None
        if addresses[k] % width:
            kind, why = Kind.MISALIGNED, f"no multiple of {width}"
        if not 0 <= starts[k] <= buffer.size * size - width:
            kind, why = Kind.OUT_OF_BOUNDS, f"outside its {buffer.size * size} bytes"
        if kind:
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
        run.tracer.access(n, buffer, op, elements, cells, mask, run.lanes, per_lane)
    return buffer.flat.view(np.uint8), starts


def store_global(dtype, count: int):
    """``st_global_v2_f32(to, a, b)`` and its like."""
    dtype = np.dtype(dtype)

    def store(run, n, m, to, *parts):
        width, on = dtype.itemsize * count, active(run, m)
        found = global_cells(run, n, m, spread(run, to), on, width, "store")
        if found is None:
            return
        raw, starts = found
        data = np.stack([spread(run, v).astype(dtype) for v in parts], 1)[on].view(np.uint8)
        raw[starts[on][:, None] + np.arange(width)] = data

    return store


def store_shared(count: int):
    """``st_shared_v2_f32(to, a, b)`` and its like."""

    def store(run, n, m, to, *parts):
        to = spread(run, to).astype(np.int64)
        on = access(run, n, m, "writes", to, 4 * count, "a store")
        data = np.stack([spread(run, v).astype(np.float32) for v in parts], 1)[on]
        here(run).block.memory[to[on][:, None] + np.arange(4 * count)] = data.view(np.uint8)

    return store


def load_shared(run, n, m, source):
    """``ld_shared_v4_f32(source)``."""
    source = spread(run, source).astype(np.int64)
    on = access(run, n, m, "reads", source, 16, "a load")
    raw = np.full((len(source), 16), 0xFF, np.uint8)
    raw[on] = here(run).block.memory[source[on][:, None] + np.arange(16)]
    return tuple(raw.view(np.float32)[:, k].reshape(run.lanes.shape) for k in range(4))


FUNCTIONS = {
    "global_address": global_address,
    "shared_address": shared_address,
    "st_global_v2_f32": store_global(np.float32, 2),
    "st_global_u32": store_global(np.uint32, 1),
    "st_shared_v2_f32": store_shared(2),
    "st_shared_v4_f32": store_shared(4),
    "ld_shared_v4_f32": load_shared,
}
