"""Bytes per second of several memories, one bar each, on one logarithmic scale."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from kernels.basics.units import quantity
from kernels.lab.plots.charts import empty
from kernels.lab.plots.palette import MEMORY
from kernels.lab.plots.picture import figure


def rates(bars: Mapping[tuple[str, str], float]) -> Figure:
    """Draw bandwidths as bars, in the order given.

    Parameters
    ----------
    bars : mapping of (level, name) to float
        Bytes per second; ``level`` is a key of `MEMORY` and gives the colour.
    """
    if not bars:
        return empty("nothing recorded yet")
    decades = range(int(np.log10(min(bars.values()))), int(np.log10(max(bars.values()))) + 2)
    low, high = 10.0 ** decades[0], 10.0 ** decades[-1]
    fig, ax = figure(4.8, 0.52 * len(bars) + 0.6)
    for y, ((level, name), value) in enumerate(bars.items()):
        ax.barh(y, value - low, 0.4, left=low, color=MEMORY[level], alpha=0.75)
        ax.text(low * 1.1, y - 0.38, f"{name}: {quantity(value, 'B/s')}", va="center", fontsize=9)
    ax.set(xscale="log", xlim=(low, high), ylim=(len(bars) - 0.5, -0.8), yticks=[])
    ticks = [10.0**power for power in decades]
    ax.set_xticks(ticks, [quantity(tick, "B/s", 1) for tick in ticks])
    ax.tick_params(axis="x", which="both", labelsize=8)
    ax.spines["left"].set_visible(False)
    return fig
