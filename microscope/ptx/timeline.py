"""What happened when, in the first cluster of a traced launch: copies, products, phases, waits.

Time goes by in ticks: in each, every warp that can goes on until it has to wait. They say what
comes before what, not how long it takes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

MOST_TICKS = 2000


@dataclass(frozen=True)
class Happening:
    """One thing that happened.

    Attributes
    ----------
    tick : int
    what : str
        "request" and "land" of a copy into shared memory; "store" and "read" of one out of it;
        "product" and "computed"; "over" when a warp has waited for a product; "arrive" at an
        mbarrier, and "phase" when one ends.
    block : int
        Its rank in the cluster.
    line : int
    warp : int or None
        Who did it.
    barrier : int or None
        Shared address of the mbarrier concerned.
    where : tuple of (int, int)
        Bytes of shared memory, as start and end of each stretch.
    number : int
        The same for all that happens to one copy or product; of a phase, which one it is.
    """

    tick: int
    what: str
    block: int
    line: int
    warp: int | None = None
    barrier: int | None = None
    where: tuple[tuple[int, int], ...] = ()
    number: int = -1


@dataclass(frozen=True)
class Stall:
    """What a warp waits for from a tick on; for nothing if `missing` is empty.

    Attributes
    ----------
    tick, block, warp, line : int
    missing : str
        In words.
    barrier : int or None
        Shared address of the mbarrier, if it is one.
    """

    tick: int
    block: int
    warp: int
    line: int
    missing: str
    barrier: int | None = None


@dataclass(eq=False)
class Timeline:
    """The first cluster of a launch, tick by tick.

    Attributes
    ----------
    ticks : int
        How many there were; recorded are the first 2000.
    happenings : list of Happening
    waits : list of Waiting
        In the order of time, one for each change.
    barriers : dict of (int, int) to str
        By block and shared address: how the kernel names an mbarrier where it makes it.
    ended : dict of (int, int) to int
        By block and warp: the tick in which it ended.
    """

    ticks: int = 0
    happenings: list[Happening] = field(default_factory=list)
    waits: list[Stall] = field(default_factory=list)
    barriers: dict[tuple[int, int], str] = field(default_factory=dict)
    ended: dict[tuple[int, int], int] = field(default_factory=dict)
    _numbers: dict = field(default_factory=dict, repr=False)
    _last: dict = field(default_factory=dict, repr=False)

    def note(self, what, block, line, warp=None, barrier=None, where=(), of=None, number=-1):
        """Record a `Happening`; `of` is the copy or product that it happens to."""
        if self.ticks > MOST_TICKS:
            return
        if of is not None:
            number = self._numbers.setdefault(of, len(self._numbers))
        self.happenings.append(
            Happening(self.ticks, what, block, line, warp, barrier, tuple(where), number)
        )

    def close(self) -> None:
        """Let go of the copies and products, and of the shared memory that they hold."""
        self._numbers.clear()
        self._last.clear()

    def wait(self, block: int, warp: int, line: int, missing: str, barrier=None) -> None:
        """Record what a warp waits for, if that has changed."""
        if self.ticks <= MOST_TICKS and self._last.get((block, warp), "") != missing:
            self._last[block, warp] = missing
            self.waits.append(Stall(self.ticks, block, warp, line, missing, barrier))
