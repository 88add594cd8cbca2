"""A schedule carried out exactly, with NumPy, the ranks in turn: it needs no GPU.

Every rank has arrays of its own and sees no other's; what it multiplies must have been there from
the start, or have been sent. So a wrong schedule fails here; bytes are counted as they move.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernels.distributed.executor import Executor
from kernels.distributed.schedule import Move, Product, Schedule, Tile
from kernels.distributed.store import Store
from kernels.host import half

__all__ = ["Simulation", "simulate"]


@dataclass
class Simulation(Executor):
    """A run in turn; afterwards `C` is the product, `sent` and `received` count bytes by rank."""

    schedule: Schedule
    A: Any
    B: Any
    stores: dict[int, Store] = field(init=False)
    sent: list[int] = field(init=False)
    received: list[int] = field(init=False)

    def __post_init__(self) -> None:
        ranks, dtype = self.schedule.grid.size, str(self.A.dtype)
        self.sent, self.received = [0] * ranks, [0] * ranks
        self.stores = {
            rank: Store(self.schedule, rank, poisoned, dtype, "float32") for rank in range(ranks)
        }
        for store in self.stores.values():
            store.fill(np.copyto, self.A, self.B)

    def transfer(self, number: int, moves: tuple[Move, ...]) -> None:
        for tile, source, to in moves:
            here = self.stores[source].outgoing(tile, number)
            np.copyto(self.stores[to].incoming(tile, number), here)
            self.sent[source] += here.nbytes
            self.received[to] += here.nbytes

    def multiply(self, number: int, product: Product) -> None:
        store = self.stores[product.rank]
        target, add = store.target(product.c, number)
        gemm(store.tile(product.a), store.tile(product.b), target, add)

    def add(self, number: int, rank: int, tile: Tile) -> None:
        add(self.stores[rank], tile, number)

    @property
    def C(self) -> np.ndarray:
        """The blocks of all ranks, put together."""
        return gathered(self.schedule, {rank: store.C for rank, store in self.stores.items()})


def simulate(schedule: Schedule, A: np.ndarray, B: np.ndarray) -> Simulation:
    """Multiply A (M×K) and B (K×N) as the schedule says; A and B of float32 or 16 bits."""
    run = Simulation(schedule, A, B)
    run.run()
    return run


def gemm(A: np.ndarray, B: np.ndarray, C: np.ndarray, add: bool) -> None:
    """C = A·B, or C += A·B, summed in float32 and rounded to the numbers of C."""
    result = half.floats(A) @ half.floats(B)
    np.copyto(C, half.cast(half.floats(C) + result if add else result, half.dtype_of(C)))


def add(store: Store, tile: Tile, number: int) -> None:
    """Add what arrived in a step to a rank's block of C."""
    target, more = store.target(tile, number)
    brought = store.arrived[tile][1]
    np.copyto(target, target + brought if more else brought)


def gathered(schedule: Schedule, blocks: dict[int, Any]) -> np.ndarray:
    """C in one array on the host, from the blocks of the ranks."""
    C = np.empty((schedule.M, schedule.N), next(iter(blocks.values())).dtype)
    for rank, block in blocks.items():
        C[schedule.results[rank].slices] = block
    return C


def poisoned(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """An array of NaN: what nobody wrote shows."""
    return half.cast(np.full(shape, np.nan, np.float32), half.dtype_of(np.empty(0, dtype)))
