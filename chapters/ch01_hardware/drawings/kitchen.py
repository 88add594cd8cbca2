"""Chapter 1's one comparison: a large kitchen, with the GPU's terms beside it."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.patches import Circle

from kernels.lab.plots.drawings import boxes, canvas
from kernels.lab.plots.palette import INK, LIBRARY, MEMORY, THREAD, TILE

#: Each part of the kitchen and the GPU's term for it, from the top down.
TERMS = {
    "junior chef": "thread",
    "hands": "registers",
    "workbench": "shared memory",
    "station": "SM",
    "pantry": "global memory",
    "van from town": "link to the host",
}


def kitchen(stations: int = 3, chefs: int = 4) -> Figure:
    """A kitchen of stations, its parts named on the left and the GPU's on the right. Schematic.

    Parameters
    ----------
    stations : int
        Stations, each with a workbench of its own.
    chefs : int
        Junior chefs at each.
    """
    fig, ax = canvas(4.4, 2.65, (-5.6, 16.3, 11.2, -1.6))
    heights = dict(zip(TERMS, (0.95, 2.3, 3.6, 4.9, 7.1, 10.3), strict=True))
    wide = 10.0 / stations
    rooms = [place * wide + 0.1 for place in range(stations)]
    step = (wide - 0.4) / chefs
    middles = [left + 0.1 + (chef + 0.5) * step for left in rooms for chef in range(chefs)]
    hands = [x + side * step - 0.08 for x in middles for side in (-0.22, 0.22)]
    boxes(ax, [(left, 0, wide - 0.2, 5.4) for left in rooms], TILE, tint=0.06, width=1.4)
    for x in middles:
        ax.add_patch(Circle((x, heights["junior chef"]), 0.33, color=THREAD, alpha=0.6))
    boxes(ax, [(x, 2.05, 0.16, 0.5) for x in hands], MEMORY["registers"], tint=0.8)
    boxes(
        ax, [(left + 0.2, 3.1, wide - 0.6, 1.0) for left in rooms], MEMORY["shared"], hatch="\\\\"
    )
    boxes(ax, [(0.1, 6.2, 9.8, 1.8)], MEMORY["global"], hatch="//")
    ax.annotate("", (5, 8.2), (5, 9.8), arrowprops={"arrowstyle": "->", "color": INK})
    boxes(ax, [(4.2, 9.8, 1.6, 1.0)], MEMORY["host"], tint=0.5)
    for part, y in heights.items():
        ax.text(-0.5, y, part, ha="right", va="center", fontsize=9)
        ax.text(10.5, y, TERMS[part], va="center", fontsize=9, weight="bold")
        edge = 4.1 if part == "van from town" else 0.05
        for start, end in ((-0.35, edge), (10.35, 10.0 - edge)):
            ax.plot([start, end], [y, y], color=LIBRARY, linewidth=0.7, linestyle=":")
    ax.text(-0.5, -0.8, "the kitchen", ha="right", style="italic", fontsize=9)
    ax.text(10.5, -0.8, "the GPU", style="italic", fontsize=9)
    return fig
