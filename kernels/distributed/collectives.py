"""Programs of several ranks that meet in collectives: one function that every rank runs.

The function is ``async``. A rank that calls a collective *begins* it and goes on; where it awaits
the result, it waits for the others:

>>> async def total(gpu, x):
...     return await gpu.all_reduce(x)
>>> Simulated(2).run(total, [np.ones(2, np.float32), np.ones(2, np.float32)])[0]
array([2., 2.], dtype=float32)

`Simulated` carries collectives out with NumPy, anywhere; `nccl_ranks.Nccl` between the GPUs of this
machine. One process drives all ranks, so where NCCL would wait for ever, `Mismatch` says what each
rank waits for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["Collective", "Mismatch", "Rank", "Ranks", "Simulated"]


class Mismatch(RuntimeError):
    """Ranks do not meet: another collective, another shape, or one of them is not coming."""


@dataclass(eq=False)
class Collective:
    """A collective that one rank has begun; await it for its `result`.

    Attributes
    ----------
    kind : str
        The name of the method of `Rank` that began it.
    array : array
        What the rank brings.
    result : array
        Where what it gets will be, once `done`.
    ranks : int
        How many meet in it.
    to, source : int
        The ranks that an exchange sends to and receives from; the second is known once all met.
    mark : object
        What a stream waits for, on GPUs: the rank's array, and when it's done, its result.
    """

    kind: str
    array: Any
    result: Any
    ranks: int
    to: int = -1
    source: int = -1
    mark: Any = None
    done: bool = False
    awaited: bool = False

    def __await__(self) -> Generator[Collective, None, Any]:
        self.awaited = True
        yield self
        return self.result

    @property
    def nbytes(self) -> int:
        """Bytes of the whole array that the ranks share: the larger of what goes in and out."""
        return max(self.array.nbytes, self.result.nbytes)

    def __str__(self) -> str:
        return f"{self.kind} of {self.array.shape} in {self.array.dtype}"


@dataclass(eq=False)
class Rank:
    """What a rank's program sees: its number, how many there are, and where it meets the others.

    All methods begin a collective and return it; rows are along the first axis.
    """

    group: Ranks
    rank: int
    begun: list[Collective] = field(default_factory=list)

    @property
    def ranks(self) -> int:
        return self.group.ranks

    def all_reduce(self, x: Any) -> Collective:
        """Every rank gets the sum of all ranks' `x`."""
        return self._begin("all_reduce", x, x.shape)

    def reduce_scatter(self, x: Any) -> Collective:
        """Rank r gets the r-th part of the rows of the sum of all ranks' `x`."""
        return self._begin("reduce_scatter", x, (self._part(x, "reduce_scatter"), *x.shape[1:]))

    def all_gather(self, x: Any) -> Collective:
        """Every rank gets the rows of all ranks' `x`, rank 0's first."""
        return self._begin("all_gather", x, (self.ranks * len(x), *x.shape[1:]))

    def all_to_all(self, x: Any) -> Collective:
        """Rank r gets the r-th part of the rows of every rank's `x`, that of rank 0 first."""
        self._part(x, "all_to_all")
        return self._begin("all_to_all", x, x.shape)

    def exchange(self, x: Any, to: int) -> Collective:
        """Send `x` to a rank, and get what the rank that names this one sends."""
        return self._begin("exchange", x, x.shape, to % self.ranks)

    def _part(self, x: Any, kind: str) -> int:
        if len(x) % self.ranks:
            raise ValueError(
                f"{kind} cuts rows evenly, and {len(x)} rows are no multiple of {self.ranks} ranks:"
                " pad them"
            )
        return len(x) // self.ranks

    def _begin(self, kind: str, x: Any, shape: tuple[int, ...], to: int = -1) -> Collective:
        array = x if x.flags.c_contiguous else x.copy()
        call = Collective(kind, array, np.empty_like(array, shape=shape), self.ranks, to)
        call.mark = self.group.mark(self.rank)
        self.begun.append(call)
        return call


class Ranks(ABC):
    """A group of ranks, one GPU each.

    Attributes
    ----------
    ranks : int
    met : list of (str, int)
        Kind and bytes of every collective that was carried out, in order.
    """

    def __init__(self, ranks: int) -> None:
        if ranks < 1:
            raise ValueError(f"{ranks} ranks are no group: use 1 or more")
        self.ranks = ranks
        self.met: list[tuple[str, int]] = []

    def run(
        self, program: Callable[..., Coroutine[Collective, None, Any]], *arguments: Sequence[Any]
    ) -> list[Any]:
        """Call ``program(rank, *its arguments)`` on every rank; what each returned.

        Parameters
        ----------
        program : async function
        *arguments : sequences
            One entry per rank.

        Raises
        ------
        Mismatch
            In one line: what each rank waits for.
        """
        for each in arguments:
            if len(each) != self.ranks:
                raise ValueError(f"{len(each)} arguments for {self.ranks} ranks: give one per rank")
        gpus = [Rank(self, rank) for rank in range(self.ranks)]
        programs = [program(gpu, *(each[gpu.rank] for each in arguments)) for gpu in gpus]
        try:
            return self._drive(gpus, programs)
        finally:
            for each in programs:
                each.close()

    def _drive(self, gpus: list[Rank], programs: list[Any]) -> list[Any]:
        """Let each rank run until it waits, carry out what all have begun, and again."""
        waiting: dict[int, Collective | None] = dict.fromkeys(range(self.ranks))
        results: list[Any] = [None] * self.ranks
        carried_out = 0
        while waiting:
            for rank in [rank for rank, call in waiting.items() if call is None or call.done]:
                with self.on(rank):
                    while waiting.get(rank, self) is None or waiting[rank].done:
                        if waiting[rank] is not None:
                            self.wait(rank, waiting[rank])
                        try:
                            waiting[rank] = programs[rank].send(None)
                        except StopIteration as end:
                            results[rank] = end.value
                            del waiting[rank]
                            break
            together = min(len(gpu.begun) for gpu in gpus)
            if waiting and together == carried_out:  # NCCL would wait for ever
                raise Mismatch(self._stuck(gpus, waiting))
            for number in range(carried_out, together):
                calls = [gpu.begun[number] for gpu in gpus]
                self._check(calls)
                self.meet(calls)
                self.met.append((calls[0].kind, calls[0].nbytes))
                for call in calls:
                    call.done = True
            carried_out = together
        self._ended(gpus, carried_out)
        return results

    def _check(self, calls: list[Collective]) -> None:
        """Mismatch, in one line, unless all ranks call the same."""
        first = calls[0]
        for rank, call in enumerate(calls):
            if str(call) != str(first):
                raise Mismatch(
                    f"rank 0 is in {first}, rank {rank} in {call}: "
                    "all ranks must begin the same collectives in the same order"
                )
        if first.kind == "exchange":
            missing = set(range(self.ranks)) - {call.to for call in calls}
            if missing:
                raise Mismatch(f"nobody sends to rank {min(missing)}: each rank needs one sender")
            for rank, call in enumerate(calls):
                calls[call.to].source = rank

    def _stuck(self, gpus: list[Rank], waiting: dict[int, Any]) -> str:
        told = [
            f"rank {rank} waits in its {call}" if (call := waiting.get(rank)) else
            f"rank {rank} has ended after {len(gpus[rank].begun)}"
            for rank in range(self.ranks)
        ]  # fmt: skip
        return f"{', '.join(told)}: every rank must begin the same number of collectives"

    def _ended(self, gpus: list[Rank], carried_out: int) -> None:
        for gpu in gpus:
            for call in gpu.begun:
                if not call.done or not call.awaited:
                    raise Mismatch(f"rank {gpu.rank} ended without awaiting its {call}: await it")

    def on(self, rank: int) -> AbstractContextManager[Any]:
        """What a rank's program runs in."""
        return nullcontext()

    def mark(self, rank: int) -> Any:
        """When what a rank has queued so far will be done."""
        return None

    def wait(self, rank: int, call: Collective) -> None:  # noqa: B027
        """Let what the rank queues from now on wait for a collective."""

    @abstractmethod
    def meet(self, calls: list[Collective]) -> None:
        """Carry out one collective: rank r's part of it is ``calls[r]``."""


class Simulated(Ranks):
    """Ranks without GPUs: NumPy arrays, the ranks in turn."""

    def meet(self, calls: list[Collective]) -> None:
        arrays = [call.array for call in calls]
        match calls[0].kind:
            case "all_reduce" | "reduce_scatter" as kind:
                total = sum(arrays[1:], start=arrays[0])
                parts = np.split(total, self.ranks) if kind == "reduce_scatter" else None
                results = parts or [total] * self.ranks
            case "all_gather":
                results = [np.concatenate(arrays)] * self.ranks
            case "all_to_all":
                cut = [np.split(array, self.ranks) for array in arrays]
                results = [np.concatenate(parts) for parts in zip(*cut, strict=True)]
            case "exchange":
                results = [arrays[call.source] for call in calls]
        for call, result in zip(calls, results, strict=True):
            np.copyto(call.result, result)
