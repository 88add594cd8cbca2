"""The transpose through shared memory: a row in, a column out. Schematic."""

from __future__ import annotations

from matplotlib.figure import Figure

from kernels.lab.plots.drawings import boxes, canvas, cells
from kernels.lab.plots.palette import INK, PALETTE

GAP = 4.4  # between two matrices, in elements


def transpose_path(side: int = 4, warp: int = 1) -> Figure:
    """What one warp does: load a row of A, store it as a row of s, read a column, store a row of B.

    Parameters
    ----------
    side : int
        Rows and columns of the tile; lanes of the warp.
    warp : int
        Which row of the block the warp is.

    Returns
    -------
    Figure
        The tile in A, in s and in B, each element with its number. Hatched: what the warp stores
        in s. Framed: what it reads there.
    """
    apart = side + GAP
    width = 3 * side + 2 * GAP
    fig, ax = canvas(4.6, 4.6 * (side + 2.7) / (width + 0.4), (-0.2, width + 0.2, side + 1.1, -1.6))
    number = lambda row, col: str(row * side + col)  # noqa: E731
    turned = lambda row, col: number(col, row)  # noqa: E731
    for place, (role, title, text) in enumerate(
        (("A", "A", number), ("tile", "s (shared)", number), ("B", "B", turned))
    ):
        cells(ax, side, side, at=(place * apart, 0), role=role, title=title, labels=text)
    boxes(ax, [(0, warp, side, 1), (apart, warp, side, 1)], PALETTE["A"], tint=0.3, hatch="////")
    boxes(ax, [(2 * apart, warp, side, 1)], PALETTE["B"], tint=0.3, hatch="\\\\\\\\")
    boxes(ax, [(apart + warp, 0, 1, side)], INK, tint=0, width=2.4)
    look = dict(arrowstyle="-|>", color=INK, linewidth=1.6, mutation_scale=12)
    y = warp + 0.5
    for start, label in ((side, "load row,\nstore row"), (apart + side, "read column,\nstore row")):
        ax.annotate("", (start + GAP - 0.2, y), (start + 0.2, y), arrowprops=look)
        ax.text(start + GAP / 2, y + 0.4, label, ha="center", va="top", fontsize=8)
    return fig
