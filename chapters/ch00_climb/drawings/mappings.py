"""One warp at one k of the naive kernel: x as the row, x as the column, and the sectors of each."""

from __future__ import annotations

from collections.abc import Iterable
from math import nan

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernels.lab.plots.palette import HATCH, INK, PALETTE, THREAD
from kernels.lab.plots.picture import figure

LANES, FLOATS = 32, 8  # in a warp; in a sector of 32 bytes
HIGH = 0.62  # of a float that is one unit wide

Point = tuple[float, float]


def mappings() -> Figure:
    """Two panels: the 32 lanes of a warp, the floats they load from A and B, and their sectors.

    On the left x is the row: one sector of A per lane, one sector of B for all. On the right x is
    the column: one sector of A for all, and their floats of B fill whole sectors.
    """
    fig, (left, right) = figure(5.0, 4.0, columns=2, width_ratios=(1, 1.5))
    _x_is_the_row(left)
    _x_is_the_column(right)
    return fig


def _x_is_the_row(ax: Axes) -> None:
    warp, B = FLOATS + 2.6, FLOATS + 8.0
    low, middle = LANES * HIGH, LANES * HIGH / 2
    lanes = [(lane + 0.5) * HIGH for lane in range(LANES)]
    _sectors(ax, "A", (0, 0), rows=LANES, used=(FLOATS - 1, 1))
    _sectors(ax, "B", (B, middle - HIGH / 2), rows=1, used=(0, 1))
    _lines(ax, (((FLOATS, y), (warp, y)) for y in lanes))
    _lines(ax, (((warp + 1, y), (B, middle)) for y in lanes))
    _warp(ax, (warp, 0), (1, low))
    ax.text(warp + 0.5, low + 0.4, "32 lanes", ha="center", va="top", fontsize=9)
    _name(ax, "A", (FLOATS / 2, -0.4), f"A: {LANES}")
    _name(ax, "B", (B + FLOATS / 2, middle - 0.8), "B: 1")
    _frame(ax, f"x is the row:\n{LANES + 1} sectors", (-0.4, B + FLOATS + 0.4))


def _x_is_the_column(ax: Axes) -> None:
    A, warp, B = (LANES / 2 - 4.5, 4.2), 10.0, 15.4
    full = LANES // FLOATS
    lanes = [lane + 0.5 for lane in range(LANES)]
    _sectors(ax, "A", A, rows=1, used=(4, 1))
    for number in range(full):
        _sectors(ax, "B", (number * FLOATS, B), rows=1, used=(0, FLOATS))
    _lines(ax, (((x, warp), (LANES / 2, A[1] + HIGH)) for x in lanes))
    _lines(ax, (((x, warp + HIGH), (x, B)) for x in lanes))
    _warp(ax, (0, warp), (LANES, HIGH))
    _name(ax, "A", (LANES / 2 - 0.5, A[1] - 0.4), "A: 1")
    _name(ax, "B", (LANES / 2, B + 2.0), f"B: {full}")
    _frame(ax, f"x is the column:\n{1 + full} sectors", (-1.5, LANES + 0.4))


def _sectors(ax: Axes, role: str, at: Point, *, rows: int, used: tuple[int, int]) -> None:
    """Sectors below each other; of each, ``(first, count)`` floats are filled."""
    (x, y), (first, count) = at, used
    colour, high = PALETTE[role], rows * HIGH
    look = dict(facecolor=colour, alpha=0.7, edgecolor="none", hatch=HATCH[role])
    ax.add_patch(Rectangle((x + first, y), count, high, **look))
    ax.add_patch(Rectangle(at, FLOATS, high, fill=False, edgecolor=colour, linewidth=1.1))
    between = (y + row * HIGH for row in range(1, rows))
    _lines(ax, (((x, level), (x + FLOATS, level)) for level in between), colour, 0.9)


def _warp(ax: Axes, at: Point, span: Point) -> None:
    ax.add_patch(Rectangle(at, *span, facecolor=THREAD, alpha=0.35, edgecolor="none"))
    ax.add_patch(Rectangle(at, *span, fill=False, edgecolor=INK, linewidth=0.9))


def _lines(
    ax: Axes, ends: Iterable[tuple[Point, Point]], colour: str = THREAD, width: float = 0.5
) -> None:
    """Many lines as one path."""
    points = [point for start, end in ends for point in (start, end, (nan, nan))]
    ax.plot(*zip(*points, strict=True), color=colour, linewidth=width, zorder=0) if points else None


def _name(ax: Axes, role: str, at: Point, text: str) -> None:
    ax.text(*at, text, ha="center", va="bottom", fontsize=10, weight="bold", color=PALETTE[role])


def _frame(ax: Axes, title: str, x: tuple[float, float]) -> None:
    ax.set_title(title, fontsize=10)
    ax.set_axis_off()
    ax.set_xlim(*x)
    ax.set_ylim(LANES * HIGH + 1.8, -1.8)
