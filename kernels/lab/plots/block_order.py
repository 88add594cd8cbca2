"""The order of the blocks: which tiles of C run together, and the strips of A and B they need."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernels.host.tiles import tile_of
from kernels.lab.plots.chip import boxes
from kernels.lab.plots.palette import PALETTE
from kernels.lab.plots.picture import figure


def first_blocks(group: int, together: int, across: int, down: int) -> list[tuple[int, int]]:
    """The tiles (row, column) that the blocks numbered below ``together`` compute.

    Parameters
    ----------
    group : int
        Rows of tiles that blocks take together, column by column; 1 is the order of the numbers.
    together : int
        How many blocks run at the same time.
    across, down : int
        Tiles of C in each direction.
    """
    return [tile_of(number, across, down, group) for number in range(together)]


def block_order(
    groups: Sequence[int], *, together: int = 264, across: int = 64, down: int = 64
) -> Figure:
    """A panel per group: C's tiles that run together, with the row strips of A and columns of B."""
    fig, axes = figure(5.0, 2.7, columns=len(groups), squeeze=False)
    for ax, group in zip(axes[0], groups, strict=True):
        _panel(ax, group, first_blocks(group, together, across, down), across, down)
    return fig


def _panel(ax: Axes, group: int, tiles, across: int, down: int) -> None:
    rows, columns = ({tile[i] for tile in tiles} for i in (0, 1))
    edge, gap = across / 10, across / 20
    boxes(ax, [(column, row, 1, 1) for row, column in tiles], PALETTE["C"], tint=0.6, width=0.2)
    boxes(ax, [(-edge - gap, row, edge, 1) for row in rows], PALETTE["A"], tint=0.7, width=0.2)
    boxes(ax, [(c, -edge - gap, 1, edge) for c in columns], PALETTE["B"], tint=0.7, width=0.2)
    for corner, span, role in (((0, 0), (across, down), "C"), ((-edge - gap, 0), (edge, down), "A"),
                               ((0, -edge - gap), (across, edge), "B")):  # fmt: skip
        frame = dict(facecolor="none", edgecolor=PALETTE[role], linewidth=1.4)
        ax.add_patch(Rectangle(corner, *span, **frame))
    step = "1 row at a time" if group == 1 else f"{group} rows at a time"
    told = f"{step}\nA: {len(rows)}, B: {len(columns)} strips"
    ax.text(across / 2, down + gap, told, ha="center", va="top", fontsize=9)
    ax.set_axis_off()
    ax.set_aspect("equal")
    ax.set_xlim(-edge - 2 * gap, across + gap)
    ax.set_ylim(down + 6 * gap, -edge - 2 * gap)
