"""The first screen of the profiler's report, for several kernels at once."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from kernels.lab.plots.palette import HATCH, INK, MEMORY, A
from kernels.lab.plots.picture import figure
from kernels.records.ncu_report import Report

SECTION = "GPU Speed Of Light Throughput"
#: The report's line, and the colour and hatch of its bar.
LINES = {
    "Compute (SM) Throughput": (A, HATCH["A"]),
    "L1/TEX Cache Throughput": (MEMORY["shared"], HATCH["tile"]),
    "L2 Cache Throughput": (MEMORY["L2"], ""),
    "DRAM Throughput": (MEMORY["global"], ".."),
}


def speed_of_light(reports: Mapping[str, Report]) -> Figure:
    """How near each unit is to its limit, in percent: four bars per kernel.

    Parameters
    ----------
    reports : dict of str to Report
        By the kernel's name, in the order of drawing.
    """
    fig, axes = figure(
        5.2, 0.5 + 1.15 * len(reports), rows=len(reports), sharex=True, squeeze=False
    )
    for ax, (name, report) in zip(axes[:, 0], reports.items(), strict=True):
        for place, (line, (colour, hatch)) in enumerate(LINES.items()):
            share = float(report.value(line, SECTION).split()[0])
            ax.barh(place, share, 0.7, color=colour, alpha=0.55, hatch=hatch, edgecolor=INK,
                    linewidth=0.6)  # fmt: skip
            ax.text(share + 1, place, f"{share:.1f}", va="center", fontsize=9)
        ax.set_yticks(range(len(LINES)), LINES, fontsize=9)
        ax.set_title(name, loc="left", fontsize=10)
        ax.set(xlim=(0, 108), ylim=(len(LINES) - 0.5, -0.5))
        ax.tick_params(axis="y", length=0)
    ax.set_xlabel("% of what the unit can do", fontsize=9)
    return fig
