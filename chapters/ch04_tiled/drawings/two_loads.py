"""Shared memory against the FMA units of an SM, cycle by cycle."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernels.lab.plots.palette import HATCH, INK, TILE, C
from kernels.lab.plots.picture import figure


def two_loads(cores: int = 128, *, loads: int = 2, cycles: int = 8) -> Figure:
    """Schematic: one wavefront per cycle from shared memory, and the FMAs that can follow.

    Parameters
    ----------
    cores : int
        FP32 cores of an SM; 32 of them do one warp FMA per cycle.
    loads : int
        Wavefronts from shared memory per warp FMA.
    cycles : int
        How many are drawn.

    Returns
    -------
    Figure
        Above, every cycle of shared memory is taken; below, the slots of the FMA units, of which
        one in ``loads * cores / 32`` is filled.
    """
    lanes = cores // 32
    fig, ax = figure(5.0, 0.9 + 0.36 * (lanes + 2))
    for cycle in range(cycles):
        colour = dict(facecolor=TILE, alpha=0.5, hatch=HATCH["A"])
        ax.add_patch(Rectangle((cycle, 0), 1, 1, edgecolor=INK, linewidth=0.7, **colour))
        what = "AB"[cycle % 2] if loads == 2 else ""
        ax.text(cycle + 0.5, 0.5, what, ha="center", va="center", weight="bold", fontsize=9)
        for lane in range(lanes):
            busy = lane == 0 and cycle % loads == loads - 1
            look = dict(facecolor=C, alpha=0.8) if busy else dict(fill=False)
            slot = Rectangle((cycle, 1.6 + lane), 1, 1, edgecolor=INK, linewidth=0.7, **look)
            ax.add_patch(slot)
    ax.set_yticks(
        (0.5, 1.6 + lanes / 2),
        ("shared memory:\n1 wavefront\nper cycle", f"FMA units:\n{lanes} warp FMAs\nper cycle"),
    )
    ax.set_xticks([cycle + 0.5 for cycle in range(cycles)], range(1, cycles + 1))
    ax.set_xlabel("cycle")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_xlim(0, cycles)
    ax.set_ylim(1.7 + lanes, -0.1)
    return fig
