"""Where the time of a training step goes: a bar for each way, cut by what its kernels are for."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from kernels.basics.units import quantity
from kernels.lab.plots.palette import HATCH, INK, PALETTE
from kernels.lab.plots.picture import figure


def step_parts(steps: Mapping[str, Mapping[str, float]]) -> Figure:
    """Milliseconds of a step, a row for each kind of kernel and in it a bar for each way.

    Parameters
    ----------
    steps : dict of str to dict of str to float
        By a way's title the seconds of each kind; all have the same kinds.
    """
    first = next(iter(steps.values()))
    kinds = sorted(first, key=first.__getitem__, reverse=True)
    fig, axes = figure(5.2, 0.7 + 0.42 * len(kinds), squeeze=False)
    ax, height = axes[0, 0], 0.8 / len(steps)
    for number, ((title, parts), role) in enumerate(zip(steps.items(), "BA", strict=False)):
        places = [place + (number - (len(steps) - 1) / 2) * height for place in range(len(kinds))]
        times = [1e3 * parts[kind] for kind in kinds]
        ax.barh(places, times, height, color=PALETTE[role], alpha=0.55, hatch=HATCH[role],
                edgecolor=INK, linewidth=0.6, label=title)  # fmt: skip
        for place, kind in zip(places, kinds, strict=True):
            told = quantity(parts[kind], "s")
            ax.text(1e3 * parts[kind] + 0.1, place, told, va="center", fontsize=8)
    ax.set_yticks(range(len(kinds)), kinds, fontsize=9)
    ax.set(ylim=(len(kinds) - 0.5, -0.5), xlabel="milliseconds of GPU time per step")
    ax.set_xlim(0, 1.15e3 * max(max(parts.values()) for parts in steps.values()))
    ax.tick_params(axis="y", length=0)
    ax.legend(loc="lower right", fontsize=8)
    return fig
