"""Races: two threads at one element, at least one of them writing, and nothing between them.

Accesses are only logged while a kernel runs. At a barrier the log of an array is boiled down to
two numbers for each source expression and element, the lowest and the highest thread that touched
it, and pairs of expressions are compared as whole vectors. The two extremes suffice: if any two
threads differ, they do; if any two lie in different warps or blocks, so do they.

What orders two accesses depends on how far apart the threads are: threads of one warp are ordered
by `syncwarp` and `syncthreads`, threads of one block by `syncthreads`, threads of different blocks
by nothing but the end of the kernel. Hence three tables an array, cleared at different times. (One
more way there is: a block writes, and tells the others by an atomic behind `threadfence`, or by a
store that releases. See `ArrayRaces.release`.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .lanes import Lanes, Mask
from .memory import Buffer
from .sites import WARP, Site

WARP_LEVEL, BLOCK_LEVEL, GRID_LEVEL = range(3)
LOG_LIMIT = 1 << 22  # lanes logged before the log is boiled down
REMEMBERED = (
    16  # accesses between two barriers that are compared with those of the iteration before
)


class Race(NamedTuple):
    """Two sites that touch the same elements, with one pair of threads."""

    first: Site
    second: Site
    level: int
    elements: int
    element: int
    first_thread: int
    second_thread: int


class LoggedAccess(NamedTuple):
    """One access of many lanes."""

    site: Site
    cells: object
    mask: Mask
    lanes: Lanes


def _alike(a: LoggedAccess, b: LoggedAccess) -> bool:
    """Say whether two accesses are the same lanes' to the same cells."""
    return (
        a.site is b.site
        and a.lanes is b.lanes
        and np.array_equal(a.cells, b.cells)
        and (a.mask.array is b.mask.array or _equal(a.mask.array, b.mask.array))
    )


def _equal(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    return a is not None and b is not None and np.array_equal(a, b)


def _fitted(v: np.ndarray, size: int) -> np.ndarray:
    """The first so many numbers, zeros behind the last."""
    return np.pad(v[:size], (0, max(0, size - v.size)))


# For each site two arrays over the cells, both 0 where nobody was: the lowest thread, counted down
# from `TOP`, and the highest, counted up from 1. Zeros cost no memory until they are written.
Table = dict[Site, tuple[np.ndarray, np.ndarray]]
TOP = 1 << 62


class ArrayRaces:
    """The accesses to one buffer that no barrier has yet ordered.

    Parameters
    ----------
    buffer : Buffer
    warps_per_block : int
    report : callable
        Called with each `Race` found.
    """

    def __init__(
        self, buffer: Buffer, warps_per_block: int, report: Callable[[Buffer, Race], None]
    ):
        self.buffer, self.report = buffer, report
        self.threads = warps_per_block * WARP
        self.log: list[LoggedAccess] = []
        self.logged = 0
        self.tables: tuple[Table, Table, Table] = ({}, {}, {})
        self.found = 0
        self.clean: list[list[LoggedAccess]] = []  # between two barriers, lately

    def note(self, access: LoggedAccess) -> None:
        """Log an access."""
        self.log.append(access)
        self.logged += access.mask.n
        if self.logged > LOG_LIMIT:
            self._absorb()

    def take(self, other: ArrayRaces) -> None:
        """Go on with what is pending in a view of the same memory, of elements no smaller."""
        size = self.buffer.flat.size
        times = other.buffer.dtype.itemsize // self.buffer.dtype.itemsize
        for site, cells, mask, lanes in other.log:
            for k in range(times):
                self.note(LoggedAccess(site, cells * times + k, mask, lanes))
        for mine, theirs in zip(self.tables, other.tables, strict=True):
            for site, extremes in theirs.items():
                low, high = (_fitted(np.repeat(e, times), size) for e in extremes)
                mine[site] = low, high

    def sync_warps(self, threads: np.ndarray | None) -> None:
        """`syncwarp` by these threads (numbers over the grid), or by all."""
        self._absorb()
        self._find_races(WARP_LEVEL)
        self._forget(self.tables[WARP_LEVEL], threads, 1)

    def sync_blocks(self, blocks: np.ndarray | None) -> None:
        """`syncthreads` in these blocks (numbers over the grid), or in all."""
        whole = blocks is None and self.buffer.space == "shared"
        if whole and (not self._written() or self._repeats()):
            self.log.clear()
            self.logged = 0
            for table in self.tables:
                table.clear()
            return
        found, log = self.found, list(self.log)
        alone = whole and len(log) <= REMEMBERED and not any(self.tables)
        self._absorb()
        self._find_races(WARP_LEVEL)
        self._find_races(BLOCK_LEVEL)
        self._forget(self.tables[WARP_LEVEL], blocks, self.threads)
        self._forget(self.tables[BLOCK_LEVEL], blocks, self.threads)
        if alone and found == self.found:
            self.clean = [log, *self.clean[:1]]

    def sync_grid(self) -> None:
        """All threads of the grid wait for each other."""
        self.sync_blocks(None)
        self._find_races(GRID_LEVEL)
        self.tables[GRID_LEVEL].clear()

    def release(self, blocks: np.ndarray) -> None:
        """These blocks have told the others: what they did comes before what others do from now on.

        Others must have read what was told to know; that they have is taken for granted.
        """
        self._absorb()
        self._find_races(GRID_LEVEL)
        self._forget(self.tables[GRID_LEVEL], blocks, self.threads)

    def finish(self) -> None:
        """The kernel has ended."""
        self.sync_grid()

    def _written(self) -> bool:
        """Say whether anything but loads is pending."""
        pending = [a.site for a in self.log] + [s for t in self.tables for s in t]
        return any(s.op != "load" for s in pending)

    def _repeats(self) -> bool:
        """Say whether all that is pending has been compared before, in an earlier iteration."""
        return not any(self.tables) and any(
            len(log) == len(self.log) and all(map(_alike, log, self.log)) for log in self.clean
        )

    def _absorb(self) -> None:
        """Boil the log down into the tables of warps and, for global memory, of the grid."""
        levels = (WARP_LEVEL,) if self.buffer.space == "shared" else (WARP_LEVEL, GRID_LEVEL)
        for site, cells, mask, lanes in self.log:
            number = lanes.block_number.reshape(-1, 1, 1, 1) * self.threads + lanes.thread
            cells, number = lanes.full(cells), lanes.full(number)
            if mask.array is None:
                cells, number = cells.reshape(-1), number.reshape(-1)
            else:
                active = lanes.full(mask.array)
                cells, number = cells[active], number[active]
            for level in levels:
                low, high = self._extremes(level, site)
                # Threads ascend, and of equal cells the last assignment stays: the highest thread
                # going forward, the lowest going backward.
                high[cells] = np.maximum(high[cells], number + 1)
                low[cells[::-1]] = np.maximum(low[cells], TOP - number)[::-1]
        self.log.clear()
        self.logged = 0

    def _extremes(self, level: int, site: Site) -> tuple[np.ndarray, np.ndarray]:
        """The lowest and the highest thread of a site at each cell, in the table of a level."""
        table = self.tables[level]
        if site not in table:
            n = self.buffer.flat.size
            table[site] = np.zeros(n, np.int64), np.zeros(n, np.int64)
        return table[site]

    def _find_races(self, level: int) -> None:
        """Look for races of one level; what warps did is then passed on to their blocks."""
        table = self.tables[level]
        sites = list(table)
        for i, first in enumerate(sites):
            for second in sites[i:]:
                loads = first.op == second.op == "load"
                if not loads and not (first.tells and second.tells):
                    self._compare(first, second, level)
        if level != WARP_LEVEL:
            return
        for site, extremes in table.items():
            touched = np.nonzero(extremes[1])[0]
            merged = self._extremes(BLOCK_LEVEL, site)
            for into, e in zip(merged, extremes, strict=True):
                into[touched] = np.maximum(into[touched], e[touched])

    def _compare(self, first: Site, second: Site, level: int) -> None:
        table = self.tables[level]
        (low_a, high_a), (low_b, high_b) = table[first], table[second]
        cells = np.nonzero((high_a > 0) & (high_b > 0))[0]
        if not cells.size:
            return
        pairs = (
            (TOP - low_a[cells], high_b[cells] - 1),
            (high_a[cells] - 1, TOP - low_b[cells]),
        )
        hits = [self._apart(a, b, level) for a, b in pairs]
        either = hits[0] | hits[1]
        if not either.any():
            return
        self.found += 1
        k = int(np.argmax(either))
        a, b = pairs[0] if hits[0][k] else pairs[1]
        n = int(np.count_nonzero(either))
        self.report(self.buffer, Race(first, second, level, n, int(cells[k]), int(a[k]), int(b[k])))

    def _apart(self, a: np.ndarray, b: np.ndarray, level: int) -> np.ndarray:
        """Pairs of threads whose nearest common home is of this level."""
        if level == WARP_LEVEL:
            return (a != b) & (a // WARP == b // WARP)
        same_block = a // self.threads == b // self.threads
        if level == GRID_LEVEL:
            return ~same_block
        return same_block & (a // WARP != b // WARP)

    @staticmethod
    def _forget(table: Table, groups: np.ndarray | None, size: int) -> None:
        """Drop what these groups of `size` threads did."""
        if groups is None:
            table.clear()
            return
        for low, high in table.values():
            touched = np.nonzero(high)[0]
            lowest, highest = TOP - low[touched], high[touched] - 1
            low_done, high_done = (np.isin(x // size, groups) for x in (lowest, highest))
            both = touched[low_done & high_done]
            low[both] = high[both] = 0
            for done, into, stays in (
                (low_done & ~high_done, low, TOP - highest),
                (high_done & ~low_done, high, lowest + 1),
            ):
                into[touched[done]] = stays[done]


def message(race: Race, what: str, places: list[tuple], loop: int | None) -> str:
    """What a learner reads of a race: who does what where, and what would order them.

    Parameters
    ----------
    race : Race
    what : str
        The element, such as ``"sA[3, 5]"``.
    places : list of tuple
        Of both threads the block and the thread in it.
    loop : int or None
        The line of the innermost loop that holds both accesses.
    """
    (block_a, thread_a), (block_b, thread_b) = places
    first, second = race.first, race.second
    if race.level == GRID_LEVEL:
        who = (
            f"thread {thread_a} of block {block_a} {_verb(first)} {what} at line {first.line} "
            f"and thread {thread_b} of block {block_b} {_verb(second)} it at line {second.line}"
        )
        advice = (
            "blocks run in any order and nothing orders them inside one kernel: "
            "let each block write its own elements, use cuda.atomic, or split the kernel in two"
        )
    else:
        who = (
            f"thread {thread_a} {_verb(first)} {what} at line {first.line} and thread "
            f"{thread_b} of the same {'warp' if race.level == WARP_LEVEL else 'block'} "
            f"{_verb(second)} it at line {second.line}"
        )
        back = second.line < first.line and loop is not None
        end = "at the end of that loop's body"
        if back:
            who += f", in the next iteration of the loop at line {loop}"
        if first is second:
            advice = "give each thread its own element, or use cuda.atomic"
        elif race.level == WARP_LEVEL:
            between = end if back else "between"
            advice = f"nothing orders them: put cuda.syncwarp() or cuda.syncthreads() {between}"
        else:
            between = end if back else "between the two"
            advice = f"no barrier lies between: put cuda.syncthreads() {between}"
    return f"{who}; {advice}"


def _verb(site: Site) -> str:
    return {"load": "reads", "store": "writes", "atomic": "updates atomically"}[site.op]
