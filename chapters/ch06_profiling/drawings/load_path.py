"""The path of a load through the GPU, and how busy each unit on it is."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernels.basics.units import percent
from kernels.lab.plots.drawings import canvas
from kernels.lab.plots.palette import INK, MEMORY, THREAD, TILE

#: A unit by its counter: what it is called, its left and top edge, and its colour.
UNITS = {
    "issue_slots": ("warp\nschedulers", 0, 0, TILE),
    "fma_unit": ("FMA\nunits", 0, 2.6, THREAD),
    "l1_throughput": ("load/store\nunit, L1", 2.6, 0, MEMORY["L1"]),
    "l2_throughput": ("L2", 5.2, 0, MEMORY["L2"]),
    "dram_throughput": ("DRAM", 7.8, 0, MEMORY["global"]),
}
WIDE, HIGH = 2.0, 1.8


def load_path(busy: Mapping[str, float]) -> Figure:
    """Five units with arrows between them, each filled as far as it is busy.

    Parameters
    ----------
    busy : mapping of counter to share
        Keys of `UNITS`, 0 to 1; a unit that is missing stays empty and shows no share.
    """
    fig, ax = canvas(4.6, 2.2, (-0.1, 9.9, 4.5, -0.1))
    for counter, (name, x, y, colour) in UNITS.items():
        share = busy.get(counter)
        fill = HIGH * (share or 0)
        ax.add_patch(Rectangle((x, y + HIGH - fill), WIDE, fill, fc=colour, alpha=0.35))
        ax.add_patch(Rectangle((x, y), WIDE, HIGH, fill=False, ec=colour, lw=1.5))
        ax.text(x + WIDE / 2, y + 0.6, name, ha="center", va="center", fontsize=8)
        text = "" if share is None else percent(share)
        ax.text(x + WIDE / 2, y + 1.4, text, ha="center", va="center", weight="bold", fontsize=9)
    arrow = {"arrowstyle": "->", "color": INK}
    for start in (2.0, 4.6, 7.2):
        ax.annotate("", (start + 0.6, 0.7), (start, 0.7), arrowprops=arrow)
        ax.annotate("", (start, 1.2), (start + 0.6, 1.2), arrowprops=arrow)
    ax.annotate("", (1, 2.6), (1, 1.8), arrowprops=arrow)
    return fig
