"""What goes wrong with several GPUs, provoked: what is said, how soon, and what is left behind."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter, sleep
from typing import Any
from unittest import mock

from kernels.distributed import lock, machine, nccl, processes, worker
from kernels.distributed.algorithms import schedule
from kernels.distributed.grid import Grid
from kernels.distributed.processes import Team

__all__ = ["FAULTS", "measure"]

#: Seconds that a rank may take before it is given up; starting takes some.
LIMIT = 60.0
TOO_SHORT = 12.0


def measure(gpus: int, transport: str = "nccl") -> dict[str, list[dict[str, Any]]]:
    """Table ``faults``: a row for each.

    ``left_processes`` and ``left_bytes`` are what is still there a second later: processes of this
    one, and memory in use on any GPU beyond what was in use before.
    """
    return {"faults": [_provoked(name, gpus, transport) for name in FAULTS]}


def _provoked(name: str, gpus: int, transport: str) -> dict[str, Any]:
    before, start = _used(gpus), perf_counter()
    try:
        FAULTS[name](gpus, transport)
        said = ""
    except (RuntimeError, OSError, MemoryError, ValueError) as error:
        said = f"{type(error).__name__}: {error}"
    seconds = float(f"{perf_counter() - start:.3g}")
    sleep(1)
    left = max((now - then for now, then in zip(_used(gpus), before, strict=True)), default=0)
    return {"fault": name, "said": said, "took": seconds,
            "left_processes": len(_children()), "left_bytes": max(0, left)}  # fmt: skip


def _used(gpus: int) -> list[int]:
    """Bytes in use on each GPU, by anyone."""
    machine.free_memory()
    return [machine.used_bytes(gpu) for gpu in range(min(gpus, machine.count()))]


def _children() -> list[Any]:
    import multiprocessing

    return multiprocessing.active_children()


def a_rank_dies(gpus: int, transport: str) -> None:
    """The last rank is killed while the others wait for it."""
    processes.together(_die, gpus, transport, seconds=LIMIT)


def _die(team: Team, transport: str) -> None:
    link = worker.connected(team, transport)
    link.barrier()
    if team.rank == team.ranks - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    link.barrier()


def a_rank_hangs(gpus: int, transport: str) -> None:
    """The last rank does nothing, and the others wait for it until the time is over."""
    processes.together(_hang, gpus, transport, seconds=TOO_SHORT)


def _hang(team: Team, transport: str) -> None:
    link = worker.connected(team, transport)
    if team.rank == team.ranks - 1:
        sleep(10 * LIMIT)
    link.barrier()


def a_gpu_is_missing(gpus: int, transport: str) -> None:
    """One rank more than there are GPUs."""
    machine.check_gpus(Grid(gpus + 1))


def a_size_too_small(gpus: int, transport: str) -> None:
    """Fewer rows than GPUs."""
    schedule("rows", gpus - 1, 64, 64, Grid(gpus))


def a_grid_that_does_not_fit(gpus: int, transport: str) -> None:
    """Rows on a grid with more than one column."""
    schedule("rows", 64, 64, 64, Grid(1, gpus))


def too_little_memory(gpus: int, transport: str) -> None:
    """A product far larger than all memory."""
    machine.check_memory(schedule("rows", *[2**20] * 3, Grid(gpus)), 4, 4)


def no_nccl(gpus: int, transport: str) -> None:
    """CuPy finds no NCCL."""
    with mock.patch.dict("sys.modules", {"cupy.cuda.nccl": None}), _without_nccl():
        nccl.check()


@contextmanager
def _without_nccl() -> Iterator[None]:
    import sys

    cuda = sys.modules.get("cupy.cuda")
    kept = getattr(cuda, "nccl", None)
    if kept is None:
        yield
        return
    del cuda.nccl
    try:
        yield
    finally:
        cuda.nccl = kept


def a_second_run(gpus: int, transport: str) -> None:
    """Another process asks for the GPUs while this one has them."""
    with lock.alone():
        processes.together(_ask, 1, seconds=LIMIT)


def _ask(team: Team) -> None:
    with lock.alone():
        pass


FAULTS: dict[str, Callable[[int, str], None]] = {
    function.__name__.replace("_", " "): function
    for function in (
        a_rank_dies,
        a_rank_hangs,
        a_gpu_is_missing,
        a_size_too_small,
        a_grid_that_does_not_fit,
        too_little_memory,
        no_nccl,
        a_second_run,
    )
}
