"""Who runs when, in kernels whose warps wait for copies and for each other.

Every warp goes its own way until it has to wait. What has been asked for lands at the earliest
moment, at the latest (when nothing else can go on), or at one that chance decides.
"""

from __future__ import annotations

from ..errors import StopRun
from ..interpreter import Runner
from ..lanes import Lanes
from ..session import Barrier
from ..sites import Kind
from .blocks import KEY, Cluster, Wait
from .clusters import complete

LANDINGS = ("earliest", "latest", "mixed")


def run_cluster(launch, numbers, schedule: str, landing: str) -> None:
    """Run the blocks of one cluster to their end.

    Parameters
    ----------
    launch : Launch
    numbers : ndarray of int
        Block numbers of the cluster, in the order of their ranks.
    schedule : str
        Of warps: "lockstep" gives each a turn, "warps" and "warps-reversed" prefer the first or
        the last that can go on.
    landing : str
        One of `LANDINGS`.
    """
    indices = launch.indices(numbers)
    blocks = [tuple(int(v) for v in row) for row in indices]
    cluster = Cluster(launch, blocks, landing, int(numbers[0]))
    try:
        _Run(launch, cluster, indices, schedule).run()
    finally:
        if cluster.timeline is not None:
            cluster.timeline.close()


class _Run:
    """One cluster, as it runs."""

    def __init__(self, launch, cluster: Cluster, indices, schedule: str):
        self.launch, self.cluster, self.schedule = launch, cluster, schedule
        self.runners: list[Runner] = []
        for block, index in zip(cluster.blocks, indices, strict=True):
            shared = {KEY: block, "dynamic": block.dynamic}
            for w in range(launch.warps_per_block):
                lanes = Lanes(launch.block, index.reshape(1, 3), launch.grid, w)
                self.runners.append(Runner(launch, lanes, shared))
        self.waiting = {r: launch.start(r) for r in self.runners}
        self.requests: dict[Runner, object] = dict.fromkeys(self.runners)
        self.passed: dict[Runner, object] = {}

    def warp(self, r: Runner):
        return r.shared[KEY].warps[r.lanes.warp]

    def run(self) -> None:
        """Give turns until all warps have ended."""
        order = self.runners[::-1] if self.schedule == "warps-reversed" else self.runners
        by_turns = self.schedule == "lockstep"
        timeline = self.cluster.timeline
        while self.waiting:
            went = False
            if timeline is not None:
                timeline.ticks += 1
            for r in order:
                if r in self.waiting and self.may_go(r):
                    self.go(r)
                    went = True
                    if not by_turns:
                        break
            if timeline is not None:
                self.record(timeline)
            if went:
                if self.cluster.landing == "mixed":
                    self.cluster.some_land()
            elif self.cluster.flying:
                self.cluster.land(self.cluster.flying[0])
            else:
                self.deadlock()
        for operation in list(self.cluster.flying):
            self.cluster.land(operation)
        self.check_end()

    def record(self, timeline) -> None:
        """Note what every warp waits for at the end of a tick."""
        for r in self.runners:
            warp, request = self.warp(r), self.requests[r]
            missing, barrier = "", None
            if r not in self.waiting:
                timeline.ended.setdefault((warp.block.rank, warp.index), timeline.ticks)
            elif isinstance(request, Barrier):
                if r not in self.passed:
                    missing = "the barrier of all threads of the block"
            elif request is not None and not request.ready():
                missing, barrier = request.missing(), request.barrier
            timeline.wait(
                warp.block.rank, warp.index, request.line if missing else 0, missing, barrier
            )

    def may_go(self, r: Runner) -> bool:
        request = self.requests[r]
        if isinstance(request, Barrier):
            self.meet(r.shared[KEY])
            return r in self.passed
        return request is None or request.ready()

    def go(self, r: Runner) -> None:
        """One turn of a warp."""
        self.launch.turns += 1
        try:
            self.requests[r] = self.waiting[r].send(self.passed.pop(r, None))
        except StopIteration:
            del self.waiting[r]
            self.warp(r).ended = True
            block = r.shared[KEY]
            block.left = all(w.ended for w in block.warps)
            complete(self.cluster)

    def meet(self, block) -> None:
        """Let a block's warps pass ``syncthreads`` if all that run have come."""
        own = [r for r in self.runners if r.shared[KEY] is block]
        alive = [r for r in own if r in self.waiting]
        barriers = [self.requests[r] for r in alive]
        if any(r in self.passed or not isinstance(self.requests[r], Barrier) for r in alive):
            return
        self.launch.meet(barriers, [r for r in own if r not in self.waiting])
        released = [self.warp(r).release() for r in alive]
        for r, barrier in zip(alive, barriers, strict=True):
            for clocks in released:
                self.warp(r).acquire(*clocks)
            self.passed[r] = barrier.result

    # -- what is wrong at the end

    def deadlock(self) -> None:
        """Nothing can go on: say who waits for what."""
        reasons: dict[tuple, list] = {}
        for r in self.waiting:
            request = self.requests[r]
            if isinstance(request, Wait):
                missing = request.missing() + request.why()
            else:
                missing = "the barrier of all threads of the block, to which others don't come"
            key = (request.line, missing, r.shared[KEY].number)
            reasons.setdefault(key, []).append(r.lanes.warp)
        lines = [
            f"{_warps(warps)} of block {block} wait{'s' * (len(warps) == 1)} at line {line} for "
            + missing
            for (line, missing, block), warps in sorted(reasons.items())
        ]
        (line, _, block), warps = min(reasons.items())
        others = (other for other, *_ in sorted(reasons) if other != line)
        self.cluster.problem(
            Kind.DEADLOCK, line, "nothing can go on: " + "; ".join(lines), block,
            self.cluster.blocks[0].warps[warps[0]].thread(0), count=32 * len(self.waiting),
            other_line=next(others, None),
        )  # fmt: skip
        raise StopRun

    def check_end(self) -> None:
        """Look for what nobody has waited for when the blocks ended."""
        cluster = self.cluster
        if self.launch.tracer is None:
            return
        for block in cluster.blocks:
            clocks = [w.clock for w in block.warps]
            for actor, step, event in block.deliveries:
                if all(clock[actor] < step for clock in clocks):
                    cluster.problem(
                        Kind.BLOCK_LEFT, event.line,
                        f"block {block.number} ends while the copy of line {event.line} is on its "
                        f"way: nothing waits for phase {event.phase} of {event.barrier.name}",
                        block.number, event.thread,
                    )  # fmt: skip
            for actor, step, line, thread, sender in block.arrivals:
                if all(clock[actor] < step for clock in clocks):
                    cluster.problem(
                        Kind.BLOCK_LEFT, line,
                        f"thread {thread} of block {sender} arrives at block {block.number}, which "
                        "need not be there any more: let all meet in cluster_sync() at the end",
                        block.number, thread,
                    )  # fmt: skip
            for bar in block.barriers.values():
                if bar.bytes:
                    cluster.problem(
                        Kind.BYTES, bar.line,
                        f"{bar.name} ends in phase {bar.phase} and {bar.lacks}: announce as "
                        "many bytes as the copies bring",
                        block.number, bar.maker.thread(0),
                    )  # fmt: skip
            for warp in block.warps:
                self.check_queues(warp)

    def check_queues(self, warp) -> None:
        """Look for a warp's copies, stores and products that it has not waited for."""
        queue, block = warp.stores, warp.block
        for operation in [o for group in queue.groups[queue.waited :] for o in group] + queue.open:
            self.cluster.problem(
                Kind.BLOCK_LEFT, operation.line,
                f"block {block.number} ends while the bulk store of line {operation.line} may "
                "still read its shared memory: close the group with cp_async_bulk_commit_group() "
                "and call cp_async_bulk_wait_group_read(0) at the end",
                block.number, operation.event.thread,
            )  # fmt: skip
        if block.warpgroups:
            group, w = warp.warpgroup, warp.index % 4
            if group.products and group.issued[w] and group.waited[w] < group.committed[w]:
                self.unfinished(warp, group.products[-1].line, Kind.ACCUMULATORS)
            elif group.products and group.products[-1].group_number >= group.committed[w]:
                self.unfinished(warp, group.products[-1].line, Kind.COMMIT)

    def unfinished(self, warp, line: int, kind: str) -> None:
        what = "wgmma_wait_group" if kind == Kind.ACCUMULATORS else "wgmma_commit_group"
        self.cluster.problem(
            kind, line,
            f"thread {warp.thread(0)} of block {warp.block.number} ends with products of line "
            f"{line} unfinished: call {what}",
            warp.block.number, warp.thread(0),
        )  # fmt: skip


def _warps(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return f"warp {numbers[0]}"
    if numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"warps {numbers[0]} to {numbers[-1]}"
    return "warps " + ", ".join(map(str, numbers))
