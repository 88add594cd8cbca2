"""Clusters: blocks that start together, know their rank and reach each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import KernelError
from ..sites import WARP, Kind
from . import barriers
from .blocks import SPACE, Block, Wait, active, chosen, here
from .clocks import ClockedAccess

RANK = 24  # bits of an address below the rank, plus 1, of the block that has it


def rank(run, n, m):
    """``cluster_ctarank()``."""
    return np.uint32(here(run).block.rank)


def arrive(run, n, m):
    """``cluster_arrive()``."""
    warp = here(run)
    cluster = warp.block.cluster
    if warp.at == cluster.phase:
        message = "cluster_arrive() twice without cluster_wait() between: call it once a phase"
        cluster.problem(Kind.ARRIVALS, n.lineno, message, warp.block.number, warp.thread(0))
        return
    warp.at = cluster.phase
    cluster.arrived[warp] = warp.release()
    complete(cluster)


def complete(cluster) -> None:
    """Let the warps of a cluster pass its barrier where all that have not ended are there."""
    warps = [w for b in cluster.blocks for w in b.warps if not w.ended]
    if not cluster.arrived or any(w not in cluster.arrived for w in warps):
        return
    cluster.released = [np.maximum.reduce(c) for c in zip(*cluster.arrived.values(), strict=True)]
    cluster.arrived = {}
    cluster.phase += 1


def wait(run, n, m):
    """``cluster_wait()`` (a generator)."""
    warp = here(run)
    cluster, mine = warp.block.cluster, warp.at
    if mine is None:
        message = "cluster_wait() without cluster_arrive() before it"
        cluster.problem(Kind.ARRIVALS, n.lineno, message, warp.block.number, warp.thread(0))
        return

    def missing() -> str:
        behind = sum(w not in cluster.arrived for b in cluster.blocks for w in b.warps)
        return f"the barrier of the cluster, to which {behind} warps have not come"

    yield Wait(n.lineno, lambda: cluster.phase > mine, missing)
    warp.acquire(*cluster.released)


def sync(run, n, m):
    """``cluster_sync()`` (a generator)."""
    if not active(run, m).all():
        raise KernelError(f"line {n.lineno}: cluster_sync() is called by all threads of a warp")
    arrive(run, n, m)
    yield from wait(run, n, m)


def mapa(run, n, m, address, other):
    """``mapa(address, rank)``: an address that says whose memory it is."""
    return (address & np.uint32(SPACE - 1) | (other + np.uint32(1)) << np.uint32(RANK)).astype(
        np.uint32
    )


def store_async(run, n, m, to, a, b, c, d, bar):
    """``st_async_v4_f32(to, a, b, c, d, bar)``: 16 bytes a thread, in another block."""
    warp = here(run)
    to, bars = (v.astype(np.int64) for v in chosen(run, m, to, bar))
    parts = np.stack(chosen(run, m, a, b, c, d), 1).astype(np.float32).view(np.uint8)
    lane = int(np.argmax(active(run, m)))
    for place, address, data in zip(to, bars, parts, strict=True):
        block = barriers.peer(warp, (int(place) >> RANK) - 1, n)
        place, address = int(place) & (SPACE - 1), int(address) & (SPACE - 1)
        if block is None:
            continue
        if place % 16 or not block.has(place, 16):
            message = f"16 bytes at shared address {place} of block {block.number}: not its own"
            block.cluster.problem(Kind.OUT_OF_BOUNDS, n.lineno, message, block.number)
            continue
        target = barriers.at(run, n, address, warp, block)
        if target is None:
            continue
        event = ClockedAccess(
            "st.async", n.lineno, warp.block.number, warp.thread(lane), barrier=target,
            phase=target.phase,
        )  # fmt: skip
        where = slice(place // 4, place // 4 + 4)
        block.writes(where, warp, event, target.actor, target.phase + 1)
        block.deliveries.append((target.actor, target.phase + 1, event))
        operation = Stored(block, target, place, data.copy(), n.lineno, event)
        target.flying.append(operation)
        block.cluster.ask(operation)


@dataclass(eq=False)
class Stored:
    """16 bytes on their way to another block."""

    block: Block
    bar: barriers.Mbarrier
    to: int
    data: np.ndarray
    line: int
    event: ClockedAccess
    size: int = 16

    def land(self) -> None:
        """Write them, and count them at the barrier."""
        self.block.memory[self.to : self.to + self.size] = self.data
        if self in self.bar.flying:
            self.bar.flying.remove(self)
        self.bar.deliver(self.size, self.line)


def dims(run, n, m, *, blocks: int):
    """``cluster_dims(blocks)()``: the launch has seen to it."""


def give_registers(run, n, m, count):
    """``setmaxnreg_dec(count)``: what a thread no longer has, others may take."""
    checked(run, n, m, count)
    warp = here(run)
    warp.block.free += WARP * (warp.registers - count)
    warp.registers = count


def take_registers(run, n, m, count):
    """``setmaxnreg_inc(count)``: waits until the block has as many left (a generator)."""
    checked(run, n, m, count)
    warp = here(run)
    block, more = warp.block, WARP * (count - warp.registers)

    def missing() -> str:
        return (
            f"registers: setmaxnreg_inc({count}) wants {more} more for a warp and {block.free} are "
            f"free; the block of {WARP * len(block.warps)} threads has {block.all_registers}"
        )

    yield Wait(n.lineno, lambda: block.free >= more, missing)
    block.free -= more
    warp.registers = count


def checked(run, n, m, count) -> None:
    """Refuse a number of registers that no thread can have."""
    if count % 8 or not 24 <= count <= 256:
        raise KernelError(f"line {n.lineno}: {count} registers: use a multiple of 8, 24 to 256")
    together_by_groups(run, n, m)


def together_by_groups(run, n, m) -> None:
    """``setmaxnreg`` is for whole warpgroups."""
    if active(run, m).all():
        return
    warp = here(run)
    message = "setmaxnreg is called by all threads of a warpgroup, and some take another way"
    warp.block.cluster.problem(
        Kind.DIVERGENT_BARRIER, n.lineno, message, warp.block.number, warp.thread(0)
    )


def nothing(run, n, m):
    """What has no meaning for one launch alone."""


FUNCTIONS = {
    "cluster_ctarank": rank,
    "cluster_arrive": arrive,
    "mapa": mapa,
    "st_async_v4_f32": store_async,
    "cluster_dims": dims,
    "setmaxnreg_dec": give_registers,
    "griddepcontrol_wait": nothing,
    "griddepcontrol_launch_dependents": nothing,
}
WAITS = {"cluster_wait": wait, "cluster_sync": sync, "setmaxnreg_inc": take_registers}
