"""One run of a schedule, on whatever the ranks are: what all executors have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod

from kernels.distributed.schedule import Move, Product, Schedule, Tile
from kernels.distributed.store import Store

__all__ = ["Executor"]


class Executor(ABC):
    """Carries out the steps of a schedule for those ranks whose stores it has.

    The methods below queue work, and may return before it is done.
    """

    schedule: Schedule
    stores: dict[int, Store]

    def run(self) -> None:
        """Queue the whole product."""
        for store in self.stores.values():
            store.start()
        arriving: list[tuple[int, Tile, int]] = []
        for number, step in enumerate(self.schedule.steps):
            self.transfer(number, step.fetches)
            for product in step.products:
                if product.rank in self.stores:
                    self.multiply(number, product)
            self._add(arriving)
            self.multiplied(number)
            self.transfer(number, step.sums)
            arriving = [(m.to, m.tile, number) for m in step.sums if m.to in self.stores]
        self._add(arriving)

    def _add(self, arriving: list[tuple[int, Tile, int]]) -> None:
        """Add what the last step's sums brought, behind the products of this one."""
        for rank, tile, number in arriving:
            self.add(number, rank, tile)

    @abstractmethod
    def transfer(self, number: int, moves: tuple[Move, ...]) -> None:
        """Move tiles in step `number`."""

    @abstractmethod
    def multiply(self, number: int, product: Product) -> None:
        """Multiply what is there."""

    @abstractmethod
    def add(self, number: int, rank: int, tile: Tile) -> None:
        """Add a tile of C that arrived in step `number` to the rank's block."""

    def multiplied(self, number: int) -> None:
        """Take note that all products of step `number` are queued."""
        return
