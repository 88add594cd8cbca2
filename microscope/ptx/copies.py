"""Copies that go on while threads do other things: ``cp.async``, and boxes by the TMA unit."""

from __future__ import annotations

import ast
from dataclasses import dataclass

import numpy as np

from ..memory import contents
from ..sites import Kind
from . import barriers
from .addresses import global_cells
from .blocks import Block, Warp, access, active, chosen, here, spread
from .clocks import ClockedAccess, words_of
from .tensor_maps import BYTES as MAP_BYTES
from .tensor_maps import ITEM, MapBuffer

CHUNK = 16  # bytes that a swizzle keeps together
SWIZZLE_BITS = {0: 0, 32: 1, 64: 3, 128: 7}


def swizzled(addresses: np.ndarray, swizzle: int) -> np.ndarray:
    """Where bytes lie under a swizzle: bits 4 to 6 of an address, turned by bits 7 to 9."""
    return addresses ^ ((addresses >> 7 & SWIZZLE_BITS[swizzle]) << 4)


# -- whole boxes


@dataclass(eq=False)
class Load:
    """A box on its way from global to shared memory."""

    block: Block
    bar: barriers.Mbarrier
    to: int
    map: MapBuffer
    start: tuple
    line: int
    event: ClockedAccess

    @property
    def size(self) -> int:
        return self.map.box_bytes

    def land(self) -> None:
        """Write the box, and count its bytes."""
        self.block.cluster.note("land", self.block, self.line, barrier=self.bar.address, of=self)
        box = box_of(self.map, self.start)
        chunks = self.block.memory.reshape(-1, CHUNK)
        chunks[chunks_of(self.to, self.map)] = box.reshape(-1, CHUNK)
        if self in self.bar.flying:
            self.bar.flying.remove(self)
        if self.block.left:
            message = (
                f"the copy of line {self.line} arrives at block {self.block.number}, which has "
                "left: let all blocks meet in cluster_sync() at the end"
            )
            self.block.cluster.problem(Kind.BLOCK_LEFT, self.line, message, self.block.number)
        self.bar.deliver(self.size, self.line)


@dataclass(eq=False)
class BulkStore:
    """A box on its way from shared to global memory."""

    block: Block
    source: int
    map: MapBuffer
    start: tuple
    line: int
    event: ClockedAccess
    landed: bool = False

    def land(self) -> None:
        """Read shared memory, and write what lies inside the matrix."""
        self.landed = True
        self.block.cluster.note("read", self.block, self.line, of=self)
        chunks = self.block.memory.reshape(-1, CHUNK)[chunks_of(self.source, self.map)]
        size = ITEM[self.map.map.dtype]
        box = chunks.reshape(-1).view(f"u{size}").reshape(self.map.map.box)
        there, here_ = inside(self.map, self.start)
        if there is not None:
            matrix = contents(self.map.of)
            matrix.view(f"u{size}")[there] = box[here_]


def inside(map_: MapBuffer, start: tuple):
    """The part of a box that lies in the matrix: where it is in the matrix, and in the box."""
    there, own = [], []
    for first, length, size in zip(start, map_.map.box, map_.of.buffer.shape, strict=True):
        low, high = max(first, 0), min(first + length, size)
        if low >= high:
            return None, None
        there.append(slice(low, high))
        own.append(slice(low - first, high - first))
    return tuple(there), tuple(own)


def box_of(map_: MapBuffer, start: tuple) -> np.ndarray:
    """The bytes of a box as it lies in the matrix, zeros outside."""
    size = ITEM[map_.map.dtype]
    box = np.zeros(map_.map.box, f"u{size}")
    there, own = inside(map_, start)
    if there is not None:
        box[own] = contents(map_.of).view(f"u{size}")[there]
    return box.reshape(-1).view(np.uint8)


def chunks_of(address: int, map_: MapBuffer) -> np.ndarray:
    """Places of a box's 16-byte pieces in shared memory, in units of 16 bytes."""
    pieces = address + np.arange(0, map_.box_bytes, CHUNK)
    row = map_.map.box[-1] * ITEM[map_.map.dtype]
    if map_.map.swizzle > row:  # rows keep the pitch of the pattern
        per_row = row // CHUNK
        k = np.arange(map_.box_bytes // CHUNK)
        pieces = address + k // per_row * map_.map.swizzle + k % per_row * CHUNK
    return swizzled(pieces, map_.map.swizzle) // CHUNK


def _asked(run, n, m, map_, address, x, y, z=None) -> tuple | None:
    """What a thread asks of the TMA: the map, the place in shared memory, the first element."""
    warp = here(run)
    block, cluster = warp.block, warp.block.cluster
    on = np.nonzero(active(run, m))[0]
    buffer = map_.buffer
    if not isinstance(buffer, MapBuffer):
        message = f"{ast.unparse(n)}: {map_.name} is no tensor map: make it with tensor_map(...)"
        cluster.problem(Kind.DESCRIPTOR, n.lineno, message, block.number)
        return None
    if len(on) > 1:
        message = (
            f"{ast.unparse(n.func)} is called by {len(on)} threads of a warp, and each asks for "
            "the whole box: let one thread ask, as in if tid == 0"
        )
        cluster.problem(Kind.BYTES, n.lineno, message, block.number, warp.thread(int(on[1])))
    if buffer.several:
        buffer = buffer.several[int(spread(run, map_.offset)[on[0]]) // MAP_BYTES]
    start = [int(spread(run, v)[on[0]]) for v in (z, y, x) if v is not None]
    if len(start) != len(buffer.map.box):
        message = f"{ast.unparse(n)}: a map of {len(buffer.map.box)} axes takes as many indices"
        cluster.problem(Kind.DESCRIPTOR, n.lineno, message, block.number)
        return None
    if start[-1] * ITEM[buffer.map.dtype] % CHUNK:
        message = (
            f"{ast.unparse(n)}: the box starts at column {start[-1]}, on no 16-byte boundary of "
            f"its row: let x be a multiple of {CHUNK // ITEM[buffer.map.dtype]}"
        )
        cluster.problem(Kind.MISALIGNED, n.lineno, message, block.number, warp.thread(int(on[0])))
        return None
    place = int(spread(run, address)[on[0]])
    wanted = 128 if buffer.map.swizzle else CHUNK
    repeat = buffer.map.swizzle * 8
    thread = warp.thread(int(on[0]))
    if place % wanted or not block.has(place, buffer.reach):
        bad = "starts on no 128-byte boundary" if place % wanted else "lies outside"
        kind = Kind.MISALIGNED if place % wanted else Kind.OUT_OF_BOUNDS
        message = (
            f"the box of {buffer.reach} bytes at shared address {place} {bad}: the block has "
            f"bytes {block.start} to {block.end}"
        )
        cluster.problem(kind, n.lineno, message, block.number, thread)
        return None
    if repeat and place % repeat:
        message = (
            f"the box at shared address {place} starts within the pattern of its swizzle, which "
            f"repeats every {repeat} bytes: round the address up to a multiple of {repeat}"
        )
        cluster.problem(Kind.DESCRIPTOR, n.lineno, message, block.number, thread)
    return buffer, place, tuple(start), thread


def _asks(run, n, map_: MapBuffer, start: tuple, op: str) -> tuple | None:
    """Count what a box asks of global memory; the part of it that lies in the matrix."""
    there, _ = inside(map_, start)
    if run.tracer is not None:
        run.tracer.box(n, map_.of.buffer, op, there)
    return there


def load(run, n, m, to, map_, *rest):
    """``cp_async_bulk_tensor_2d_load(to, map, x, y, bar)``; of three axes with ``z``."""
    *start, bar = rest
    _load(run, n, m, to, map_, start, bar, None)


def load_multicast(run, n, m, to, map_, *rest):
    """``cp_async_bulk_tensor_2d_load_multicast(to, map, x, y, bar, ranks)``; or with ``z``."""
    *start, bar, ranks = rest
    _load(run, n, m, to, map_, start, bar, int(chosen(run, m, ranks)[0][0]))


def _load(run, n, m, to, map_, start, bar, ranks):
    warp = here(run)
    cluster = warp.block.cluster
    asked = _asked(run, n, m, map_, to, *start)
    if asked is None:
        return
    buffer, place, first, thread = asked
    address = int(chosen(run, m, bar)[0][0])
    to_all = [warp.block]
    if ranks is not None:
        ranks = [k for k in range(16) if ranks >> k & 1]
        to_all = [b for b in (barriers.peer(warp, k, n) for k in ranks) if b is not None]
    _asks(run, n, buffer, first, "load")
    cluster.count("tma_load_bytes", buffer.box_bytes)
    cluster.count("tma_delivered_bytes", buffer.box_bytes * len(to_all))
    for block in to_all:
        target = barriers.at(run, n, address, warp, block)
        if target is None:
            continue
        if not target.shown:
            message = (
                f"the copy counts its bytes at {target.name}, which the asynchronous proxy need "
                "not know yet: call fence_mbarrier_init() behind mbarrier_init"
            )
            cluster.problem(Kind.PROXY_FENCE, n.lineno, message, block.number, thread)
        event = ClockedAccess(
            "the copy", n.lineno, warp.block.number, thread, True, buffer.map.swizzle, target,
            target.phase,
        )  # fmt: skip
        where = slice(place // 4, (place + buffer.box_bytes) // 4)
        block.writes(where, warp, event, target.actor, target.phase + 1)
        block.deliveries.append((target.actor, target.phase + 1, event))
        operation = Load(block, target, place, buffer, first, n.lineno, event)
        target.flying.append(operation)
        stretch = (place, place + buffer.box_bytes)
        cluster.note(
            "request", block, n.lineno, warp.index, target.address, [stretch], of=operation
        )
        cluster.ask(operation)


def store(run, n, m, map_, *rest):
    """``cp_async_bulk_tensor_2d_store(map, x, y, source)``; of three axes with ``z``."""
    *start, source = rest
    warp = here(run)
    asked = _asked(run, n, m, map_, source, *start)
    if asked is None:
        return
    buffer, place, first, thread = asked
    if min(first) < 0:  # CUDA C++ Programming Guide, on TMA; an H100: illegal instruction
        axis = "xyz"[first[::-1].index(min(first))]
        message = (
            f"{ast.unparse(n)}: the box starts at {axis} = {min(first)}, before the matrix: a GPU "
            "loads such a box but does not store it"
        )
        warp.block.cluster.problem(Kind.OUT_OF_BOUNDS, n.lineno, message, warp.block.number, thread)
        return
    queue = warp.stores
    event = ClockedAccess("the bulk store", n.lineno, warp.block.number, thread, True, reads=True)
    event.swizzle = buffer.map.swizzle
    operation = BulkStore(warp.block, place, buffer, first, n.lineno, event)
    queue.open.append(operation)
    queue.lane = int(np.argmax(active(run, m)))
    where = slice(place // 4, (place + buffer.box_bytes) // 4)
    warp.block.reads(where, warp, event, queue.actor, len(queue.groups) + 1)
    there = _asks(run, n, buffer, first, "store")
    moved = np.prod([s.stop - s.start for s in there]) * ITEM[buffer.map.dtype] if there else 0
    warp.block.cluster.count("tma_store_bytes", moved)
    stretch = (place, place + buffer.box_bytes)
    warp.block.cluster.note(
        "store", warp.block, n.lineno, warp.index, where=[stretch], of=operation
    )
    warp.block.cluster.ask(operation)


def commit_stores(run, n, m):
    """``cp_async_bulk_commit_group()``."""
    queue = here(run).stores
    if queue.lane is None or active(run, m)[queue.lane]:
        queue.groups.append(queue.open)
        queue.open = []


def wait_stores(run, n, m, pending):
    """``cp_async_bulk_wait_group(pending)`` and ``…_wait_group_read``."""
    warp = here(run)
    if warp.stores.lane is None or active(run, m)[warp.stores.lane]:
        _finish(warp, warp.stores, int(pending))


# -- pieces of 4 to 16 bytes


@dataclass(eq=False)
class Pieces:
    """The copies that one ``cp.async`` of a warp starts."""

    block: Block
    to: np.ndarray
    source: np.ndarray | None  # the bytes of the array, if anything is read
    starts: np.ndarray
    sizes: np.ndarray
    width: int
    line: int

    def land(self) -> None:
        """Write what lies in global memory now, zeros behind it."""
        self.block.cluster.note("land", self.block, self.line, of=self)
        k = np.arange(self.width)
        reads = k < self.sizes[:, None]
        data = np.zeros(reads.shape, np.uint8)
        if self.source is not None:
            places = self.starts[:, None] + k
            reads &= places < self.source.size  # what lies outside has been reported
            data = np.where(reads, self.source[np.where(reads, places, 0)], data)
        self.block.memory[self.to[:, None] + k] = data


def pieces(width: int):
    """``cp_async_4(to, source, size)`` and ``cp_async_16``."""

    def copy(run, n, m, to, source, size):
        warp = here(run)
        cluster = warp.block.cluster
        to, source, size = (spread(run, v).astype(np.int64) for v in (to, source, size))
        on = active(run, m)
        some = on & (size > 0)
        raw = global_cells(run, n, m, source, some, width, "load")
        queue = warp.copies
        step = len(queue.groups) + 1
        good = _placed(run, n, m, to, width, queue.actor, step)
        source, starts = raw or (None, to)
        operation = Pieces(warp.block, to[good], source, starts[good], size[good], width, n.lineno)
        stretch = [(int(to[good].min()), int(to[good].max()) + width)] if good.any() else []
        cluster.note("request", warp.block, n.lineno, warp.index, where=stretch, of=operation)
        queue.open.append(operation)
        cluster.count("cp_async_bytes", int(np.minimum(size, width)[on].sum()))
        cluster.ask(operation)

    return copy


def _placed(run, n, m, to, width: int, actor: int, step: int):
    """Check and count where a warp's copies go."""
    warp = here(run)
    words, warp.block.words = warp.block.words, None
    try:
        good = access(run, n, m, "writes", to, width, "the copy")
    finally:
        warp.block.words = words
    if good.any():
        event = ClockedAccess(
            "cp.async", n.lineno, warp.block.number, warp.thread(int(np.argmax(good))), False
        )
        warp.block.writes(words_of(to[good], width), warp, event, actor, step)
    return good


def commit(run, n, m):
    """``cp_async_commit_group()``."""
    queue = here(run).copies
    queue.groups.append(queue.open)
    queue.open = []


def wait(run, n, m, pending):
    """``cp_async_wait_group(pending)``."""
    warp = here(run)
    _finish(warp, warp.copies, int(pending))


def _finish(warp: Warp, queue, pending: int) -> None:
    """Let all groups but the last ones be over."""
    done = max(0, len(queue.groups) - pending)
    for group in queue.groups[queue.waited : done]:
        for operation in group:
            warp.block.cluster.land(operation)
    queue.waited = max(queue.waited, done)
    warp.clock[queue.actor] = max(int(warp.clock[queue.actor]), queue.waited)


def nothing(run, n, m, *arguments):
    """A hint: it changes nothing here."""


FUNCTIONS = {
    "cp_async_4": pieces(4),
    "cp_async_8": pieces(8),
    "cp_async_16": pieces(16),
    "cp_async_commit_group": commit,
    "cp_async_wait_group": wait,
    "cp_async_bulk_tensor_2d_load": load,
    "cp_async_bulk_tensor_3d_load": load,
    "cp_async_bulk_tensor_2d_load_multicast": load_multicast,
    "cp_async_bulk_tensor_3d_load_multicast": load_multicast,
    "cp_async_bulk_tensor_2d_store": store,
    "cp_async_bulk_tensor_3d_store": store,
    "cp_async_bulk_commit_group": commit_stores,
    "cp_async_bulk_wait_group": wait_stores,
    "cp_async_bulk_wait_group_read": wait_stores,
    "cp_async_bulk_prefetch_tensor_3d": nothing,
    "prefetch_tensormap": nothing,
}
