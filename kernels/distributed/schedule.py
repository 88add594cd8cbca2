"""Who holds which tile, and what moves when: a product on several GPUs as plain data.

A rank is one GPU with its memory. A schedule says which tiles of A and B each rank holds at the
start, which block of C it has at the end, and what happens in between, step by step. Nothing here
computes: `cost` adds the schedule up, `simulation` carries it out with NumPy, `copies` and `worker`
on GPUs.

A tile that a rank fetches in step s is there for the products of step s, and may be passed on in
step s + 1. Two buffers for each matrix are enough for that, and let the fetches of step s + 1 run
beside the products of step s.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from kernels.distributed.grid import Grid, Span

__all__ = ["Move", "Product", "Schedule", "Step", "Tile"]

#: Bytes of an element of C while it is being summed: float32, whatever A and B are.
SUM_BYTES = 4


class Tile(NamedTuple):
    """A rectangle of A, B or C."""

    matrix: str
    rows: Span
    cols: Span

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.size, self.cols.size

    @property
    def size(self) -> int:
        """Its elements."""
        return self.rows.size * self.cols.size

    @property
    def slices(self) -> tuple[slice, slice]:
        """Where it lies in its matrix."""
        return self.rows.slice, self.cols.slice

    def within(self, other: Tile) -> tuple[slice, slice]:
        """Where it lies in a tile that contains it."""
        row, col = other.rows.start, other.cols.start
        return (
            slice(self.rows.start - row, self.rows.stop - row),
            slice(self.cols.start - col, self.cols.stop - col),
        )

    def covers(self, other: Tile) -> bool:
        """Whether another tile of the same matrix lies inside it."""
        return (
            self.rows.start <= other.rows.start <= other.rows.stop <= self.rows.stop
            and self.cols.start <= other.cols.start <= other.cols.stop <= self.cols.stop
        )

    def __str__(self) -> str:
        (top, bottom), (left, right) = self.rows, self.cols
        return f"{self.matrix}[{top}:{bottom}, {left}:{right}]"


class Move(NamedTuple):
    """A tile that goes from one rank to another; a tile of C is added to what is there."""

    tile: Tile
    source: int
    to: int


class Product(NamedTuple):
    """What one rank multiplies: ``C[a.rows, b.cols] += a @ b``."""

    rank: int
    a: Tile
    b: Tile

    @property
    def c(self) -> Tile:
        return Tile("C", self.a.rows, self.b.cols)

    @property
    def flop(self) -> int:
        return 2 * self.a.size * self.b.cols.size


class Step(NamedTuple):
    """Fetches of A and B, then products, then what of their results other ranks are sent."""

    fetches: tuple[Move, ...]
    products: tuple[Product, ...]
    sums: tuple[Move, ...] = ()


@dataclass(frozen=True)
class Schedule:
    """A product of A (M×K) and B (K×N) on a grid of GPUs.

    Attributes
    ----------
    algorithm : str
        Its name in `ALGORITHMS`.
    grid : Grid
    M, N, K : int
    holds : tuple of tuples of Tile
        By rank: the tiles of A and B that it has at the start.
    results : tuple of Tile
        By rank: the block of C that it has at the end.
    steps : tuple of Step
    """

    algorithm: str
    grid: Grid
    M: int
    N: int
    K: int
    holds: tuple[tuple[Tile, ...], ...]
    results: tuple[Tile, ...]
    steps: tuple[Step, ...]

    @property
    def flop(self) -> int:
        """Floating-point operations of the whole product."""
        return 2 * self.M * self.N * self.K

    @cached_property
    def moves(self) -> tuple[Move, ...]:
        """All that moves between ranks, in order."""
        return tuple(move for step in self.steps for move in (*step.fetches, *step.sums))

    def received(self, rank: int, itemsize: int) -> int:
        """Bytes that a rank receives; `itemsize` is that of A and B."""
        return sum(nbytes(move.tile, itemsize) for move in self.moves if move.to == rank)

    def sent(self, rank: int, itemsize: int) -> int:
        """Bytes that a rank sends."""
        return sum(nbytes(move.tile, itemsize) for move in self.moves if move.source == rank)

    def traffic(self, itemsize: int) -> int:
        """Bytes that move between ranks."""
        return sum(nbytes(move.tile, itemsize) for move in self.moves)

    def buffers(self, rank: int) -> dict[tuple[str, int], int]:
        """Elements of each buffer for what a rank fetches or sums, by matrix and parity of step.

        ``"C"`` is for sums that arrive, ``"partial"`` for those that leave.
        """
        found: dict[tuple[str, int], int] = {}
        for number, step in enumerate(self.steps):
            arriving = [(m.tile.matrix, m.tile) for m in step.fetches + step.sums if m.to == rank]
            leaving = [("partial", m.tile) for m in step.sums if m.source == rank]
            for name, tile in arriving + leaving:
                key = name, number % 2
                found[key] = max(found.get(key, 0), tile.size)
        return found

    def memory(self, rank: int, itemsize: int, out_itemsize: int = SUM_BYTES) -> int:
        """Bytes of GPU memory that a rank needs: tiles, buffers, and its block of C."""
        held = sum(tile.size for tile in self.holds[rank]) * itemsize
        buffered = sum(
            size * (itemsize if name in ("A", "B") else SUM_BYTES)
            for (name, _), size in self.buffers(rank).items()
        )
        return held + buffered + self.results[rank].size * out_itemsize

    @cached_property
    def accumulates(self) -> bool:
        """Whether an element of C is added to more than once, and so needs float32."""
        targets = [(p.rank, p.c) for step in self.steps for p in step.products]
        return len(set(targets)) < len(targets) or any(step.sums for step in self.steps)


def nbytes(tile: Tile, itemsize: int) -> int:
    """Bytes of a tile: `itemsize` a number of A and B, four a number of C."""
    return tile.size * (SUM_BYTES if tile.matrix == "C" else itemsize)
