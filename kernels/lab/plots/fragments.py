"""Which lane of a warp holds which element of the matrices that an ``mma`` multiplies."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernels.lab.plots.drawings import canvas, cells, mark
from kernels.lab.plots.palette import PALETTE

#: Rows, columns and upper left corner of each matrix of m16n8k16: A left of C, B above it.
PLACES = {"A": (16, 16, (0, 18)), "B": (16, 8, (18, 0)), "C": (16, 8, (18, 18))}


def holder(matrix: str, row: int, col: int) -> int:
    """The lane that holds an element of A, B or C of m16n8k16."""
    if matrix == "B":
        row, col = col, row
    return row % 8 * 4 + col % 8 // 2


def fragments(lane: int) -> Figure:
    """A, B and C of m16n8k16 with the holder of each pair of elements; one lane's are marked.

    Parameters
    ----------
    lane : int
        0 to 31.
    """
    if not 0 <= lane < 32:
        raise ValueError(f"lane {lane}: a warp has the lanes 0 to 31")
    fig, ax = canvas(4.6, 6.3, (-0.4, 26.4, 34.4, -1.8))
    for name, (rows, columns, (x, y)) in PLACES.items():
        # A lane holds two neighbours: along a row, and in B down a column.
        down, along = (2, 1) if name == "B" else (1, 2)
        title = f"{name}: {rows} × {columns}"
        _pairs(ax, rows, columns, at=(x, y), pair=(down, along), role=name, title=title)
        for row in range(0, rows, down):
            for col in range(0, columns, along):
                number = holder(name, row, col)
                if number == lane:
                    span = (row, row + down), (col, col + along)
                    mark(ax, *span, at=(x, y), role="thread")
                ax.text(x + col + along / 2, y + row + down / 2, str(number), fontsize=8,
                        ha="center", va="center")  # fmt: skip
    return fig


def one_product() -> Figure:
    """What one ``mma`` of the shape m16n8k16 does: C, A and B side by side, with their sizes."""
    fig, ax = canvas(3.6, 1.75, (-0.4, 40.4, 18.6, -2.4))
    for name, x in (("C", 0), ("A", 13), ("B", 32)):
        rows, columns, _ = PLACES[name]
        cells(ax, rows, columns, at=(x, 0), role=name, title=name)
        size = f"{rows} × {columns}"
        ax.text(x + columns / 2, rows + 0.4, size, ha="center", va="top", fontsize=9)
    for x, sign in ((10.5, "+="), (30.5, "·")):
        ax.text(x, 8, sign, ha="center", va="center", weight="bold", fontsize=12)
    return fig


def _pairs(ax: Axes, rows: int, columns: int, *, at, pair, role: str, title: str) -> None:
    """A matrix as a grid of pairs of elements, ``pair`` rows by columns each."""
    (x, y), (down, along) = at, pair
    look = dict(color=PALETTE[role], linewidth=0.6)
    ax.hlines(range(y + down, y + rows, down), x, x + columns, **look)
    ax.vlines(range(x + along, x + columns, along), y, y + rows, **look)
    for alpha, fill in ((0.1, True), (1, False)):
        ax.add_patch(Rectangle(at, columns, rows, alpha=alpha, fill=fill, color=PALETTE[role],
                               linewidth=0 if fill else 1.8))  # fmt: skip
    ax.text(x + columns / 2, y - 0.3, title, ha="center", va="bottom", weight="bold")
