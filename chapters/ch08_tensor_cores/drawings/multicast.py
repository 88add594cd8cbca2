"""Two blocks of a cluster: each requests half of a tile of B, and both receive all of it."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernels.lab.plots.palette import HATCH, INK, MEMORY, A, B
from kernels.lab.plots.picture import figure

WIDE, HIGH = 1.0, 0.9  # a piece of a tile
BLOCKS = (0.1, 3.7)  # where the blocks begin
L2, SHARED = 0.5, 3.5  # where the pieces lie, downwards
#: How the two halves of B differ, in colour and without.
HALVES = ((0.25, HATCH["B"]), (0.6, ""))


def multicast() -> Figure:
    """L2 above, the shared memory of two SMs below, and an arrow per delivery."""
    fig, ax = figure(4.6, 3.5)
    ax.set_axis_off()
    ax.set(xlim=(-0.1, 7.0), ylim=(5.35, -0.3))
    ax.add_patch(Rectangle((0, 0), 6.9, 1.6, facecolor=MEMORY["L2"], alpha=0.15, linewidth=0))
    ax.text(0.1, 0.3, "L2", fontsize=9, weight="bold", va="center")
    halves = [2.45 + WIDE * half for half in (0, 1)]
    ax.text(3.45, 0.3, "tile of B", ha="center", va="center", fontsize=9)
    for half, x in enumerate(halves):
        _piece(ax, x, L2, B, half, f"half {half}")
    for block, left in enumerate(BLOCKS):
        shared = dict(facecolor=MEMORY["shared"], alpha=0.15, linewidth=0)
        ax.add_patch(Rectangle((left - 0.1, SHARED - 0.4), 3.3, 1.75, **shared))
        ax.text(left + 1.55, SHARED + 1.15, f"shared memory of block {block}", ha="center",
                va="center", fontsize=9)  # fmt: skip
        ax.text(0.3 if block == 0 else 6.6, L2 + 0.45, f"A for\nblock {block}", va="center",
                ha="left" if block == 0 else "right", fontsize=8.5)  # fmt: skip
        x = 0.7 if block == 0 else 6.2
        own = left if block == 0 else left + 2.1
        _piece(ax, own, SHARED, A, 0, "A")
        _arrow(ax, (x, L2 + HIGH + 0.1), (own + WIDE / 2, SHARED), A)
        for half, start in enumerate(halves):
            at = left + (1.1 if block == 0 else 0) + WIDE * half
            _piece(ax, at, SHARED, B, half, f"half {half}")
            _arrow(ax, (start + WIDE / 2, L2 + HIGH), (at + WIDE / 2, SHARED), B, half)
    ax.text(2.35, 1.95, "block 0\nrequests", ha="right", va="center", fontsize=8.5)
    ax.text(4.65, 1.95, "block 1\nrequests", ha="left", va="center", fontsize=8.5)
    return fig


def _piece(ax: Axes, x: float, y: float, colour: str, half: int, text: str) -> None:
    alpha, hatch = HALVES[half]
    ax.add_patch(Rectangle((x, y), WIDE, HIGH, facecolor=(colour, alpha), edgecolor=colour,
                           hatch=hatch, linewidth=1.4))  # fmt: skip
    box = dict(facecolor="none", edgecolor="none", pad=1)
    ax.text(x + WIDE / 2, y + HIGH / 2, text, ha="center", va="center", fontsize=9, bbox=box,
            color=INK, weight="bold")  # fmt: skip


def _arrow(ax: Axes, start: tuple, end: tuple, colour: str, half: int = 1) -> None:
    look = dict(arrowstyle="-|>", color=colour, linewidth=2, shrinkA=0, shrinkB=1,
                linestyle=("--", "-")[half])  # fmt: skip
    ax.annotate("", end, start, arrowprops=look)
