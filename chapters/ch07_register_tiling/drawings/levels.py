"""The three cuts of C: block tile, warp tile and thread tile."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernels.lab.plots.drawings import canvas
from kernels.lab.plots.palette import HATCH, INK, PALETTE

SIDE = 16  # of the block tile, in the drawing's units


def tile_levels() -> Figure:
    """C cut three times: a block tile, in it a warp tile, and in that a thread tile; a schematic.

    Returns
    -------
    Figure
        At the right the thread tile again, enlarged, with what it needs of A and B per k.
    """
    fig, ax = canvas(5.0, 3.5, (-5.2, 28.6, 16.6, -5))
    _box(ax, (0, 0), (SIDE, SIDE), "C", 0.1, "block tile\nBM × BN", (11.6, 12))
    _box(ax, (0, 0), (8, 8), "tile", 0.15, "warp tile", (4, 6.8))
    _box(ax, (2, 2), (2, 2), "thread", 0.6)
    _box(ax, (-4.6, 0), (3.6, SIDE), "A", 0.15, "A\nBM\n× BK", (-2.8, 11))
    _box(ax, (-4.6, 2), (3.6, 2), "A", 0.6)
    _box(ax, (0, -4.6), (SIDE, 3.6), "B", 0.15, "B, BK × BN", (10.5, -2.8))
    _box(ax, (2, -4.6), (2, 3.6), "B", 0.6)
    _box(ax, (20.5, 4), (8, 8), "thread", 0.2, "thread tile\nTM × TN sums\nin registers", (24.5, 8))
    _box(ax, (19, 4), (0.9, 8), "A", 0.6)
    _box(ax, (20.5, 2.5), (8, 0.9), "B", 0.6)
    ax.text(24.5, 1.8, "TN numbers of B", ha="center", va="bottom", fontsize=8)
    ax.text(23.6, 12.6, "TM numbers of A, left", ha="center", va="top", fontsize=8)
    ax.annotate("", (18.8, 6), (4.2, 3), arrowprops=dict(arrowstyle="->", color=INK))
    return fig


def _box(ax: Axes, at, span, role: str, tint: float, text: str = "", middle=None) -> None:
    colour = PALETTE[role]
    ax.add_patch(Rectangle(at, *span, facecolor=colour, alpha=tint, edgecolor="none"))
    look = dict(facecolor="none", edgecolor=colour, linewidth=0, alpha=0.3, hatch=HATCH[role])
    if tint > 0.5:
        ax.add_patch(Rectangle(at, *span, **look))
    ax.add_patch(Rectangle(at, *span, facecolor="none", edgecolor=colour, linewidth=1.5))
    if text:
        ax.text(*middle, text, ha="center", va="center", fontsize=8.5)
