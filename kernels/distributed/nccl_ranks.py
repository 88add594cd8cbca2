"""The ranks of `collectives` on the GPUs of this machine, driven by one process, over NCCL.

Each GPU has two streams: one for what its program computes, one for what NCCL moves. A collective
waits for what its rank had queued when it began; the program waits for it where it awaits it. What
a program queues in between runs beside it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import numpy as np

from kernels.backend import cupy
from kernels.distributed import machine, nccl
from kernels.distributed.collectives import Collective, Ranks
from kernels.distributed.grid import Grid

__all__ = ["Nccl", "queue"]

Queue = Callable[[Any, Any, Collective, int], None]


def queue(nccl, group, call, stream):
    """Queue one rank's part of a collective; all ranks' parts stand in one NCCL group."""
    kinds = {"float32": nccl.NCCL_FLOAT32, "float16": nccl.NCCL_FLOAT16}
    dtype, add = kinds[str(call.array.dtype)], nccl.NCCL_SUM
    here, there = call.array.data.ptr, call.result.data.ptr
    match call.kind:
        case "all_reduce":
            group.allReduce(here, there, call.array.size, dtype, add, stream)
        case "reduce_scatter":
            group.reduceScatter(here, there, call.result.size, dtype, add, stream)
        case "all_gather":
            group.allGather(here, there, call.array.size, dtype, stream)
        case "all_to_all":
            size, step = call.array.size // call.ranks, call.array.nbytes // call.ranks
            for rank in range(call.ranks):
                group.send(here + rank * step, size, dtype, rank, stream)
                group.recv(there + rank * step, size, dtype, rank, stream)
        case "exchange":
            group.send(here, call.array.size, dtype, call.to, stream)
            group.recv(there, call.result.size, dtype, call.source, stream)


class Nccl(Ranks):
    """Ranks on the first GPUs of this machine; arguments and results are NumPy arrays.

    Parameters
    ----------
    ranks : int
    queue : callable
        As `queue`, which it is unless another is given.

    Raises
    ------
    RuntimeError
        In one line: too few GPUs, or no NCCL.
    """

    def __init__(self, ranks: int, queue: Queue = queue) -> None:
        super().__init__(ranks)
        machine.check_gpus(Grid(ranks))
        os.environ["NCCL_NVLS_ENABLE"] = "0"  # as `kernels.distributed.nccl` says
        nccl.check()
        from cupy.cuda import nccl as library

        self.nccl, self.queue = library, queue
        self.groups = library.NcclCommunicator.initAll(list(range(ranks)))
        self.units, self.links = [], []
        for rank in range(ranks):
            with cupy.cuda.Device(rank):
                self.units.append(cupy.cuda.Stream(non_blocking=True))
                self.links.append(cupy.cuda.Stream(non_blocking=True))

    def run(self, program: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        """As `Ranks.run`, with the arrays copied to the GPUs and back."""
        placed = [[self.place(rank, x) for rank, x in enumerate(each)] for each in arguments]
        results = super().run(program, *placed)
        self.synchronize()
        return [back(result) for result in results]

    def place(self, rank: int, value: Any) -> Any:
        """An array, copied to a rank's GPU; anything else as it is."""
        with self.on(rank):
            return cupy.asarray(value) if isinstance(value, np.ndarray) else value

    def on(self, rank: int) -> AbstractContextManager[Any]:
        stack = ExitStack()
        stack.enter_context(cupy.cuda.Device(rank))
        stack.enter_context(self.units[rank])
        return stack

    def mark(self, rank: int) -> Any:
        return self.units[rank].record()

    def wait(self, rank: int, call: Collective) -> None:
        self.units[rank].wait_event(call.mark)

    def meet(self, calls: list[Collective]) -> None:
        for rank, call in enumerate(calls):
            with cupy.cuda.Device(rank):
                self.links[rank].wait_event(call.mark)
        self.nccl.groupStart()
        for rank, call in enumerate(calls):
            with cupy.cuda.Device(rank):
                self.queue(self.nccl, self.groups[rank], call, self.links[rank].ptr)
        self.nccl.groupEnd()
        for rank, call in enumerate(calls):
            with cupy.cuda.Device(rank):
                call.mark = self.links[rank].record()

    def synchronize(self) -> None:
        """Wait for all GPUs."""
        for stream in (*self.units, *self.links):
            stream.synchronize()

    def close(self) -> None:
        """Leave the group."""
        for group in self.groups:
            group.destroy()


def back(value: Any) -> Any:
    """A result on the host: an array, or several."""
    if isinstance(value, tuple | list):
        return type(value)(map(back, value))
    return value.get() if hasattr(value, "get") else value
