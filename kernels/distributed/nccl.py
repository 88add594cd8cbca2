"""Ranks on GPUs, one process each, that talk through NCCL.

What a rank sends and receives in a step is one NCCL group on a stream of its own, beside the stream
that multiplies. NVLink multicast stays off: a program that fails while using it can take the GPUs
of a shared machine down.
"""

from __future__ import annotations

import os
from time import monotonic, sleep
from typing import Any

from kernels.backend import cuda, cupy
from kernels.distributed import machine
from kernels.distributed.executor import Executor
from kernels.distributed.local import multiplier
from kernels.distributed.processes import Team
from kernels.distributed.schedule import Move, Product, Schedule, Tile
from kernels.distributed.store import Store

__all__ = ["Nccl", "check"]

#: Seconds to wait for rank 0 to say where the others find it.
PATIENCE = 60.0


def check() -> None:
    """RuntimeError, in one line, where NCCL is missing."""
    try:
        from cupy.cuda import nccl

        nccl.get_version()
    except (ImportError, AttributeError, RuntimeError):
        raise RuntimeError(
            "NCCL is missing: pip install nvidia-nccl-cu13 (or -cu12), or use --transport copies"
        ) from None


class Nccl:
    """One rank's communicator, on the GPU of its number."""

    def __init__(self, team: Team) -> None:
        os.environ["NCCL_NVLS_ENABLE"] = "0"
        check()
        from cupy.cuda import nccl

        self.team, self.nccl = team, nccl
        cuda.select_device(team.rank)
        cupy.cuda.Device(team.rank).use()
        self.communicator = nccl.NcclCommunicator(team.ranks, self._name(), team.rank)
        self.units = cupy.cuda.Stream(non_blocking=True)
        self.link = cupy.cuda.Stream(non_blocking=True)
        self._one = cupy.ones(1, "float32")
        self.barrier()

    def _name(self) -> Any:
        """What rank 0 calls this group; it leaves the name in the folder of the team."""
        path = self.team.folder / "nccl"
        if self.team.rank == 0:
            name = self.nccl.get_unique_id()
            path.with_suffix(".part").write_bytes(bytes(name))
            path.with_suffix(".part").rename(path)
            return name
        end = monotonic() + PATIENCE
        while not path.exists():
            if monotonic() > end:
                raise RuntimeError(f"rank 0 said nothing for {PATIENCE:.0f} s: run it again")
            sleep(0.01)
        return path.read_bytes()

    def barrier(self) -> None:
        """Wait until every rank has done what it queued."""
        cupy.cuda.runtime.deviceSynchronize()
        address = self._one.data.ptr
        kind, operation = self.nccl.NCCL_FLOAT32, self.nccl.NCCL_MAX
        self.communicator.allReduce(address, address, 1, kind, operation, self.link.ptr)
        self.link.synchronize()

    def exchange(
        self, sends: list[tuple[Any, int]], receives: list[tuple[Any, int]], stream: int
    ) -> None:
        """Send arrays to ranks and receive arrays from ranks, all at once, on a stream."""
        nccl = self.nccl
        nccl.groupStart()
        for array, to in sends:
            self.communicator.send(array.data.ptr, array.nbytes, nccl.NCCL_UINT8, to, stream)
        for array, source in receives:
            self.communicator.recv(array.data.ptr, array.nbytes, nccl.NCCL_UINT8, source, stream)
        nccl.groupEnd()

    def executor(self, job: Any, plan: Schedule) -> NcclExecutor:
        return NcclExecutor(self, plan, job)

    def block(self, executor: Executor) -> Any:
        return executor.stores[self.team.rank].C.get()

    def close(self) -> None:
        """Leave the group."""
        self.communicator.abort()


class NcclExecutor(Executor):
    """One rank's part of a schedule, on its GPU."""

    def __init__(self, group: Nccl, schedule: Schedule, job: Any) -> None:
        A = job.matrix("A")
        out = machine.stored(job.out_dtype)
        machine.check_sums(schedule, job.out_dtype)
        self.group, self.schedule, self.rank = group, schedule, group.team.rank
        machine.check_memory(schedule, A.dtype.itemsize, out.itemsize, self.rank)
        self.stores = {self.rank: Store(schedule, self.rank, cupy.empty, A.dtype, out)}
        self.stores[self.rank].C.fill(machine.nan(out))
        self.multiplier = multiplier(job.local, str(A.dtype))
        # Numba launches on the default stream, and CuPy wherever it is told.
        self.units = group.units if job.local == "cublas" else cupy.cuda.Stream.null
        self.link = group.link if job.overlap else self.units
        self.events: dict[tuple[str, int], Any] = {}
        self.queued: set[tuple[str, int]] = set()
        self.sent = self.received = 0

    def fill(self, store: Store, A: Any, B: Any) -> None:
        store.fill(lambda array, values: array.set(values), A, B)
        cupy.cuda.runtime.deviceSynchronize()

    def run(self) -> None:
        self.queued.clear()
        super().run()

    def transfer(self, number: int, moves: tuple[Move, ...]) -> None:
        store = self.stores[self.rank]
        sends = [(store.outgoing(t, number), to) for t, source, to in moves if source == self.rank]
        receives = [
            (store.incoming(t, number), source) for t, source, to in moves if to == self.rank
        ]
        if not sends and not receives:
            return
        summed = moves[0].tile.matrix == "C"
        self._wait(self.link, "multiplied", number if summed else number - 2)
        self.group.exchange(sends, receives, self.link.ptr)
        self._mark(self.link, "moved", number)
        self.sent += sum(array.nbytes for array, _ in sends)
        self.received += sum(array.nbytes for array, _ in receives)

    def multiply(self, number: int, product: Product) -> None:
        store = self.stores[self.rank]
        self._wait(self.units, "moved", number)
        if not store.block.covers(product.c):
            self._wait(self.units, "moved", number - 2)
        target, add = store.target(product.c, number)
        with self.units:
            self.multiplier(store.tile(product.a), store.tile(product.b), target, add)

    def add(self, number: int, rank: int, tile: Tile) -> None:
        store = self.stores[rank]
        self._wait(self.units, "moved", number)
        target, add = store.target(tile, number)
        brought = store.arrived[tile][1]
        with self.units:
            if add:
                cupy.add(target, brought, out=target)
            else:
                cupy.copyto(target, brought)

    def multiplied(self, number: int) -> None:
        self._mark(self.units, "multiplied", number)

    def _mark(self, stream: Any, what: str, number: int) -> None:
        key = what, number
        if key not in self.events:
            self.events[key] = cupy.cuda.Event(disable_timing=True)
        self.events[key].record(stream)
        self.queued.add(key)

    def _wait(self, stream: Any, what: str, number: int) -> None:
        if (what, number) in self.queued:
            stream.wait_event(self.events[what, number])
