"""The arrays of one rank: the tiles it holds, the buffers that others fill, and its block of C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernels.distributed.schedule import Schedule, Tile

__all__ = ["NotThere", "Store"]


class NotThere(LookupError):
    """A rank was to multiply or send a tile that it does not have."""


class Store:
    """What one rank has in its memory, in the course of a schedule.

    Parameters
    ----------
    schedule : Schedule
    rank : int
    empty : callable
        Makes an array from a shape and a dtype: of NumPy, or of CuPy on the rank's GPU.
    dtype, out_dtype : str
        How the numbers of A and B, and those of C, are stored (bfloat16: ``"uint16"``).
    """

    def __init__(
        self, schedule: Schedule, rank: int, empty: Callable[..., Any], dtype: str, out_dtype: str
    ) -> None:
        self.rank, self.block = rank, schedule.results[rank]
        self.held = {tile: empty(tile.shape, dtype) for tile in schedule.holds[rank]}
        self.C = empty(self.block.shape, out_dtype)
        self.buffers = {
            key: empty((size,), dtype if key[0] in ("A", "B") else np.float32)
            for key, size in schedule.buffers(rank).items()
        }
        self.start()

    def start(self) -> None:
        """Forget what an earlier run of the schedule brought."""
        self.arrived: dict[Tile, tuple[int, Any]] = {}
        self.written: set[Tile] = set()

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        arrays = (*self.held.values(), *self.buffers.values(), self.C)
        return sum(array.nbytes for array in arrays)

    def fill(self, put: Callable[[Any, Any], None], A: Any, B: Any) -> None:
        """Copy the rank's tiles out of whole matrices on the host; `put(array, values)` copies."""
        matrices = {"A": A, "B": B}
        for tile, array in self.held.items():
            put(array, np.ascontiguousarray(matrices[tile.matrix][tile.slices]))

    def _buffer(self, name: str, step: int, tile: Tile) -> Any:
        return self.buffers[name, step % 2][: tile.size].reshape(tile.shape)

    def incoming(self, tile: Tile, step: int) -> Any:
        """Where a tile goes that arrives in a step; what arrived two steps before makes room."""
        array = self._buffer(tile.matrix, step, tile)
        kept = {key: entry for key, entry in self.arrived.items() if entry[0] > step - 2}
        self.arrived = {**kept, tile: (step, array)}
        return array

    def tile(self, tile: Tile) -> Any:
        """A tile of A or B that is here.

        Raises
        ------
        NotThere
            If it is not: the schedule is wrong.
        """
        if tile in self.held:
            return self.held[tile]
        if tile in self.arrived:
            return self.arrived[tile][1]
        raise NotThere(f"rank {self.rank} has no {tile}: it was never sent here, or is gone")

    def outgoing(self, tile: Tile, step: int) -> Any:
        """What is sent of a tile: A and B as they are here, C as this rank's share of the sum."""
        return self._buffer("partial", step, tile) if tile.matrix == "C" else self.tile(tile)

    def target(self, tile: Tile, step: int) -> tuple[Any, bool]:
        """Where a product goes, and whether it is added to what is there."""
        if not self.block.covers(tile):
            return self._buffer("partial", step, tile), False
        add = tile in self.written
        self.written.add(tile)
        return self.C[tile.within(self.block)], add
