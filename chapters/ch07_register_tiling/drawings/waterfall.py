"""Gains as a waterfall: each bar starts where the one above it ends."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from kernels.lab.plots.charts import empty
from kernels.lab.plots.palette import INK, LIBRARY, C
from kernels.lab.plots.picture import figure


def waterfall(speeds: Mapping[str, float], *, library: float | None = None) -> Figure:
    """What each rung adds to the speed of the one above it.

    Parameters
    ----------
    speeds : mapping of title to float
        GFLOP/s, from the first rung to the last.
    library : float, optional
        The library's GFLOP/s, drawn as a line.
    """
    if not speeds:
        return empty("Nothing is recorded yet.")
    fig, ax = figure(5.0, 0.9 + 0.32 * len(speeds))
    longest = max([*speeds.values(), library or 0])
    before = 0.0
    for place, speed in enumerate(speeds.values()):
        first = place == 0
        ax.barh(place, speed - before, 0.76, left=before, color=LIBRARY if first else C,
                hatch="" if first else "..", edgecolor=INK, linewidth=0.6)  # fmt: skip
        ax.text(1.15 * longest, place, f"{speed / 1000:#.3g}", ha="right", va="center", fontsize=9)
        if not first:
            text = f"{speed / before:.2f}×"
            ax.text(1.34 * longest, place, text, ha="right", va="center", fontsize=9)
        before = speed
    if library:
        ax.axvline(library, color=INK, linewidth=1.2, linestyle="--")
        ax.text(library, -0.5, "cuBLAS", ha="right", va="bottom", fontsize=9)
    ax.set_yticks(range(len(speeds)), speeds)
    ax.invert_yaxis()
    ax.set_xlim(0, 1.35 * longest)
    ticks = [tick for tick in ax.get_xticks() if tick <= longest]
    ax.set_xticks(ticks, [f"{tick / 1000:g}" for tick in ticks])
    ax.set_xlabel("TFLOP/s")
    ax.tick_params(axis="y", length=0, labelsize=9)
    return fig
