"""Barriers: mbarriers, which count arrivals and bytes, and named barriers of some warps."""

from __future__ import annotations

import ast

import numpy as np

from ..sites import WARP, Kind
from .blocks import Block, Wait, Warp, chosen, first_lane, here

WORD = 8  # bytes of an mbarrier
MOST_ARRIVALS = (1 << 20) - 1


class Mbarrier:
    """A barrier in shared memory.

    Attributes
    ----------
    count, pending : int
        Arrivals that end a phase, and those still to come in this one.
    bytes : int
        Announced and not delivered; below zero if more came than was announced.
    phase : int
        How many have ended.
    flying : list
        Copies that were asked for in this phase and have not arrived.
    passed : dict
        Line, parity and phase of a warp's last wait, whether it was for a phase that this warp
        knew to be over, and whether it was a first round's; by the warp's number.
    meant : dict
        Parity that a warp last asked for, and the phase that it means: 0 or the one before if it
        comes for the first time, then one more with each other parity; by the warp's number.
    came : list of dict
        Lines of the arrivals by (block, warp), for each phase.
    crowd : tuple of int or None
        Line and arrivals of an instruction that brought more than a phase takes.
    """

    def __init__(self, block: Block, address: int, count: int, warp: Warp, n):
        self.block, self.address, self.count, self.pending = block, address, count, count
        self.bytes, self.phase, self.line = 0, 0, n.lineno
        self.text = ast.unparse(n.args[0])
        self.actor = block.cluster.actor()
        self.maker, self.made = warp, int(warp.clock[warp.actor])
        self.shown = False  # to the asynchronous proxy, and to other blocks
        self.flying: list = []
        self.passed: dict[int, tuple[int, int, int, bool, bool]] = {}
        self.meant: dict[int, tuple[int, int]] = {}
        self.came: list[dict[tuple[int, int], int]] = [{}]
        self.crowd: tuple[int, int] | None = None
        self.released = [np.zeros(block.cluster.actors, np.int64) for _ in range(2)]
        self.over = [np.zeros(block.cluster.actors, np.int64) for _ in range(2)]

    @property
    def alike(self) -> list[Mbarrier]:
        """The block's mbarriers that were made at the same line."""
        return [bar for bar in self.block.barriers.values() if bar.line == self.line]

    @property
    def name(self) -> str:
        """What messages call it."""
        if len(self.alike) == 1:
            return f"mbarrier `{self.text}` (made at line {self.line})"
        several = self.text.partition(" + ")[0]  # of `full + 8 * slot`, where they begin
        several = several if several.isidentifier() else self.text
        return f"mbarrier {self.stage} of `{several}` (made at line {self.line})"

    @property
    def stage(self) -> int:
        """Its number among the mbarriers that were made at the same line."""
        return sum(bar.address < self.address for bar in self.alike)

    @property
    def lacks(self) -> str:
        """What its phase still wants, with a verb."""
        wants, size = [], abs(self.bytes)
        what = "1 byte" if size == 1 else f"{size} bytes"
        if self.pending:
            wants.append(f"{self.pending} of {self.count} arrivals")
        if self.bytes > 0:
            wants.append(what)
        said = ["lacks " + " and ".join(wants)] if wants else []
        if self.bytes < 0:
            said.append(f"expects {what} fewer than came")
        return " and ".join(said) or "lacks nothing"

    def why(self, warp: int) -> str:
        """What may have kept a warp waiting, for a report: empty if nothing is known."""
        others = [bar.stage for bar in self.alike if bar.phase and bar is not self]
        line, bit, phase, idle, first = self.passed.get(warp, (0, 0, self.phase, False, False))
        if self.crowd:
            return f": line {self.crowd[0]} brings {self.crowd[1]} arrivals of a warp at once"
        meant = self.meant.get(warp, (0, self.phase))[1]
        if 0 <= meant <= self.phase - 2:
            return self.overrun(warp, meant)
        if phase < self.phase and not first:
            if idle:
                return f": line {line} asked for parity {bit} in phase {phase}, and didn't wait"
            return f": no wait here was for phase {phase} (parity {phase % 2})"
        if self.phase or self.pending < self.count or self.bytes or len(self.alike) == 1:
            return ""
        if not others:
            return ": nothing has arrived at any of these"
        number = "numbers" if len(others) > 1 else "number"
        return f": what came went to {number} " + ", ".join(map(str, sorted(others)))

    def overrun(self, warp: int, meant: int) -> str:
        """Say who ended phases that a warp, which still waits for phase `meant`, never saw."""
        over = self.came[meant : self.phase]
        last = f"{'and' if len(over) == 2 else 'to'} {self.phase - 1}"
        said = f": warp {warp} means phase {meant}, but phases {meant} {last} are over: "
        everyone = {who for phase in over for who in phase}
        always = [who for who in everyone if all(who in phase for phase in over)]
        if not always:
            names = " and ".join(f"warp {index}" for _, index in sorted(everyone))
            return f"{said}{names} end one each, so init it with more arrivals"
        rank, index = min(always)
        line = over[0][rank, index]
        said += f"warp {index} arrived in each (line {line}) without waiting for warp {warp}"
        for bar in self.block.barriers.values():
            line, bit, phase, idle, first = bar.passed.get(index, (0, 0, 0, False, True))
            if rank == self.block.rank and idle and not first and bar.stage == self.stage:
                said += f"; line {line} asked for parity {bit} in phase {phase}, and didn't wait"
        return said

    def first_round(self, warp: Warp) -> bool:
        """Whether a warp waits before it has arrived at this stage's other barriers."""
        who = warp.block.rank, warp.index
        others = [b for b in self.block.barriers.values() if b.line != self.line]
        others = [b for b in others if b.stage == self.stage]
        return bool(others) and not any(who in phase for b in others for phase in b.came)

    def acquire(self, clocks) -> None:
        """Take over the clocks that whoever arrives releases."""
        for own, other in zip(self.released, clocks, strict=True):
            np.maximum(own, other, out=own)

    def arrive(self, times: int, clocks, line: int, warp: Warp) -> None:
        """Count arrivals."""
        self.acquire(clocks)
        self.came[-1][warp.block.rank, warp.index] = line
        if times > self.count:
            self.crowd = line, times
        while times > 0:
            some = min(times, self.pending)
            self.pending -= some
            times -= some
            if not self.pending:
                if not self.end_phase(line) and times:
                    what = "an arrival" if times == 1 else f"{times} arrivals"
                    why = ""
                    if self.bytes > 0:
                        why = ", and its bytes are still on their way: wait first until they have "
                        why += "come and been used"
                    self.block.cluster.problem(
                        Kind.ARRIVALS, line,
                        f"{what} too many at {self.name}: phase {self.phase} takes {self.count}"
                        + why,
                        self.block.number,
                    )  # fmt: skip
                    return

    def deliver(self, size: int, line: int) -> None:
        """Count bytes."""
        self.bytes -= size
        self.end_phase(line)

    def end_phase(self, line: int) -> bool:
        """End the phase if nothing is lacking."""
        if self.pending or self.bytes:
            return False
        for operation in self.flying:
            self.block.cluster.problem(
                Kind.BYTES, operation.line,
                f"phase {self.phase} of {self.name} ends while the copy of line {operation.line} "
                f"({operation.size} bytes) is on its way: announce the bytes of all copies in "
                "mbarrier_arrive_expect_tx",
                self.block.number, operation.event.thread, other_line=self.line,
                stage=self.stage, step=self.phase,
            )  # fmt: skip
        self.flying.clear()
        self.block.cluster.note("phase", self.block, line, barrier=self.address, number=self.phase)
        self.phase += 1
        self.came.append({})
        self.pending = self.count
        self.over = [c.copy() for c in self.released]
        self.over[0][self.actor] = self.released[0][self.actor] = self.phase
        return True


def at(run, n, address: int, warp: Warp, block: Block | None = None) -> Mbarrier | None:
    """The mbarrier at an address; None, and a problem, if there is none."""
    block = block or warp.block
    bar = block.barriers.get(int(address))
    cluster = block.cluster
    thread = warp.thread(0)
    if bar is None:
        message = (
            f"{ast.unparse(n)}: no mbarrier has been made at shared address {int(address)} of "
            f"block {block.number}: call mbarrier_init there, then a barrier of all threads"
        )
        cluster.problem(Kind.NO_BARRIER, n.lineno, message, block.number, thread)
        return None
    if warp.clock[bar.maker.actor] < bar.made and warp is not bar.maker:
        message = (
            f"{ast.unparse(n)} of thread {thread} uses {bar.name} without having waited until it "
            "is made: put cuda.syncthreads() behind mbarrier_init"
        )
        cluster.problem(
            Kind.NO_BARRIER, n.lineno, message, block.number, thread, other_line=bar.line
        )
    return bar


def init(run, n, m, address, count):
    """``mbarrier_init(bar, count)``."""
    warp = here(run)
    block = warp.block
    for where, wanted in zip(*chosen(run, m, address, count), strict=True):
        where, wanted = int(where), int(wanted)
        if where % WORD or not block.has(where, WORD):
            message = (
                f"an mbarrier at shared address {where}: it takes 8 bytes of the block's own on an "
                "8-byte boundary"
            )
            block.cluster.problem(Kind.MISALIGNED, n.lineno, message, block.number)
            continue
        if not 1 <= wanted <= MOST_ARRIVALS:
            message = f"an mbarrier of {wanted} arrivals: it takes 1 to {MOST_ARRIVALS}"
            block.cluster.problem(Kind.ARRIVALS, n.lineno, message, block.number)
            continue
        block.barriers[where] = Mbarrier(block, where, wanted, warp, n)
        if block.cluster.timeline is not None:
            block.cluster.timeline.barriers[block.rank, where] = ast.unparse(n.args[0])


def show(run, n, m):
    """``fence_mbarrier_init()``: the barriers that this warp made are known to all."""
    warp = here(run)
    for bar in warp.block.barriers.values():
        bar.shown |= bar.maker is warp


def proxy_fence(run, n, m):
    """``fence_proxy_async()``: what this warp knows of, the asynchronous proxy may see."""
    warp = here(run)
    np.maximum(warp.fenced, warp.clock, out=warp.fenced)
    show(run, n, m)


def arrive(run, n, m, address, size=None):
    """``mbarrier_arrive(bar)``, and with bytes to come ``mbarrier_arrive_expect_tx``."""
    warp = here(run)
    clocks = warp.release()
    addresses, sizes = chosen(run, m, address, np.uint32(0) if size is None else size)
    for where in np.unique(addresses):
        bar = at(run, n, where, warp)
        if bar is not None:
            bar.bytes += int(sizes[addresses == where].astype(np.int64).sum())
            warp.block.cluster.note("arrive", warp.block, n.lineno, warp.index, bar.address)
            bar.arrive(int((addresses == where).sum()), clocks, n.lineno, warp)


def arrive_cluster(run, n, m, address, rank):
    """``mbarrier_arrive_cluster(bar, rank)``."""
    warp = here(run)
    cluster, step = warp.block.cluster, int(warp.clock[warp.actor])
    clocks = warp.release()
    for where, other in zip(*chosen(run, m, address, rank), strict=True):
        block = peer(warp, int(other), n)
        if block is None:
            continue
        thread = warp.thread(first_lane(run, m))
        if block.left:
            message = (
                f"{ast.unparse(n)} of thread {thread} of block {warp.block.number} arrives at "
                f"block {block.number}, which has left: let all meet in cluster_sync() at the end"
            )
            cluster.problem(Kind.BLOCK_LEFT, n.lineno, message, block.number, thread)
        if block is not warp.block:
            block.arrivals.append((warp.actor, step, n.lineno, thread, warp.block.number))
        bar = at(run, n, where, warp, block)
        if bar is not None:
            cluster.note("arrive", block, n.lineno, warp.index, bar.address)
            bar.arrive(1, clocks, n.lineno, warp)


def peer(warp: Warp, rank: int, n) -> Block | None:
    """A block of the cluster by its rank."""
    blocks = warp.block.cluster.blocks
    if 0 <= rank < len(blocks):
        return blocks[rank]
    message = f"{ast.unparse(n)}: the cluster has {len(blocks)} blocks, so none of rank {rank}"
    warp.block.cluster.problem(Kind.BLOCK_LEFT, n.lineno, message, warp.block.number)
    return None


def wait_parity(run, n, m, address, parity):
    """``mbarrier_wait_parity(bar, parity)`` (a generator)."""
    warp = here(run)
    asked = zip(*chosen(run, m, address, parity), strict=True)
    pairs = sorted({(int(a), int(p) & 1) for a, p in asked})
    for where, bit in pairs:
        bar = at(run, n, where, warp)
        if bar is None:
            continue

        last, meant = bar.meant.get(warp.index, (1 - bit, -bit - 1))
        if bit == last:  # the same again: it says nothing about which phase it means
            meant = bar.phase - (bar.phase % 2 != bit) - 1
        bar.meant[warp.index] = bit, meant + 1

        def missing(bar=bar, bit=bit) -> str:
            return f"the end of phase {bar.phase} (parity {bit}) of {bar.name}, which {bar.lacks}"

        yield Wait(
            n.lineno, lambda bar=bar, bit=bit: bar.phase % 2 != bit, missing, bar.address,
            lambda bar=bar: bar.why(warp.index),
        )  # fmt: skip
        before = bar.passed.get(warp.index, (0, 0, 0, False, False))
        idle = before[2] == bar.phase
        first = idle and not bar.phase and bar.first_round(warp)
        bar.passed[warp.index] = n.lineno, bit, bar.phase, idle, first
        warp.acquire(*bar.over)


# -- named barriers


class Named:
    """A barrier of some warps of a block: ``bar.sync`` and ``bar.arrive``."""

    def __init__(self, threads: int, actors: int):
        self.threads, self.present, self.round = threads, 0, 0
        self.released = [np.zeros(actors, np.int64) for _ in range(2)]
        self.over = [np.zeros(actors, np.int64) for _ in range(2)]


def _come(run, n, m, place, threads) -> tuple[Named, int]:
    """Count a warp in; the barrier, and the round that it belongs to."""
    warp = here(run)
    block = warp.block
    place, threads = int(chosen(run, m, place)[0][0]), int(chosen(run, m, threads)[0][0])
    if not 0 <= place <= 15 or threads % WARP or threads < WARP:
        message = f"{ast.unparse(n)}: barriers are numbered 0 to 15 and take whole warps"
        block.cluster.problem(Kind.ARRIVALS, n.lineno, message, block.number)
    bar = block.named.get(place)
    if bar is None or not bar.present:
        bar = block.named.setdefault(place, Named(threads, block.cluster.actors))
        bar.threads = threads
    elif bar.threads != threads:
        message = (
            f"{ast.unparse(n)}: {threads} threads here, and {bar.threads} where others wait at "
            f"barrier {place}: name the same number"
        )
        block.cluster.problem(Kind.ARRIVALS, n.lineno, message, block.number)
    mine = bar.round
    for own, other in zip(bar.released, warp.release(), strict=True):
        np.maximum(own, other, out=own)
    bar.present += WARP
    if bar.present >= bar.threads:
        bar.present, bar.round = 0, bar.round + 1
        bar.over = [c.copy() for c in bar.released]
    return bar, mine


def named_arrive(run, n, m, place, threads):
    """``bar_arrive(number, threads)``."""
    _come(run, n, m, place, threads)


def named_sync(run, n, m, place, threads):
    """``bar_sync(number, threads)`` (a generator)."""
    bar, mine = _come(run, n, m, place, threads)

    def missing() -> str:
        number_ = int(chosen(run, m, place)[0][0])
        return f"named barrier {number_}, to which {bar.present} of {bar.threads} threads have come"

    yield Wait(n.lineno, lambda: bar.round > mine, missing)
    here(run).acquire(*bar.over)


FUNCTIONS = {
    "mbarrier_init": init,
    "fence_mbarrier_init": show,
    "fence_proxy_async": proxy_fence,
    "mbarrier_arrive": arrive,
    "mbarrier_arrive_expect_tx": arrive,
    "mbarrier_arrive_cluster": arrive_cluster,
    "bar_arrive": named_arrive,
}
WAITS = {"mbarrier_wait_parity": wait_parity, "bar_sync": named_sync}
