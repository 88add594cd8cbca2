"""The tracer: watches a kernel run, counts, and notes what is wrong."""

from __future__ import annotations

import ast
import math
from collections import Counter, defaultdict

import numpy as np

from .lanes import Lanes, Mask
from .memory import Buffer
from .races import WARP_LEVEL, ArrayRaces, LoggedAccess, Race, message
from .request_costs import Cost, global_cost, shared_cost
from .sites import LINE, SECTOR, WARP, ArraySeen, Kind, Problem, Request, Site
from .trace import Trace

CACHED_BYTES = 1 << 16  # address patterns up to this size are remembered
CACHE_ENTRIES = 8192
PENDING = 1 << 20  # elements counted at once


class HeatCounter:
    """Counts how often each element of a buffer is touched."""

    def __init__(self, size: int):
        self.counts = np.zeros(size, np.int64)
        self.pending: dict[int, list[np.ndarray]] = defaultdict(list)
        self.waiting = 0

    def add(self, elements, mask: Mask, lanes: Lanes) -> None:
        """Count one access of the active lanes."""
        elements = np.asarray(elements)
        if elements.ndim == 0:
            self.counts[int(elements)] += mask.n
            return
        if mask.array is None:
            self._later(elements.reshape(-1), lanes.count // elements.size)
            return
        shape = np.broadcast_shapes(elements.shape, mask.array.shape)
        spread = np.broadcast_to(elements, shape)[np.broadcast_to(mask.array, shape)]
        self._later(spread, lanes.count // math.prod(shape))

    def _later(self, elements: np.ndarray, weight: int) -> None:
        self.pending[weight].append(elements)
        self.waiting += elements.size
        if self.waiting > PENDING:
            self.flush()

    def flush(self) -> np.ndarray:
        """Bring the counts up to date and return them."""
        for weight, parts in self.pending.items():
            elements = np.concatenate(parts)
            if elements.size < self.counts.size // 8:  # few of many: leave the rest untouched
                touched, n = np.unique(elements, return_counts=True)
                self.counts[touched] += n * weight
            else:
                self.counts += (
                    np.bincount(elements.astype(np.intp), minlength=self.counts.size) * weight
                )
        self.pending.clear()
        self.waiting = 0
        return self.counts


class Tracer:
    """Collects a `Trace`.

    Parameters
    ----------
    trace : Trace
        Filled as the kernel runs.
    kernel : ast.FunctionDef
        Its tree, with the line numbers of the file.
    """

    def __init__(self, trace: Trace, kernel: ast.FunctionDef):
        self.trace = trace
        self.loops = [n for n in ast.walk(kernel) if isinstance(n, ast.For | ast.While)]
        self.sites: dict[tuple, Site] = {}
        self.problems: dict[tuple, Problem] = {}
        self.race_counts: dict[tuple, Counter] = defaultdict(Counter)
        self.flops: Counter[str] = Counter()
        self.flops_by_line: Counter[int] = Counter()
        self.special = 0
        self.barriers: Counter[int] = Counter()
        self.heat: dict[str, tuple[Buffer, HeatCounter, HeatCounter]] = {}
        self.races: dict[Buffer, ArrayRaces] = {}
        self.written: dict[
            Buffer, np.ndarray
        ] = {}  # of arrays that began blank: what holds a value
        self.costs: dict[tuple, tuple[Cost, int]] = {}
        self.fenced: set[int] = set()  # blocks that have written nothing since their last fence

    # -- arithmetic

    def count_flops(self, name: str, n: int, line: int) -> None:
        """Add floating-point operations, by the name of their type."""
        self.flops[name] += n
        self.flops_by_line[line] += n

    # -- memory

    def access(
        self, node, buffer: Buffer, op: str, elements, cells, mask: Mask, lanes: Lanes, width=1,
        ordered: bool = False,
    ):  # fmt: skip
        """Note an access of the active lanes.

        Parameters
        ----------
        node : ast.expr
            The expression in the source.
        buffer : Buffer
        op : {"load", "store", "atomic"}
        elements : lane value of int64
            Element numbers: in the allocation (global), in the block's array (shared).
        cells : lane value of int64
            Positions in ``buffer.flat``; a list of them for each element of several.
        width : int
            Neighbouring elements that go at once, of which `elements` are the first.
        ordered : bool
            Whether a store releases or a load acquires.
        """
        site = self._site(node, buffer, op, width)
        site.ordered = ordered
        space = buffer.space
        if space in ("local", "constant"):
            site.requests += self._active_warps(mask, lanes)
            site.lanes += mask.n
            return
        self._cost(site, buffer, elements, mask, lanes)
        for k in range(width):
            self._heat(buffer, op).add(elements + k, mask, lanes)
        if buffer in self.races:
            for some in cells if width > 1 else [cells]:
                for unit in self._units(buffer, some):
                    self.races[buffer].note(LoggedAccess(site, unit, mask, lanes))
        if self.fenced and space == "global" and op != "load":
            self._tell(op, mask, lanes)

    def box(self, node, buffer: Buffer, op: str, part: tuple[slice, ...] | None) -> None:
        """Note a box that the TMA unit copies from or to global memory.

        Parameters
        ----------
        node : ast.Call
        buffer : Buffer
            A matrix without gaps.
        op : {"load", "store"}
        part : tuple of slice, or None
            What of the matrix lies in the box; None if nothing does.
        """
        site = self._site(node, buffer, op, 1)
        site.unit = "TMA"
        site.requests += 1
        site.lanes += 1
        sectors = 0
        if part is not None:
            size = buffer.dtype.itemsize
            grid = np.ogrid[tuple(s if axis < len(part) - 1 else slice(s.start, s.start + 1)
                                  for axis, s in enumerate(part))]  # fmt: skip
            first = sum(k * step for k, step in zip(grid, buffer.strides, strict=True))
            first = (np.asarray(first) + buffer.origin) * size + buffer.base
            last = first + (part[-1].stop - part[-1].start) * size - 1
            sectors = int((last // SECTOR - first // SECTOR + 1).sum())
            site.lines += int((last // LINE - first // LINE + 1).sum())
            site.bytes_used += int((last - first + 1).sum())
            _as_declared(self._heat(buffer, op).counts, buffer)[part] += 1
        site.sectors += sectors
        site.histogram[sectors] = site.histogram.get(sectors, 0) + 1

    def fence(self, mask: Mask, lanes: Lanes) -> None:
        """`threadfence` by the active lanes: it speaks for their blocks."""
        self.fenced.update(_active_blocks(mask, lanes))

    def _tell(self, op: str, mask: Mask, lanes: Lanes) -> None:
        """A fenced block writes: an atomic tells other blocks what it did before the fence."""
        blocks = self.fenced.intersection(_active_blocks(mask, lanes))
        self.fenced -= blocks
        if blocks and op == "atomic":
            self._release(blocks)

    def release(self, mask: Mask, lanes: Lanes) -> None:
        """A store that releases, by the active lanes: it speaks for their blocks."""
        self._release(_active_blocks(mask, lanes))

    def _release(self, blocks) -> None:
        for races in self.races.values():
            if races.buffer.space == "global":
                races.release(np.array(sorted(blocks), np.int64))

    def watch(self, buffer: Buffer, warps_per_block: int) -> None:
        """Look for races in a buffer from now on, and for reads of what nobody wrote if shared."""
        self.races[buffer] = ArrayRaces(buffer, warps_per_block, self._race)
        if buffer.space == "shared":
            self.written[buffer] = np.zeros(buffer.flat.size, bool)

    def watch_together(self, views: list[Buffer], warps_per_block: int) -> None:
        """Look for races between views of one memory, in pieces of the smallest of their types.

        What was written under one type is read under another: nothing there was never written.
        """
        finest = min(views, key=lambda view: view.dtype.itemsize)
        races = ArrayRaces(finest, warps_per_block, self._race)
        for one in {id(self.races[v]): self.races[v] for v in views if v in self.races}.values():
            races.take(one)
        for view in views:
            self.races[view] = races
            self.written.pop(view, None)

    def _units(self, buffer: Buffer, cells) -> list:
        """Where elements lie in the table of races, which may be one of smaller elements."""
        size, unit = buffer.dtype.itemsize, self.races[buffer].buffer.dtype.itemsize
        if size == unit:
            return [cells]
        return [cells * size // unit + k for k in range(-(-size // unit))]

    def watch_blank(self, buffer: Buffer) -> None:
        """Look for reads of what nobody wrote, in an array that nobody has written yet."""
        self.written[buffer] = np.zeros(buffer.flat.size, bool)

    def unwatch_shared(self) -> None:
        """The blocks that ran have ended, and their shared and local memory with them."""
        for buffer in [b for b in self.races if b.space == "shared"]:
            self.races.pop(buffer).finish()
        self.written = {b: w for b, w in self.written.items() if b.space == "global"}

    def _site(self, node, buffer: Buffer, op: str, width: int) -> Site:
        key = (node, op, buffer.name, buffer.space, width)
        site = self.sites.get(key)
        if site is None:
            site = self.sites[key] = Site(
                node.lineno,
                node.col_offset,
                ast.unparse(node),
                buffer.name or "array",
                buffer.space,
                op,
                buffer.dtype.itemsize * width,
            )
        return site

    def _cost(self, site: Site, buffer: Buffer, elements, mask: Mask, lanes: Lanes) -> None:
        itemsize, shared = site.itemsize, buffer.space == "shared"
        addresses = np.asarray(elements, np.int64) * buffer.pitch + buffer.base
        if addresses.ndim == 0:
            addresses = addresses.reshape(1, 1, 1, 1)
        if site.example is None:
            site.example = self._example(site, addresses, mask, lanes)
        # Costs depend on addresses only up to a shift: by a line, by a bank in shared memory.
        unit = 4 if shared else LINE
        addresses = addresses - int(addresses.min()) // unit * unit
        key = None
        if addresses.nbytes <= CACHED_BYTES:
            key = (shared, itemsize, lanes.shape, addresses.shape, addresses.tobytes(), mask.key)
        entry = self.costs.get(key) if key is not None else None
        if entry is None:
            entry = self._count(addresses, mask, lanes, itemsize, shared)
            if key is not None:
                if len(self.costs) >= CACHE_ENTRIES:
                    self.costs.clear()
                self.costs[key] = entry
        cost, times = entry
        site.lanes += mask.n
        site.requests += cost.requests * times
        site.sectors += cost.sectors * times
        site.lines += cost.lines * times
        site.wavefronts += cost.wavefronts * times
        site.conflicts += cost.conflicts * times
        site.bytes_used += cost.bytes_used * times
        for passes, n in cost.histogram:
            site.histogram[passes] = site.histogram.get(passes, 0) + n * times

    @staticmethod
    def _count(addresses, mask: Mask, lanes: Lanes, itemsize: int, shared: bool):
        active, times = None, lanes.blocks
        if mask.array is not None:
            addresses, active = _same_lead(addresses, mask.array)
            active = lanes.rows(active, False).reshape(-1, WARP)
        elif lanes.per_block % WARP:
            active = lanes.rows(np.ones((1, 1, 1, 1), bool), False)
            active = np.tile(active, (addresses.shape[0], 1, 1)).reshape(-1, WARP)
        if addresses.shape[0] > 1:
            times = 1
        rows = lanes.rows(addresses, 0).reshape(-1, WARP)
        return (shared_cost if shared else global_cost)(rows, active, itemsize), times

    @staticmethod
    def _example(site: Site, addresses, mask: Mask, lanes: Lanes) -> Request:
        on = np.ones((1, 1, 1, 1), bool) if mask.array is None else mask.array
        active = lanes.rows(lanes.full(on), False)
        block, warp = np.unravel_index(int(active.any(axis=2).argmax()), active.shape[:2])
        rows = lanes.rows(addresses, 0)
        return Request(
            rows[block if rows.shape[0] > 1 else 0, warp].copy(),
            active[block, warp].copy(),
            lanes.block_at(block),
            int(warp) if lanes.warp is None else lanes.warp,
            site.itemsize,
            site.space,
        )

    @staticmethod
    def _active_warps(mask: Mask, lanes: Lanes) -> int:
        if mask.array is None:
            return lanes.blocks * -(-lanes.per_block // WARP)
        rows = lanes.rows(mask.array, False)
        return int(rows.any(axis=2).sum()) * (lanes.blocks // rows.shape[0])

    def _heat(self, buffer: Buffer, op: str) -> HeatCounter:
        entry = self.heat.get(buffer.name)
        if entry is None or entry[0].size != buffer.size:
            counters = HeatCounter(buffer.size), HeatCounter(buffer.size)
            entry = self.heat[buffer.name] = (buffer, *counters)
        return entry[1] if op == "load" else entry[2]

    # -- problems

    def problem(self, key: tuple, problem: Problem, count: int) -> None:
        """Add a problem, or count it to the one already found under the same key."""
        known = self.problems.get(key)
        if known is None:
            problem.count = count
            self.problems[key] = problem
        else:
            known.count += count

    def _race(self, buffer: Buffer, race: Race) -> None:
        """Turn a race into a problem; of several levels the pair farthest apart is shown."""
        first, second = race.first, race.second
        if first.op == "load":
            kind = Kind.WRITE_AFTER_READ
        else:
            kind = Kind.READ_AFTER_WRITE if second.op == "load" else Kind.WRITE_AFTER_WRITE
        key = (kind, buffer.name, first, second)
        counts = self.race_counts[key]
        shown = max(counts, default=-1)
        counts[race.level] += race.elements
        if race.level < shown:
            return
        problem = self._describe(buffer, race, kind)
        problem.count = counts[race.level]
        if race.level == shown:
            self.problems[key].count = problem.count
        else:
            self.problems[key] = problem

    def _describe(self, buffer: Buffer, race: Race, kind: str) -> Problem:
        trace = self.trace
        padded = trace.warps_per_block * WARP
        places = []
        for number in (race.first_thread, race.second_thread):
            block, thread = divmod(number, padded)
            bx, by, _ = trace.block
            gx, gy, _ = trace.grid
            places.append(
                (
                    (block % gx, block // gx % gy, block // (gx * gy)),
                    (thread % bx, thread // bx % by, thread // (bx * by)),
                )
            )
        (block_a, thread_a), (block_b, thread_b) = places
        element = race.element % buffer.size if buffer.space == "shared" else race.element
        index = buffer.index_of(element)
        first, second = race.first, race.second
        what = f"{buffer.name}[{', '.join(map(str, index))}]"
        return Problem(
            kind,
            line=second.line,
            other_line=first.line,
            array=buffer.name,
            element=index,
            block=block_b,
            thread=thread_b,
            other_thread=thread_a,
            other_block=block_a,
            same_warp=race.level == WARP_LEVEL,
            message=message(race, what, places, self._loop_around(first.line, second.line)),
        )

    def _loop_around(self, *lines: int) -> int | None:
        """Where the innermost loop of the kernel begins that holds all these lines."""
        low, high = min(lines), max(lines)
        around = [n.lineno for n in self.loops if n.lineno <= low and high <= n.end_lineno]
        return max(around, default=None)

    # -- the end

    def finish(self) -> Trace:
        """Settle what is pending and fill in the trace."""
        self.unwatch_shared()
        for races in self.races.values():
            races.finish()
        trace, work = self.trace, self.trace.work
        trace.sites = sorted(self.sites.values(), key=lambda s: (s.line, s.column, s.op))
        trace.problems = list(self.problems.values())
        trace.barriers = dict(sorted(self.barriers.items()))
        work.flops = dict(self.flops)
        work.flops_by_line = dict(sorted(self.flops_by_line.items()))
        work.special = self.special
        for name, (buffer, loads, stores) in self.heat.items():
            views = [_as_declared(c.flush(), buffer) for c in (loads, stores)]
            trace.arrays[name] = ArraySeen(name, buffer.space, buffer.shape, buffer.dtype, *views)
            if buffer.space == "global":
                touched = sum(int(np.count_nonzero(v)) for v in views)
                work.bytes_unique += touched * buffer.dtype.itemsize
        counted = trace.count(space="global")
        work.bytes_requested, work.bytes_transferred = (
            counted["bytes_requested"],
            counted["bytes_transferred"],
        )
        return trace


def _active_blocks(mask: Mask, lanes: Lanes) -> list[int]:
    """Numbers of the blocks with an active lane."""
    numbers = lanes.block_number.reshape(-1)
    if mask.array is not None:
        numbers = numbers[lanes.full(mask.array).reshape(lanes.blocks, -1).any(axis=1)]
    return numbers.tolist()


def _same_lead(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both arrays with the same number of blocks in front."""
    lead = max(a.shape[0], b.shape[0])
    return tuple(np.broadcast_to(x, (lead, *x.shape[1:])) for x in (a, b))


def _as_declared(counts: np.ndarray, buffer: Buffer) -> np.ndarray:
    """Counts of a buffer's elements in the shape of the array."""
    if not counts.size:
        return np.zeros(buffer.shape, np.int64)
    steps = [s * counts.itemsize for s in buffer.strides]
    return np.lib.stride_tricks.as_strided(counts[buffer.origin :], buffer.shape, steps)
