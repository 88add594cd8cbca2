"""Tiles at the edges: what is missing past K, and a thread that loads though it owns nothing."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernels.lab.plots.palette import INK, PALETTE, THREAD
from kernels.lab.plots.picture import figure


def zero_fill(M: int, N: int, K: int, tile: int, thread: tuple[int, int]) -> Figure:
    """The last step's tile of A, and the last block that hangs over the right edge of C.

    Parameters
    ----------
    M, N, K : int
        Shapes, in elements; ``tile`` divides neither N nor K.
    tile : int
        Side of a tile, in elements.
    thread : (x, y)
        A thread of that block that owns no element of C; what it loads is pointed at.
    """
    fig, (left, right) = figure(5.0, 3.3, columns=2)
    columns = K % tile
    small = dict(ha="center", va="center", fontsize=9)
    _tile(left, "A", tile, columns, f"sA, last step:\nk from {K - columns}")
    _edge(left, columns, tile, f"k = {K}")
    left.text(columns / 2, tile / 2, f"{columns} columns\nof A", **small)
    left.text((columns + tile) / 2, tile / 2, "zeros", weight="bold", **small)

    columns = N % tile
    x, y = thread
    _tile(right, "C", tile, columns, f"block ({N // tile}, 0) of C:\ncolumns from {N - columns}")
    _edge(right, columns, tile, f"column {N}")
    look = dict(facecolor=THREAD, edgecolor=INK, linewidth=1.2, zorder=5)
    right.add_patch(Rectangle((x, y), 1, 1, **look))
    right.annotate(
        f"thread ({x}, {y})\nowns nothing here,\nbut fills\nsA[{y}, {x}]", (x + 0.5, y + 1),
        (columns / 2, tile * 0.62), zorder=6, **small,
        arrowprops=dict(arrowstyle="-|>", color=THREAD, linewidth=1.6),
    )  # fmt: skip
    return fig


def _tile(ax: Axes, role: str, tile: int, columns: int, title: str) -> None:
    """A tile whose first `columns` columns exist."""
    colour = PALETTE[role]
    ax.add_patch(Rectangle((0, 0), columns, tile, facecolor=colour, alpha=0.25, edgecolor="none"))
    missing = dict(fill=False, edgecolor="#808080", hatch="/", linewidth=0, alpha=0.6)
    ax.add_patch(Rectangle((columns, 0), tile - columns, tile, **missing))
    ax.add_patch(Rectangle((0, 0), tile, tile, fill=False, edgecolor=colour, linewidth=2))
    ax.set_title(title, fontsize=10)
    ax.set_axis_off()
    ax.set_aspect("equal")
    ax.set_xlim(-1, tile + 1)
    ax.set_ylim(tile + 2.5, -1)


def _edge(ax: Axes, columns: int, tile: int, name: str) -> None:
    ax.plot([columns, columns], [-0.6, tile + 0.6], color=INK, linewidth=1.6)
    ax.text(columns, tile + 0.8, name, ha="center", va="top", fontsize=9)
