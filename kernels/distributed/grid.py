"""A grid of p × q GPUs, and how a size is cut over them."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Grid", "Span", "cut"]


class Span(NamedTuple):
    """The rows or columns from `start` up to `stop`, which is not among them."""

    start: int
    stop: int

    @property
    def size(self) -> int:
        return self.stop - self.start

    @property
    def slice(self) -> slice:
        return slice(self.start, self.stop)


class Grid(NamedTuple):
    """p × q ranks, numbered row by row: rank (i, j) is number i·q + j, one GPU each."""

    p: int
    q: int = 1

    @property
    def size(self) -> int:
        """How many ranks there are."""
        return self.p * self.q

    def place(self, rank: int) -> tuple[int, int]:
        """The row and the column of a rank."""
        return divmod(rank, self.q)

    def rank(self, row: int, column: int) -> int:
        """The number of the rank in a row and a column; both wrap around."""
        return row % self.p * self.q + column % self.q

    def __str__(self) -> str:
        return f"{self.p}x{self.q}"

    @classmethod
    def parse(cls, text: str) -> Grid:
        """``"2x2"`` or ``"4"``, which is 4×1; ValueError, in one line, for anything else."""
        found = re.fullmatch(r"\s*(\d+)(?:\s*[x×]\s*(\d+))?\s*", text)
        grid = cls(int(found[1]), int(found[2] or 1)) if found else cls(0)
        if not grid.size:
            raise ValueError(f"{text!r} is no number of GPUs: use a number such as 4, or 2x2")
        return grid


def cut(size: int, parts: int, name: str) -> tuple[Span, ...]:
    """Cut a size into parts that differ by one at most, the longer ones first.

    Raises
    ------
    ValueError
        If a part would be empty; `name` says which size it is.
    """
    if size < parts:
        raise ValueError(
            f"{name} = {size} is too small for {parts} parts: use fewer GPUs, or larger matrices"
        )
    short, longer = divmod(size, parts)
    ends = [short * part + min(part, longer) for part in range(parts + 1)]
    return tuple(map(Span, ends, ends[1:]))
