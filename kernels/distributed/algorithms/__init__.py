"""Products on several GPUs, one way a file; `schedule` makes any of them by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kernels.distributed.algorithms.replicated import replicated
from kernels.distributed.algorithms.ring import ring
from kernels.distributed.algorithms.rows import rows
from kernels.distributed.algorithms.split_k import split_k
from kernels.distributed.algorithms.summa import summa
from kernels.distributed.grid import Grid
from kernels.distributed.schedule import Schedule
from kernels.host import check_sizes
from kernels.host.checks import check_whole

__all__ = ["ALGORITHMS", "Algorithm", "schedule"]


@dataclass(frozen=True)
class Algorithm:
    """A way to multiply on several GPUs: its name, what a table calls it, and its schedules."""

    name: str
    title: str
    make: Callable[..., Schedule]
    in_grid: bool = False  #: whether p × q may be other than p × 1
    in_pieces: bool = False  #: whether what moves can be cut further


ALGORITHMS = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm("replicated", "rows, B everywhere", replicated),
        Algorithm("rows", "rows, B in parts", rows, in_pieces=True),
        Algorithm("ring", "rows, B round a ring", ring),
        Algorithm("summa", "SUMMA", summa, in_grid=True, in_pieces=True),
        Algorithm("split_k", "K split", split_k),
    )
}


def schedule(
    name: str, M: int, N: int, K: int, gpus: str | int | Grid, pieces: int = 1
) -> Schedule:
    """The schedule of C = A·B, A (M×K) and B (K×N), by one of the `ALGORITHMS`.

    Parameters
    ----------
    name : str
    M, N, K : int
        Need not divide by the number of GPUs.
    gpus : str, int or Grid
        Such as 4, or ``"2x2"`` where the algorithm uses a grid.
    pieces : int
        Into how many parts to cut what moves in a step, where the algorithm can.

    Raises
    ------
    LookupError, TypeError, ValueError
        One line that names the value, the limit and the way out.
    """
    if name not in ALGORITHMS:
        raise LookupError(f"no algorithm {name!r}: there are {', '.join(ALGORITHMS)}")
    check_sizes(M=M, N=N, K=K)
    check_whole(pieces, "pieces", "use a small number such as 2")
    algorithm = ALGORITHMS[name]
    grid = gpus if isinstance(gpus, Grid) else Grid.parse(str(gpus))
    if grid.q > 1 and not algorithm.in_grid:
        raise ValueError(f"{name} puts GPUs in one row, not {grid}: use {grid.size}, or summa")
    if pieces > 1 and not algorithm.in_pieces:
        able = " or ".join(each.name for each in ALGORITHMS.values() if each.in_pieces)
        raise ValueError(f"{name} moves whole tiles, not {pieces} pieces: use 1, or {able}")
    options = {"pieces": pieces} if algorithm.in_pieces else {}
    return algorithm.make(M, N, K, grid, **options)
