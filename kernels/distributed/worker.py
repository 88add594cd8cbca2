"""What the process of one rank does: set up its arrays, multiply, time it, hand in its block.

Ranks on GPUs talk through NCCL (`nccl`), ranks without through files (`mailbox`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from kernels.distributed import lock, processes
from kernels.distributed.algorithms import schedule
from kernels.distributed.executor import Executor
from kernels.distributed.grid import Grid
from kernels.distributed.processes import Team
from kernels.distributed.simulation import gathered

__all__ = ["Found", "Job", "carry_out", "product"]


@dataclass(frozen=True)
class Job:
    """One product to compute, and how often to time it.

    Attributes
    ----------
    algorithm : str
    grid : Grid
    folder : str
        Where ``A.npy`` and ``B.npy`` lie, and where each rank writes its block of C.
    pieces : int
    out_dtype : str
        Number format of C.
    local : str
        What multiplies on each GPU: ``"cublas"`` or the name of a rung.
    overlap : bool
    repeats : int
        How often the product is timed; 0 for not at all.
    batch : int
        How many products follow each other without a wait for all ranks in each of these times.
    """

    algorithm: str
    grid: Grid
    folder: str = ""
    pieces: int = 1
    out_dtype: str = "float32"
    local: str = "cublas"
    overlap: bool = True
    repeats: int = 0
    batch: int = 1

    def matrix(self, name: str) -> Any:
        """A or B, of which only what is asked for is read."""
        return np.load(Path(self.folder) / f"{name}.npy", mmap_mode="r")


@dataclass(frozen=True)
class Found:
    """What one rank found: seconds of each repeat, bytes sent and received in one product."""

    seconds: list[float]
    sent: int
    received: int


class Transport(Protocol):
    """How ranks talk: it makes executors, and lets all ranks wait for each other."""

    def executor(self, job: Job, plan: Any) -> Executor: ...
    def barrier(self) -> None: ...
    def block(self, executor: Executor) -> Any: ...
    def close(self) -> None: ...


def carry_out(
    jobs: Sequence[Job], transport: str, seconds: float, heard: Any = lambda job, found: None
) -> list[list[Found]]:
    """Do all jobs, on as many ranks as the first one has; what each rank found of each job.

    ``heard(rank, (number, found))`` is called as soon as a rank has done a job.
    """
    with lock.alone():
        ranks = jobs[0].grid.size
        found = processes.together(work, ranks, list(jobs), transport, seconds=seconds, heard=heard)
    return [list(each) for each in zip(*found, strict=True)]


def product(job: Job) -> np.ndarray:
    """C of a job that was carried out."""
    first = job.matrix("A"), job.matrix("B")
    (M, K), N = first[0].shape, first[1].shape[1]
    plan = schedule(job.algorithm, M, N, K, job.grid, job.pieces)
    blocks = {r: np.load(Path(job.folder) / f"C{r}.npy") for r in range(job.grid.size)}
    return gathered(plan, blocks)


def work(team: Team, jobs: list[Job], transport: str) -> list[Found]:
    """All jobs of one rank, in its own process."""
    link = connected(team, transport)
    try:
        found = []
        for number, job in enumerate(jobs):
            found.append(do(team, link, job))
            team.tell((number, found[-1]))
        return found
    finally:
        link.close()


def connected(team: Team, transport: str) -> Transport:
    """This rank's end of the links."""
    if transport == "nccl":
        from kernels.distributed.nccl import Nccl

        return Nccl(team)
    from kernels.distributed.mailbox import Mailbox

    return Mailbox(team)


def do(team: Team, link: Transport, job: Job) -> Found:
    """One job: the product once, checked by whoever reads the block, then timed."""
    A, B = job.matrix("A"), job.matrix("B")
    plan = schedule(job.algorithm, A.shape[0], B.shape[1], A.shape[1], job.grid, job.pieces)
    executor = link.executor(job, plan)
    for store in executor.stores.values():
        executor.fill(store, A, B)
    link.barrier()
    executor.run()
    link.barrier()
    np.save(Path(job.folder) / f"C{team.rank}.npy", link.block(executor))
    seconds = []
    for _ in range(job.repeats):
        link.barrier()
        start = perf_counter()
        for _ in range(job.batch):
            executor.run()
        link.barrier()
        seconds.append((perf_counter() - start) / job.batch)
    runs = 1 + job.repeats * job.batch
    return Found(seconds, executor.sent // runs, executor.received // runs)
