"""Which algorithm for a product on several GPUs: the one with the least predicted time, and why.

>>> print(choose_algorithm(1024, 1024, 2**20, 4, machine))      # doctest: +SKIP
split_k on 4x1: 2.3 ms; all traffic hides behind arithmetic
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kernels.basics.units import quantity
from kernels.distributed.algorithms import ALGORITHMS, schedule
from kernels.distributed.cost import Machine, Prediction, predict
from kernels.distributed.grid import Grid
from kernels.distributed.schedule import Schedule

__all__ = ["Choice", "choose_algorithm", "grids"]

#: Pieces that are tried where an algorithm can cut what it moves.
PIECES = (1, 2, 4)
#: Predictions nearer than this to the best are as good; then fewer bytes decide.
AS_GOOD = 1.01


@dataclass(frozen=True)
class Choice:
    """A schedule for a product, what is predicted for it, and why it was chosen."""

    schedule: Schedule
    prediction: Prediction
    why: str

    def __str__(self) -> str:
        seconds = quantity(self.prediction.seconds, "s")
        return f"{self.schedule.algorithm} on {self.schedule.grid}: {seconds}; {self.why}"


def choose_algorithm(
    M: int, N: int, K: int, gpus: int, machine: Machine, itemsize: int = 4,
    memory: float = float("inf"), replicated: bool = False,
) -> Choice:  # fmt: skip
    """The schedule with the least predicted time among those that fit into memory.

    Parameters
    ----------
    M, N, K, gpus : int
    machine : Machine
    itemsize : int
        Bytes of an element of A and B.
    memory : float
        Bytes that each GPU has free.
    replicated : bool
        Whether all of B is on every GPU anyway.

    Raises
    ------
    MemoryError
        In one line, if no schedule fits.
    """
    found = [
        (predict(plan, machine, itemsize), plan)
        for plan in candidates(M, N, K, gpus, replicated)
        if most_memory(plan, itemsize) <= memory
    ]
    if not found:
        least = min(most_memory(plan, itemsize) for plan in candidates(M, N, K, gpus, replicated))
        raise MemoryError(
            f"{M}×{N}×{K} needs {least / 1e9:.2f} GB on each of {gpus} GPUs, which have"
            f" {memory / 1e9:.2f} GB: use more GPUs, or smaller sizes"
        )
    best = min(prediction.seconds for prediction, _ in found)
    near = [entry for entry in found if entry[0].seconds <= AS_GOOD * best]
    # Of equals, what moves least, in the fewest steps.
    prediction, plan = min(near, key=lambda e: (e[1].traffic(itemsize), len(e[1].steps)))
    return Choice(plan, prediction, _why(prediction, plan))


def candidates(M: int, N: int, K: int, gpus: int, replicated: bool) -> Iterator[Schedule]:
    """Every schedule that the sizes allow."""
    for algorithm in ALGORITHMS.values():
        if algorithm.name == "replicated" and not replicated:
            continue
        for grid in grids(gpus) if algorithm.in_grid else [Grid(gpus)]:
            for pieces in PIECES if algorithm.in_pieces else (1,):
                try:
                    yield schedule(algorithm.name, M, N, K, grid, pieces)
                except ValueError:
                    continue  # a size is too small for so many parts


def grids(gpus: int) -> list[Grid]:
    """All grids of so many GPUs."""
    return [Grid(gpus // q, q) for q in range(1, gpus + 1) if gpus % q == 0]


def most_memory(plan: Schedule, itemsize: int) -> int:
    """Bytes that the rank needs that needs most."""
    return max(plan.memory(rank, itemsize) for rank in range(plan.grid.size))


def _why(prediction: Prediction, plan: Schedule) -> str:
    if not plan.moves:
        return "nothing moves, because B is everywhere"
    if prediction.exposed < 0.01 * prediction.seconds:
        return "all traffic hides behind arithmetic"
    shown = quantity(prediction.exposed, "s")
    return f"{shown} of its traffic is exposed, the least of all"
