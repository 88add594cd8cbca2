"""Who knows what has happened: vector clocks, and the last accesses of every shared word.

An *actor* does things one after the other: a warp, the queue of a warpgroup's products, the copies
of a warp, and every mbarrier, whose steps are its phases. A clock counts the steps of each actor
that its owner knows to be over. Whatever synchronises hands clocks on; two accesses of one word, of
which one writes, must lie in the clock of whoever comes second.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

WORD = 4  # bytes that are told apart


@dataclass(eq=False)
class ClockedAccess:
    """An access, for messages.

    Attributes
    ----------
    what : str
        What it is, such as "the copy".
    line : int
    block, thread : tuple of int
        Who asked for it.
    asynchronous : bool
        Whether it goes through the asynchronous proxy: a TMA copy, or wgmma.
    swizzle : int or None
        Bytes of the pattern in which a TMA copy lays its rows.
    barrier : object
        The `barriers.Mbarrier` that says when it is over.
    phase : int or None
        Which of its phases says so.
    reads : bool
        Whether it only reads.
    """

    what: str
    line: int
    block: tuple
    thread: tuple
    asynchronous: bool = False
    swizzle: int | None = None
    barrier: object = None
    phase: int | None = None
    reads: bool = False


@dataclass
class Clash:
    """Two accesses that nothing orders, or only a fence is missing between them.

    Attributes
    ----------
    first : Event or None
        The one that came first; None if nobody has written what is read.
    word : int
        Where.
    count : int
        Words concerned.
    unfenced : bool
        Whether they are ordered, and the asynchronous proxy still may not see the first.
    """

    first: ClockedAccess | None
    word: int
    count: int
    unfenced: bool = False


class Words:
    """The last accesses of every word of a block's shared memory.

    Parameters
    ----------
    size : int
        Bytes.
    actors : int
        How many there can be.
    """

    def __init__(self, size: int, actors: int):
        n = -(-size // WORD)
        self.n = n
        self.writer, self.written = np.zeros(n, np.int32), np.zeros(n, np.int64)
        self.write_events = np.zeros(n, np.int32)
        self.readers: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self.generic: set[int] = set()  # readers that are no asynchronous unit
        self.events: list[ClockedAccess] = []
        self.numbers: dict[int, int] = {}

    def number(self, event: ClockedAccess) -> int:
        """The place of an event in `events`."""
        known = self.numbers.get(id(event))
        if known is None:
            known = self.numbers[id(event)] = len(self.events)
            self.events.append(event)
        return known

    def read(
        self, where, clock, fenced, actor: int, step: int, event: ClockedAccess
    ) -> Clash | None:
        """Note that words are read; the first clash with who wrote them.

        Parameters
        ----------
        where : slice or ndarray of int
            Words.
        clock, fenced : ndarray of int64
            What the reader knows, and what of it lies behind a proxy fence.
        actor, step : int
            When the read is over.
        event : Event
        """
        clash = self._after_writes(where, clock, fenced, event, reading=True)
        if actor not in self.readers:
            self.readers[actor] = np.zeros(self.n, np.int64), np.zeros(self.n, np.int32)
            if not event.asynchronous:
                self.generic.add(actor)
        steps, events = self.readers[actor]
        steps[where], events[where] = step, self.number(event)
        return clash

    def write(
        self, where, clock, fenced, actor: int, step: int, event: ClockedAccess
    ) -> Clash | None:
        """Note that words are written; the first clash with who wrote or read them before."""
        clash = None
        for reader, (steps, events) in self.readers.items():
            late = steps[where] > clock[reader]
            if reader != actor and late.any():
                k = int(np.argmax(late))
                clash = Clash(self.events[events[where][k]], self._word(where, k), int(late.sum()))
                break
        if clash is None:
            clash = self._after_writes(where, clock, fenced, event)
        if clash is None and event.asynchronous:
            clash = self._after_generic_reads(where, fenced)
        self.writer[where], self.written[where] = actor, step
        self.write_events[where] = self.number(event)
        return clash

    def _after_generic_reads(self, where, fenced) -> Clash | None:
        """Ordinary reads that come before a copy, with no proxy fence between."""
        for reader in self.generic:
            steps, events = self.readers[reader]
            unseen = steps[where] > fenced[reader]
            if unseen.any():
                k = int(np.argmax(unseen))
                first = self.events[events[where][k]]
                return Clash(first, self._word(where, k), int(unseen.sum()), unfenced=True)
        return None

    def _after_writes(
        self, where, clock, fenced, event: ClockedAccess, reading=False
    ) -> Clash | None:
        steps, writers = self.written[where], self.writer[where]
        late = steps > clock[writers]
        if late.any():
            k = int(np.argmax(late))
            first = self.events[self.write_events[where][k]]
            if first is event:
                return None
            return Clash(first, self._word(where, k), int(late.sum()))
        if event.asynchronous:
            unseen = (steps > fenced[writers]) & (steps > 0)
            for number in np.unique(self.write_events[where][unseen]) if unseen.any() else ():
                first = self.events[number]
                if not first.asynchronous:
                    k = int(np.argmax(unseen & (self.write_events[where] == number)))
                    return Clash(first, self._word(where, k), int(unseen.sum()), unfenced=True)
        if reading and (steps == 0).any():
            blank = steps == 0
            return Clash(None, self._word(where, int(np.argmax(blank))), int(blank.sum()))
        return None

    @staticmethod
    def _word(where, k: int) -> int:
        return int(where.start + k if isinstance(where, slice) else where[k])


def words_of(addresses: np.ndarray, size: int) -> np.ndarray:
    """The words of pieces of `size` bytes at some addresses."""
    first = np.asarray(addresses, np.int64) // WORD
    if size <= WORD:
        return np.unique(first)
    return (first[:, None] + np.arange(size // WORD)).reshape(-1)
