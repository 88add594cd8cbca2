"""A block's steps through A and B: which tiles it holds, and what one of its threads does there."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernels.lab.plots.drawings import cells
from kernels.lab.plots.palette import INK, PALETTE, THREAD
from kernels.lab.plots.picture import figure

GAP = 1.5  # between two matrices, in elements
#: Colour and hatch of the pair of tiles of a step.
STEPS = (("#9a5fc9", "//"), ("#2a87b8", "\\\\"), ("#8f7a20", "xx"), ("#c4437a", "||"))

Pair = tuple[int, int]


def tile_steps(
    M: int, N: int, K: int, *, tile: int, block: Pair, thread: Pair, columns: int = 2
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

    Returns
    -------
    Figure
        Hatched: the tiles of the step; framed: the row and the column that the thread multiplies;
        filled: the two elements that it loads, and the one of C that it owns.
    """
    steps = K // tile
    rows = -(-steps // columns)
    unit = 5.0 / (columns * (K + GAP + N))
    height = rows * (unit * (K + GAP + M) + 0.15)
    fig, axes = figure(5.0, height, rows, columns, squeeze=False)
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
        colour, hatch = STEPS[past]
        now = past == step
        tint = dict(facecolor=colour, alpha=0.5 if now else 0.15, edgecolor="none")
        frame = dict(facecolor="none", edgecolor=colour, linewidth=2 if now else 0.8)
        for look in (tint, frame | {"hatch": hatch} if now else frame):
            fill("A", (down, past * tile), (tile, tile), **look)
            fill("B", (past * tile, right), (tile, tile), **look)
    heavy = dict(facecolor="none", edgecolor=INK, linewidth=2.2, zorder=4)
    fill("A", (row, step * tile), (1, tile), **heavy)
    fill("B", (step * tile, col), (tile, 1), **heavy)
    fill("A", (row, step * tile + thread[0]), (1, 1), facecolor=INK, zorder=5)
    fill("B", (step * tile + thread[1], col), (1, 1), facecolor=INK, zorder=5)
    fill("C", (down, right), (tile, tile), facecolor="none", edgecolor=PALETTE["C"], linewidth=2.2)
    fill("C", (row, col), (1, 1), facecolor=THREAD, edgecolor=INK, linewidth=1.2, zorder=5)
    ax.text(0, 0.2, f"t = {step}", fontsize=10, weight="bold", va="top")
    ax.text(0, low - 0.4, "A", weight="bold", va="bottom")
    ax.text(low - 0.4, 0.2, "B", weight="bold", va="top", ha="right")
    ax.text(low + N / 2, low + M + 0.3, "C", weight="bold", va="top", ha="center")
    ax.set_aspect("equal")
    ax.set_xlim(-0.3, low + N + 0.3)
    ax.set_ylim(low + M + 2, -0.3)
