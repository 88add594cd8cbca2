"""A schedule on several GPUs, driven by one process: tiles cross as copies from GPU to GPU.

Each GPU has a stream for the copies that the next step needs, and two that multiply in turn: where
two products have nothing to do with each other, the second fills the SMs that the last blocks of
the first leave idle. Copy engines do the copying, so that all SMs are left to the products. Events
say what waits for what. All calls are listed once, and every run goes through the list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import permutations
from typing import Any

from kernels.backend import cupy
from kernels.distributed import machine
from kernels.distributed.executor import Executor
from kernels.distributed.schedule import Move, Product, Schedule, Tile
from kernels.distributed.simulation import gathered
from kernels.distributed.store import Store
from kernels.host.cublas import gemm

__all__ = ["Copies"]

Key = tuple[str, int, int]  #: what was queued, in which step, for which rank


class Copies(Executor):
    """The ranks' arrays on their GPUs, and the streams.

    Parameters
    ----------
    schedule : Schedule
    A, B : NumPy arrays of float32, float16 or bfloat16 (as uint16), shapes (M, K) and (K, N)
    out_dtype : str
        Number format of C.
    overlap : bool
        Whether copies run beside products; otherwise one follows the other.

    Raises
    ------
    RuntimeError, MemoryError, TypeError
        In one line: too few GPUs, too little memory, or a C that cannot hold the sums.
    """

    def __init__(
        self, schedule: Schedule, A: Any, B: Any, out_dtype: str = "float32", overlap: bool = True
    ) -> None:
        machine.check_gpus(schedule.grid)
        machine.check_sums(schedule, out_dtype)
        machine.check_memory(schedule, A.dtype.itemsize, machine.stored(out_dtype).itemsize)
        self.schedule, ranks = schedule, range(schedule.grid.size)
        connect(len(ranks))
        self.stores, self.units, self.links = {}, {}, {}
        for rank in ranks:
            with cupy.cuda.Device(rank):
                out = machine.stored(out_dtype)
                store = Store(schedule, rank, cupy.empty, A.dtype, out)
                store.fill(lambda array, values: array.set(values), A, B)
                self.stores[rank] = store
                streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(3 if overlap else 1)]
                self.links[rank] = streams[-1]
                self.units[rank] = streams[:2] if overlap else 2 * streams
        #: The stream that a whole product runs between two events of: the first of rank 0.
        self.lead = self.units[0][0]
        self._events: dict[Key, Any] = {}
        self._calls: list[Callable[[], object]] = []
        self._list_calls()
        self.synchronize()

    def run(self) -> None:
        """Queue the whole product, behind what the lead stream has, and before what it gets."""
        for call in self._calls:
            call()

    def _list_calls(self) -> None:
        self._mark(("begin", 0, 0), self.lead)
        everyone = {
            id(stream): (rank, stream)
            for rank in self.stores
            for stream in (*self.units[rank], self.links[rank])
            if stream is not self.lead
        }
        for _, stream in everyone.values():
            self._wait(stream, ("begin", 0, 0))
        super().run()
        for number, (rank, stream) in enumerate(everyone.values()):
            self._mark(("end", number, rank), stream)
            self._wait(self.lead, ("end", number, rank))

    def transfer(self, number: int, moves: tuple[Move, ...]) -> None:
        for tile, source, to in moves:
            stream = self.links[to]
            if tile.matrix == "C":
                waited = [("multiplied", number, source), ("multiplied", number - 1, to)]
            else:
                # The buffer was multiplied from two steps before, and passed on one step before.
                waited = [("multiplied", number - 2, to)]
                waited += [("moved", number - 1, rank) for rank in self.stores]
            for key in waited:
                self._wait(stream, key)
            here = self.stores[source].outgoing(tile, number)
            there = self.stores[to].incoming(tile, number)
            addresses = there.data.ptr, to, here.data.ptr, source, here.nbytes
            copy = cupy.cuda.runtime.memcpyPeerAsync
            self._calls.append(partial(copy, *addresses, stream.ptr))
        for to in {move.to for move in moves}:
            self._mark(("moved", number, to), self.links[to])

    def multiply(self, number: int, product: Product) -> None:
        rank = product.rank
        store, stream = self.stores[rank], self.units[rank][number % 2]
        self._wait(stream, ("moved", number, rank))
        if not store.block.covers(product.c):
            for other in self.stores:  # who fetched this buffer's last share of a sum
                self._wait(stream, ("moved", number - 2, other))
        target, add = store.target(product.c, number)
        if add:
            self._wait(stream, ("multiplied", number - 1, rank))
        with cupy.cuda.Device(rank):
            launch = gemm(store.tile(product.a), store.tile(product.b), target, add)
        self._on(rank, stream, launch)

    def add(self, number: int, rank: int, tile: Tile) -> None:
        store, stream = self.stores[rank], self.units[rank][(number + 1) % 2]
        self._wait(stream, ("moved", number, rank))
        target, add = store.target(tile, number)
        brought = store.arrived[tile][1]
        if add:
            self._wait(stream, ("added", number - 1, rank))
            self._on(rank, stream, partial(cupy.add, target, brought, out=target))
        else:
            self._on(rank, stream, partial(cupy.copyto, target, brought))
        self._mark(("added", number, rank), stream)

    def multiplied(self, number: int) -> None:
        for rank in self.stores:
            self._mark(("multiplied", number, rank), self.units[rank][number % 2])

    @contextmanager
    def leading(self) -> Iterator[None]:
        """What is queued meanwhile, such as an event, goes to the lead stream on GPU 0."""
        with cupy.cuda.Device(0), self.lead:
            yield

    def poison(self) -> None:
        """Fill C with NaN."""
        for rank, store in self.stores.items():
            with cupy.cuda.Device(rank):
                store.C.fill(machine.nan(store.C.dtype))
        self.synchronize()

    def synchronize(self) -> None:
        """Wait for all GPUs."""
        for rank in self.stores:
            with cupy.cuda.Device(rank):
                cupy.cuda.runtime.deviceSynchronize()

    @property
    def C(self) -> Any:
        """The product, in one array on the host."""
        self.synchronize()
        blocks = {}
        for rank, store in self.stores.items():
            with cupy.cuda.Device(rank):
                blocks[rank] = store.C.get()
        return gathered(self.schedule, blocks)

    def close(self) -> None:
        """Give the memory back to the GPUs."""
        self.synchronize()
        self._calls.clear()
        self.stores.clear()
        machine.free_memory()

    def _on(self, rank: int, stream: Any, work: Callable[[], object]) -> None:
        """Let a GPU do some work on one of its streams."""
        device = cupy.cuda.Device(rank)

        def call() -> None:
            with device, stream:
                work()

        self._calls.append(call)

    def _mark(self, key: Key, stream: Any) -> None:
        """Remember how far a stream has got; the last part of the key is its rank."""
        with cupy.cuda.Device(key[2]):
            self._events[key] = cupy.cuda.Event(disable_timing=True)
        record = cupy.cuda.runtime.eventRecord
        self._calls.append(partial(record, self._events[key].ptr, stream.ptr))

    def _wait(self, stream: Any, key: Key) -> None:
        """Let a stream wait for what was queued before under a key, if anything was."""
        if key in self._events:
            wait = cupy.cuda.runtime.streamWaitEvent
            self._calls.append(partial(wait, stream.ptr, self._events[key].ptr))


def connect(gpus: int) -> None:
    """Let each GPU reach the memory of the others where the machine can; else the host copies."""
    runtime = cupy.cuda.runtime
    for here, there in permutations(range(gpus), 2):
        if runtime.deviceCanAccessPeer(here, there):
            with cupy.cuda.Device(here):
                try:
                    runtime.deviceEnablePeerAccess(there)
                except runtime.CUDARuntimeError as error:
                    if "AlreadyEnabled" not in str(error):
                        raise
