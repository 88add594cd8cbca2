"""The numbers that a thread loads per k: one load per number, and one load per four."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernels.lab.plots.drawings import cells
from kernels.lab.plots.palette import INK, THREAD
from kernels.lab.plots.picture import figure

BETWEEN = 1.5  # the numbers of A and those of B, in numbers


def wide_loads(TM: int = 8, TN: int = 8, *, width: int = 4) -> Figure:
    """Two rows: TM numbers of A and TN of B, with an arrow per load.

    Parameters
    ----------
    TM, TN : int
        Numbers of A and of B that a thread needs; ``width`` divides both.
    width : int
        Numbers per load in the second row; in the first it is one.
    """
    fig, axes = figure(5.0, 2.2, rows=2)
    for ax, numbers in zip(axes, (1, width), strict=True):
        _row(ax, TM, TN, numbers)
    return fig


def _row(ax: Axes, TM: int, TN: int, numbers: int) -> None:
    start = TM + BETWEEN
    loads = 0
    for role, first, count in (("A", 0, TM), ("B", start, TN)):
        cells(ax, 1, count, at=(first, 0), role=role, tint=0.35)
        for place in range(0, count, numbers):
            _load(ax, first + place, numbers)
            loads += 1
        ax.text(first + count / 2, 1.2, role, ha="center", va="top", weight="bold")
    end = start + TN
    each = "float" if numbers == 1 else "floats"
    ax.text(end + 0.7, -0.6, f"{loads} loads of\n{numbers} {each}", va="center", fontsize=10)
    ax.set_axis_off()
    ax.set_xlim(-0.2, end + 5.6)
    ax.set_ylim(2.2, -2.2)


def _load(ax: Axes, first: float, numbers: int) -> None:
    """One load: an arrow, and for several numbers the bracket that it fills."""
    middle = first + numbers / 2
    if numbers > 1:
        ax.add_patch(
            Rectangle((first + 0.1, -0.5), numbers - 0.2, 0.25, facecolor=THREAD, alpha=0.6)
        )
        ax.add_patch(Rectangle((first, 0), numbers, 1, fill=False, edgecolor=INK, linewidth=1.4))
    look = dict(arrowstyle="-|>", color=THREAD, linewidth=1.2 if numbers == 1 else 3,
                mutation_scale=8 if numbers == 1 else 14, shrinkA=0, shrinkB=0)  # fmt: skip
    ax.annotate("", (middle, -0.1 if numbers == 1 else -0.5), (middle, -2.0), arrowprops=look)
