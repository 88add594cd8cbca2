"""A block's steps through A and B: which tiles it holds, and what one of its threads does there."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernels.lab.plots.drawings import cells
from kernels.lab.plots.palette import HATCH, INK, PALETTE, THREAD
from kernels.lab.plots.picture import figure

GAP = 1.5  # between two matrices, in elements
MARGIN = 1.6  # between two panels
LARGE = 13  # letters that a telephone shows large enough

Pair = tuple[int, int]


def tile_steps(
    M: int,
    N: int,
    K: int,
    *,
    tile: int,
    block: Pair,
    thread: Pair,
    columns: int = 2,
    width: float = 5.0,
) -> Figure:
    """One panel per step: A left of C and B above it, with the tiles that a block holds.

    Parameters
    ----------
    M, N, K : int
        Shapes, in elements; ``tile`` divides K, at most four times.
    tile : int
        Side of a tile.
    block, thread : (x, y)
        Whose tile of C is framed, and whose element is filled.
    columns : int
        Panels side by side.
    width : float
        Of the picture, in inches.

    Returns
    -------
    Figure
        Hatched: the tiles of the step; framed: the row and the column that the thread multiplies;
        filled: the two elements that it loads, and the one of C that it owns.
    """
    steps = K // tile
    rows = -(-steps // columns)
    unit = width / (columns * (K + GAP + N + MARGIN))
    height = rows * unit * (K + GAP + M + MARGIN + 1)
    fig, axes = figure(width, height, rows, columns, squeeze=False)
    for step, ax in enumerate(axes.flat):
        ax.set_axis_off()
        if step < steps:
            _panel(ax, (M, N, K), tile, block, thread, step)
    return fig


def _panel(
    ax: Axes, shape: tuple[int, int, int], tile: int, block: Pair, thread: Pair, step: int
) -> None:
    M, N, K = shape
    low = K + GAP
    at = {"A": (0, low), "B": (low, 0), "C": (low, low)}
    down, right = block[1] * tile, block[0] * tile
    row, col = down + thread[1], right + thread[0]

    def fill(name: str, first: Pair, span: Pair, **look) -> None:
        """Mark rows and columns from `first` of a matrix: ``span`` is (rows, columns)."""
        (x, y), (top, left), (rows, columns) = at[name], first, span
        ax.add_patch(Rectangle((x + left, y + top), columns, rows, **look))

    for name, size in {"A": (M, K), "B": (K, N), "C": (M, N)}.items():
        cells(ax, *size, at=at[name], role=name, tint=0.06)
    for past in range(step + 1):
        places = {"A": (down, past * tile), "B": (past * tile, right)}
        for name, first in places.items():
            colour = PALETTE[name]
            if past == step:
                tint = dict(facecolor=colour, alpha=0.45, edgecolor="none")
                frame = dict(facecolor="none", edgecolor=colour, linewidth=2, hatch=HATCH[name])
            else:
                tint = dict(facecolor=colour, alpha=0.18, edgecolor="none")
                frame = dict(facecolor="none", edgecolor=colour, linewidth=1.2, linestyle="--")
            for look in (tint, frame):
                fill(name, first, (tile, tile), **look)
    heavy = dict(facecolor="none", edgecolor=INK, linewidth=2.4, zorder=4)
    fill("A", (row, step * tile), (1, tile), **heavy)
    fill("B", (step * tile, col), (tile, 1), **heavy)
    fill("A", (row, step * tile + thread[0]), (1, 1), facecolor=INK, zorder=5)
    fill("B", (step * tile + thread[1], col), (1, 1), facecolor=INK, zorder=5)
    fill("C", (down, right), (tile, tile), facecolor="none", edgecolor=PALETTE["C"], linewidth=2.4)
    fill("C", (row, col), (1, 1), facecolor=THREAD, edgecolor=INK, linewidth=1.2, zorder=5)
    names = dict(fontsize=LARGE, weight="bold")
    ax.text(0, 0.2, f"t = {step}", va="top", **names)
    ax.text(0, low - 0.4, "A", va="bottom", **names)
    ax.text(low - 0.5, 0.2, "B", va="top", ha="right", **names)
    ax.text(low + N / 2, low + M + 0.3, "C", va="top", ha="center", **names)
    ax.set_aspect("equal")
    ax.set_xlim(-MARGIN / 2, low + N + MARGIN / 2)
    ax.set_ylim(low + M + MARGIN + 0.8, -0.2)
