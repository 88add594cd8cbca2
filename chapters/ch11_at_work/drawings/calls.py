"""What a call costs: one product called in several ways, and the time a graph of calls saves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from kernels.basics.units import quantity
from kernels.lab.plots.drawings import boxes, canvas
from kernels.lab.plots.palette import HATCH, INK, PALETTE, A, C
from kernels.lab.plots.picture import figure

#: What each way to call is called, and its colour.
WAYS = {
    "operator": ("PyTorch operator", "B"),
    "kernel": ("kernel alone", "A"),
    "graph": ("operator in a CUDA graph", "C"),
}


def call_costs(panels: Mapping[str, Sequence[Mapping[str, Any]]]) -> Figure:
    """Time per product, a bar for each way to call it, on a logarithmic axis.

    Parameters
    ----------
    panels : dict of str to rows
        By a panel's title: rows of a record's table ``operators``.
    """
    fig, axes = figure(5.2, 0.6 + 1.0 * len(panels), rows=len(panels), sharex=True, squeeze=False)
    for ax, (title, rows) in zip(axes[:, 0], panels.items(), strict=True):
        found = {row["how"]: row["seconds"]["median"] * 1e6 for row in rows}
        ways = [(way, *style) for way, style in WAYS.items() if way in found]
        for place, (way, _, role) in enumerate(ways):
            time = found[way]
            ax.barh(place, time, 0.7, left=0, color=PALETTE[role], alpha=0.55, hatch=HATCH[role],
                    edgecolor=INK, linewidth=0.6)  # fmt: skip
            ax.text(time * 1.1, place, quantity(time / 1e6, "s"), va="center", fontsize=9)
        ax.set_yticks(range(len(ways)), [style for _, style, _ in ways], fontsize=9)
        ax.set_title(title, loc="left", fontsize=10)
        ax.set(xscale="log", xlim=(1, 1500), ylim=(len(ways) - 0.5, -0.5))
        ax.tick_params(axis="y", length=0)
    ax.set_xlabel("microseconds per product, logarithmic", fontsize=9)
    return fig


def graph_of_calls(calls: int = 4, prepare: float = 3, work: float = 1) -> Figure:
    """Host and GPU over time: calls one by one, and one launch of a graph; a schematic.

    Parameters
    ----------
    calls : int
    prepare, work : float
        How long the host prepares a launch and the GPU runs it, in any unit of time.
    """
    span = calls * prepare + work
    fig, ax = canvas(4.8, 2.5, (-3.4, span + 0.3, 9.4, -1))
    ax.set_aspect("auto")
    ax.text(0, -0.15, "one call after another", weight="bold", fontsize=9)
    ax.text(0, 4.35, "one launch of a graph", weight="bold", fontsize=9)
    for y in (0, 4.5):
        for row, name in enumerate(("host", "GPU")):
            ax.text(-0.3, y + 0.9 + 1.4 * row, name, ha="right", va="center", fontsize=9)
    prepared = [(call * prepare, 0.4, prepare, 1) for call in range(calls)]
    boxes(ax, [*prepared, (0, 4.9, prepare, 1)], A, hatch="//")
    run = [((call + 1) * prepare, 1.8, work, 1) for call in range(calls)]
    at_once = [(prepare + call * work, 6.3, work, 1) for call in range(calls)]
    boxes(ax, [*run, *at_once], C)
    ax.annotate("", (span, 8.0), (0, 8.0), arrowprops=dict(arrowstyle="-|>", color=INK))
    ax.text(span, 8.3, "time", ha="right", va="top", fontsize=8)
    return fig
