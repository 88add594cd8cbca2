"""A small figure between two paragraphs: a picture of cells, a control or two, one sentence.

Python works out what the figure shows and says for every value of its controls. The script looks
it up, so no formula is written twice. A chapter has its own in `figures.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, NamedTuple

import traitlets

from kernels.lab.widgets.base import Widget


class CellGrid(NamedTuple):
    """Rows and columns of cells, their upper left corner and the size of a cell, in pixels."""

    x: float
    y: float
    rows: int
    columns: int
    width: float = 15
    height: float = 15

    def cells(self, kind: Callable[[int, int], str]) -> str:
        """The kind of every cell, row by row: ``kind(row, column)`` is one letter.

        ``a``, ``b``, ``c``, ``t`` (tile) and ``h`` (thread) have the colours of the course,
        capitals are paler; ``.`` is an empty cell, ``x`` a wrong or a wasted one, and a space none.
        """
        return "".join(kind(r, c) for r in range(self.rows) for c in range(self.columns))

    def place(self, row: float, column: float) -> tuple[float, float]:
        """The corner of a cell, in pixels."""
        return self.x + column * self.width, self.y + row * self.height


class Frame(NamedTuple):
    """What a figure shows and says for one setting of its controls.

    Attributes
    ----------
    say : str
        The sentence. ``*8*`` is strong, ``*a:8*`` has the colour of A besides.
    cells : tuple of str
        The kinds of each grid's cells, as `CellGrid.cells` gives them.
    hands : list of (float, float)
        Where a press on the picture leads here, in pixels. A single one can be dragged.
    """

    say: str
    cells: tuple[str, ...]
    hands: Sequence[tuple[float, float]] = ()


class Micro(Widget):
    """A picture, its controls, and a sentence whose numbers follow them; `explore` makes one.

    Attributes
    ----------
    title, alt : str
        The name of the figure, and what its picture shows.
    size : list of int
        Width and height of the picture, in pixels.
    grids, labels : list
        A `CellGrid` each, and ``(x, y, text)`` each.
    controls : list
        ``(name, values)`` each, the values as text.
    frames : list
        A `Frame` for each setting, the last control's values next to each other; the kinds of its
        cells are `packed`.
    at : list of int
        Which value each control has, counted from 0.
    """

    title = traitlets.Unicode().tag(sync=True)
    alt = traitlets.Unicode().tag(sync=True)
    size = traitlets.List([1, 1]).tag(sync=True)
    grids = traitlets.List().tag(sync=True)
    labels = traitlets.List().tag(sync=True)
    controls = traitlets.List().tag(sync=True)
    frames = traitlets.List([["", [], []]]).tag(sync=True)
    at = traitlets.List().tag(sync=True)

    def __repr__(self) -> str:
        sentence, *_ = current(self.controls, self.frames, self.at)
        return f"Micro({self.title!r}): {said(sentence)}"


def explore(
    draw: Callable[..., Frame],
    controls: Mapping[str, Sequence[Any]],
    start: Sequence[Any],
    *,
    title: str,
    alt: str,
    size: tuple[int, int],
    grids: Sequence[CellGrid],
    labels: Sequence[tuple[float, float, str]] = (),
) -> Micro:
    """Return the figure of a function: one frame for every setting of its controls.

    Parameters
    ----------
    draw : callable
        Takes a value of each control, returns the `Frame` for them.
    controls : dict of str to sequence
        The values of each control, by its name.
    start : sequence
        The values that the figure begins with.
    title, alt, size, grids, labels
        As of `Micro`.

    Raises
    ------
    ValueError
        If a value to start with is not among its control's, or a frame misses cells of a grid.
    """
    frames = [draw(*values) for values in product(*controls.values())]
    for grid, kinds in (
        (g, kinds) for f in frames for g, kinds in zip(grids, f.cells, strict=True)
    ):
        if len(kinds) != grid.rows * grid.columns:
            raise ValueError(
                f"{title}: {len(kinds)} cells for {grid.rows} × {grid.columns}: name each cell once"
            )
    return Micro(
        title=title,
        alt=alt,
        size=list(size),
        grids=[list(grid) for grid in grids],
        labels=[list(label) for label in labels],
        controls=[[name, [str(value) for value in values]] for name, values in controls.items()],
        frames=[
            [whole(f.say), list(map(packed, f.cells)), [list(hand) for hand in f.hands]]
            for f in frames
        ],
        at=[list(values).index(v) for values, v in zip(controls.values(), start, strict=True)],
    )


def whole(sentence: str) -> str:
    """A sentence whose numbers stay with their units."""
    return re.sub(r"(?<=\d) (?=%|[kMGT]?(?:FLOP/s|B)\b)", "\u00a0", sentence)


def packed(kinds: str) -> str:
    """Kinds of cells with a number behind each that repeats: ``"aaab"`` is ``"a3b"``."""
    return re.sub(r"(.)\1+", lambda run: f"{run[1]}{len(run[0])}", kinds)


def unpacked(kinds: str) -> str:
    """The kind of every cell again."""
    return re.sub(r"(\D)(\d+)", lambda run: run[1] * int(run[2]), kinds)


def current(controls: list, frames: list, at: list[int]) -> list:
    """The frame of a setting, out of the traits of a `Micro`."""
    sizes = [len(values) for _, values in controls]
    return frames[sum(n * prod(sizes[axis + 1 :]) for axis, n in enumerate(at))]


def parts(sentence: str) -> list[tuple[str, str]]:
    """A sentence in pieces: text, and ``"b"`` if it is strong, ``"a"`` in the colour of A, …"""
    pieces = []
    for number, text in enumerate(sentence.split("*")):
        colour, text = (
            re.match(r"(?:(\w):)?(.*)", text, re.DOTALL).groups() if number % 2 else ("", text)
        )
        pieces.append((text, colour or "strong" if number % 2 else ""))
    return pieces


def said(sentence: str) -> str:
    """A sentence without its marks."""
    return "".join(text for text, _ in parts(sentence))
