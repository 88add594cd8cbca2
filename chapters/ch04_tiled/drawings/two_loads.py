"""Shared memory against the FP32 lanes of an SM, cycle by cycle."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernels.lab.plots.palette import HATCH, INK, TILE, C
from kernels.lab.plots.picture import figure


def two_loads(lanes: int = 128, *, loads: int = 2, cycles: int = 8) -> Figure:
    """Schematic: one wavefront per cycle from shared memory, and the FMAs that can follow.

    Parameters
    ----------
    lanes : int
        FP32 lanes of an SM; 32 of them do one warp FMA per cycle.
    loads : int
        Wavefronts from shared memory per warp FMA.
    cycles : int
        How many are drawn.

    Returns
    -------
    Figure
        Above, every cycle of shared memory is taken; below, the slots of the FP32 lanes, of which
        one in ``loads * lanes / 32`` is filled.
    """
    slots = lanes // 32
    fig, ax = figure(5.0, 0.9 + 0.36 * (slots + 2))
    for cycle in range(cycles):
        colour = dict(facecolor=TILE, alpha=0.5, hatch=HATCH["A"])
        ax.add_patch(Rectangle((cycle, 0), 1, 1, edgecolor=INK, linewidth=0.7, **colour))
        what = "AB"[cycle % 2] if loads == 2 else ""
        ax.text(cycle + 0.5, 0.5, what, ha="center", va="center", weight="bold", fontsize=9)
        for slot in range(slots):
            busy = slot == 0 and cycle % loads == loads - 1
            look = dict(facecolor=C, alpha=0.8) if busy else dict(fill=False)
            box = Rectangle((cycle, 1.6 + slot), 1, 1, edgecolor=INK, linewidth=0.7, **look)
            ax.add_patch(box)
    ax.set_yticks(
        (0.5, 1.6 + slots / 2),
        ("shared memory:\n1 wavefront\nper cycle", f"FP32 lanes:\n{slots} warp FMAs\nper cycle"),
    )
    ax.set_xticks([cycle + 0.5 for cycle in range(cycles)], range(1, cycles + 1))
    ax.set_xlabel("cycle")
    ax.tick_params(length=0, pad=6)
    ax.spines[:].set_visible(False)
    ax.set_xlim(0, cycles)
    ax.set_ylim(1.7 + slots, -0.1)
    return fig
