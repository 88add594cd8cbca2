"""The outer product of one thread: the edges it loads, the area it computes, step by step."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernels.lab.plots.drawings import cells
from kernels.lab.plots.palette import INK
from kernels.lab.plots.picture import figure

GAP = 0.8  # between an edge and the area, in elements


def outer_product(TM: int = 8, TN: int = 8, *, at: tuple[int, int] = (2, 5)) -> Figure:
    """A thread tile with its edges, and below it three steps of k, each adding to the same sums.

    Parameters
    ----------
    TM, TN : int
        Rows and columns of the thread tile.
    at : (row, column)
        The sum that is marked, with the two numbers that meet in it.

    Returns
    -------
    Figure
        On the left one step with a marked sum; beside it k = 0, 1 and 2: new edges, and an area
        whose shade grows.
    """
    fig, axes = figure(5.0, 2.6, columns=2, width_ratios=(1, 1.2))
    large, rest = axes
    _step(large, TM, TN, sums=0.12)
    row, col = at
    marked = dict(fill=False, edgecolor=INK, linewidth=2, zorder=5)
    for corner in ((-1 - GAP, row), (col, -1 - GAP), (col, row)):
        large.add_patch(Rectangle(corner, 1, 1, **marked))
    line = dict(color=INK, linewidth=1.2, linestyle=(0, (2.5, 1.5)), zorder=4)
    large.plot([-GAP, col], [row + 0.5] * 2, **line)
    large.plot([col + 0.5] * 2, [-GAP, row], **line)
    large.text(col + 0.5, row + 0.5, "+=", ha="center", va="center", fontsize=8, zorder=6)
    large.text(-1.5 - GAP, TM / 2, f"a: {TM}", ha="right", va="center", fontsize=10)
    large.text(TN / 2, -1.4 - GAP, f"b: {TN}", ha="center", va="bottom", fontsize=10)
    large.text(TN / 2, TM + 0.4, f"acc: {TM * TN} sums", ha="center", va="top", fontsize=10)
    _frame(large, TM, TN)
    _steps(rest, TM, TN)
    return fig


def _steps(ax: Axes, TM: int, TN: int) -> None:
    """Three steps side by side: the edges change places, the area stays."""
    wide = TN + 3.5
    for k in range(3):
        _step(ax, TM, TN, sums=0.15 + 0.25 * k, x=k * wide)
        ax.text(k * wide + TN / 2, TM + 0.8, f"k = {k}", ha="center", va="top", fontsize=10)
    ax.set_axis_off()
    ax.set_aspect("equal")
    ax.set_xlim(-3, 2 * wide + TN + 0.5)
    ax.set_ylim(TM + 4, -4)


def _step(ax: Axes, TM: int, TN: int, *, sums: float, x: float = 0) -> None:
    cells(ax, TM, 1, at=(x - 1 - GAP, 0), role="A", tint=0.6)
    cells(ax, 1, TN, at=(x, -1 - GAP), role="B", tint=0.6)
    cells(ax, TM, TN, at=(x, 0), role="C", tint=sums)


def _frame(ax: Axes, TM: int, TN: int) -> None:
    ax.set_axis_off()
    ax.set_aspect("equal")
    ax.set_xlim(-5, TN + 0.5)
    ax.set_ylim(TM + 2, -4.2)
