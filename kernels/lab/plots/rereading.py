"""Threads of one row of C, and the one row of A that each of them reads."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernels.lab.plots.drawings import canvas, cells, mark
from kernels.lab.plots.palette import THREAD

#: How the arrows of each thread are drawn, so that they differ without colour.
LINES = ("-", (0, (2.5, 1.5)), ":", "-.")
GAP = 1.5  # between two matrices, in elements


def rereading(M: int, N: int, K: int, *, row: int, columns: Sequence[int]) -> Figure:
    """C = A·B with some threads of one row of C: one row of A each, the same; a column of B each.

    Parameters
    ----------
    M, N, K : int
        Shapes, in elements; keep them below about 12.
    row : int
        The row of C and of A that the threads share.
    columns : sequence of int
        The column of each thread, at most four; the threads are numbered in this order.

    Returns
    -------
    Figure
        A left of C and B above it; arrows run along A's row once per thread, and down each column.
    """
    low = K + GAP
    at_A, at_B, at_C = (0, low), (low, 0), (low, low)
    wide, high = low + N, low + M
    unit = min(0.33, 6.4 / wide)
    extent = (-1.2, wide + 0.3, high + 0.3, -1.2)
    fig, ax = canvas(unit * (wide + 1.5), unit * (high + 1.5), extent)
    cells(ax, M, K, at=at_A, role="A", title="A")
    cells(ax, K, N, at=at_B, role="B")
    # Beside B: above it, the arrows start.
    ax.text(low - 0.4, K / 2, "B", ha="right", va="center", weight="bold")
    cells(ax, M, N, at=at_C, role="C", title="C")
    mark(ax, (row, row + 1), (0, K), at=at_A, role="A", fill=0.2)
    for number, column in enumerate(columns):
        mark(ax, (0, K), (column, column + 1), at=at_B, role="B", fill=0.2)
        mark(ax, (row, row + 1), (column, column + 1), at=at_C, role="thread", fill=0.5)
        x = low + column + 0.5
        along = low + row + (number + 0.6) / (len(columns) + 0.2)
        _arrow(ax, number, (-0.4, along), (K + 0.6, along))
        _arrow(ax, number, (x, -0.4), (x, K + 0.6))
        _number(ax, number, (x, low + row + 0.5))
    return fig


def _arrow(ax: Axes, number: int, start: tuple[float, float], end: tuple[float, float]) -> None:
    look = dict(arrowstyle="-|>", color=THREAD, linewidth=1.8, linestyle=LINES[number],
                shrinkA=0, shrinkB=0, mutation_scale=10)  # fmt: skip
    ax.annotate("", end, start, arrowprops=look)
    back = [s - 0.32 if s < 0 else s for s in start]
    _number(ax, number, back)


def _number(ax: Axes, number: int, at: Sequence[float]) -> None:
    ax.text(*at, str(number + 1), ha="center", va="center", fontsize=9, weight="bold")
