"""Charts of profiles: what warps wait for, one roof a level of memory, copies beside kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from kernels.basics.units import percent, quantity
from kernels.lab.plots.charts import _decades
from kernels.lab.plots.palette import INK, LIBRARY, MEMORY, THREAD, TILE, A, B, C
from kernels.lab.plots.picture import figure
from kernels.records.roofline import Point, Roof

#: Colour and hatch of a reason to wait; what is not named here is "other".
REASONS = {
    "lg_throttle": ("queue to global memory", A, ""),
    "long_scoreboard": ("data from L1, L2, DRAM", A, "//"),
    "mio_throttle": ("queue to shared memory", TILE, ""),
    "short_scoreboard": ("data from shared memory", TILE, "//"),
    "barrier": ("barrier", THREAD, ""),
    "math_pipe_throttle": ("busy arithmetic unit", B, ""),
    "dispatch_stall": ("dispatcher", B, "//"),
    "wait": ("fixed latency", C, "//"),
    "not_selected": ("its turn", C, ""),
    "selected": ("issues", LIBRARY, ""),
}
OTHER = ("other", LIBRARY, "..")


def stalls(profiles: Mapping[str, Mapping[str, float]]) -> Figure:
    """How a warp's time divides between reasons to wait, a bar a kernel.

    Parameters
    ----------
    profiles : mapping of name to stalls
        The ``stalls`` of a profile: cycles for each instruction issued, by reason.
    """
    fig, ax = figure(4.8, 1.9 + 0.36 * len(profiles))
    drawn = []
    for place, found in enumerate(profiles.values()):
        whole, left = sum(found.values()), 0.0
        parts = {name: found.get(name, 0.0) for name in REASONS}
        parts["other"] = whole - sum(parts.values())
        for name, cycles in parts.items():
            share = cycles / whole if whole else 0
            if share < 0.005:
                continue
            _, colour, hatch = REASONS.get(name, OTHER)
            ax.barh(place, share, 0.62, left=left, color=colour, hatch=hatch, edgecolor=INK,
                    linewidth=0.6)  # fmt: skip
            drawn.append(name)
            left += share
        ax.text(1.01, place, f"{whole:.1f} cycles", va="center", fontsize=9)
    ax.set_yticks(range(len(profiles)), list(profiles))
    ax.invert_yaxis()
    ax.set_xlim(0, 1.27)
    ax.set_xticks(np.linspace(0, 1, 5), [percent(x) if x else "0" for x in np.linspace(0, 1, 5)])
    ax.set_xlabel("share of a warp's time", fontsize=9)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(labelsize=9)
    handles = [
        Patch(facecolor=colour, hatch=hatch, edgecolor=INK, label=label)
        for name, (label, colour, hatch) in {**REASONS, "other": OTHER}.items()
        if name in drawn
    ]
    fig.legend(handles=handles, loc="outside lower center", ncols=2, fontsize=8.5)
    return fig


def levels(roofs: Mapping[str, Roof], points: Sequence[tuple[str, Mapping[str, Point]]]) -> Figure:
    """A roofline with a slope for each level of memory, and each kernel once a level.

    Parameters
    ----------
    roofs : mapping of level to Roof
        The level's bandwidth, and the compute peak.
    points : sequence of (name, mapping of level to Point)
        A kernel's intensity counted at each level; its speed is the same everywhere.
    """
    colours = {"L1 and shared": MEMORY["shared"], "L2": MEMORY["L2"], "DRAM": MEMORY["global"]}
    markers = {"L1 and shared": "o", "L2": "s", "DRAM": "D"}
    fig, ax = figure(4.8, 4.4)
    every = [point for _, kernel in points for point in kernel.values()]
    low = min(point.intensity for point in every) / 4
    high = max(point.intensity for point in every) * 25
    compute = max(roof.compute for roof in roofs.values())
    for level, roof in roofs.items():
        x = np.geomspace(low, roof.ridge, 50)
        ax.loglog(x, x * roof.bandwidth, "-", color=colours[level], linewidth=1.8)
    ax.loglog([min(roof.ridge for roof in roofs.values()), high], [compute, compute], color=INK)
    ax.annotate(f"arithmetic: {quantity(compute, 'FLOP/s')}", (high, compute), ha="right",
                textcoords="offset points", xytext=(0, 5), fontsize=9)  # fmt: skip
    # Names of kernels that are nearly as fast as another make way for one another.
    ranked = sorted((next(iter(kernel.values())).flops, name) for name, kernel in points)
    shift = dict.fromkeys((name for _, name in ranked), 0)
    for (slow, below), (fast, above) in pairwise(ranked):
        if fast < 1.3 * slow:
            shift[below] -= 5
            shift[above] += 5
    for name, kernel in points:
        place = sorted(kernel.values(), key=lambda point: point.intensity)
        ax.loglog([p.intensity for p in place], [p.flops for p in place], ":", color=INK,
                  linewidth=0.9)  # fmt: skip
        for level, point in kernel.items():
            ax.loglog(point.intensity, point.flops, markers[level], color=colours[level],
                      markeredgecolor=INK, markersize=7.5, zorder=3)  # fmt: skip
        ax.annotate(name, (place[-1].intensity, place[-1].flops), textcoords="offset points",
                    xytext=(8, shift[name] - 3), fontsize=9)  # fmt: skip
    handles = [
        ax.plot([], [], markers[level], color=colours[level], markeredgecolor=INK,
                label=f"{level}: {quantity(roof.bandwidth, 'B/s')}")[0]
        for level, roof in roofs.items()
    ]  # fmt: skip
    fig.legend(handles=handles, loc="outside lower center", ncols=2, fontsize=8.5)
    ax.set_xlim(low, high)
    ax.set_ylim(min(point.flops for point in every) / 4, compute * 3)
    ax.set_xlabel("intensity: FLOP per byte at that level")
    ax.set_ylabel("FLOP/s")
    _decades(ax, "FLOP/s")
    ax.grid(True, which="major")
    return fig


def timeline(ways: Mapping[str, Sequence[Mapping[str, Any]]]) -> Figure:
    """When the copy engines and the SMs were busy, a panel a way.

    Parameters
    ----------
    ways : mapping of title to rows
        Rows of a record's table ``timeline``; all panels share the axis of time.
    """
    engines = {"copy in": A, "kernel": C, "copy out": B}
    fig, axes = figure(4.8, 0.8 + 1.1 * len(ways), rows=len(ways), columns=1, sharex=True,
                       squeeze=False)  # fmt: skip
    for ax, (title, rows) in zip(axes[:, 0], ways.items(), strict=True):
        for place, (engine, colour) in enumerate(engines.items()):
            for row in rows:
                if row["what"] == engine:
                    bar = [(1e3 * row["begins"], 1e3 * (row["ends"] - row["begins"]))]
                    hatch = "//" if row["strip"] % 2 else ""
                    ax.broken_barh(bar, (place - 0.36, 0.72), facecolors=colour, hatch=hatch,
                                   edgecolors=INK, linewidth=0.5)  # fmt: skip
        ax.set_yticks(range(len(engines)), list(engines))
        ax.invert_yaxis()
        ax.tick_params(axis="y", length=0)
        ax.set_title(title, loc="left", fontsize=10)
    axes[-1, 0].set_xlabel("milliseconds")
    axes[-1, 0].set_xlim(left=0)
    return fig
