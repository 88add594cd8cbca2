"""What a consumer needs per cycle, against what shared memory delivers."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from kernels.lab.plots.palette import HATCH, INK, PALETTE, THREAD
from kernels.lab.plots.picture import figure


def demand(wanted: Mapping[str, float], limit: float) -> Figure:
    """One bar per kernel, and a line at the limit.

    Parameters
    ----------
    wanted : dict of str to float
        By a kernel's name: the bytes per cycle that it needs.
    limit : float
        Bytes per cycle that shared memory delivers.
    """
    fig, ax = figure(4.6, 0.8 + 0.34 * len(wanted))
    for place, (_, value) in enumerate(wanted.items()):
        role = "thread" if value > limit else "C"
        ax.barh(place, value, 0.7, facecolor=PALETTE[role], alpha=0.45, edgecolor=INK,
                linewidth=0.6, hatch="//" if value > limit else HATCH["C"])  # fmt: skip
        ax.text(value + 3, place, f"{value:.0f}", va="center", fontsize=9)
    ends = (-0.5, len(wanted) - 0.5)
    ax.plot((limit, limit), ends, color=THREAD, linewidth=2, linestyle="--")
    ax.text(limit, -0.62, f"delivered: {limit:.0f}", ha="center", va="bottom", fontsize=9)
    ax.set_yticks(range(len(wanted)), wanted, fontsize=9)
    ax.set(xlim=(0, 1.15 * max(limit, *wanted.values())), ylim=(len(wanted) - 0.5, -1.0))
    ax.set_xlabel("bytes per cycle from shared memory")
    return fig
