"""Loads in flight: how many overlap, and how much of the time memory delivers. Schematic."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernels.lab.plots.drawings import boxes, canvas
from kernels.lab.plots.palette import INK, LIBRARY, MEMORY, THREAD


def in_flight(threads: Sequence[int] = (1, 8), latency: int = 8, slots: int = 24) -> Figure:
    """Threads that load, wait and load again; below them, when memory delivers a value.

    Parameters
    ----------
    threads : sequence of int
        One panel each: threads that start one slot after another, ``latency`` at most.
    latency : int
        Slots from a load to its value; memory can deliver one value per slot.
    slots : int
        How long to watch.
    """
    rows = sum(count + 3.6 for count in threads)
    fig, ax = canvas(4.6, 0.155 * rows + 0.15, (-5.4, slots + 0.3, rows - 0.4, -0.6))
    y = 0.0
    for count in threads:
        y = _panel(ax, y, count, latency, slots) + 1.3
    return fig


def delivered(count: int, latency: int, slots: int) -> list[int]:
    """The slots at whose end memory delivers a value."""
    return sorted(
        end - 1 for thread in range(count) for end in range(thread + latency, slots + 1, latency)
    )


def _panel(ax: Axes, y: float, count: int, latency: int, slots: int) -> float:
    ax.text(-5.2, y + 0.3, f"{count} in flight", weight="bold", va="center", fontsize=9)
    y += 1.1
    moment = slots // 2 + 0.5
    ax.plot([moment, moment], [y - 0.3, y + count + 0.1], color=INK, linewidth=1, linestyle="--")
    loads = [
        (start + 0.06, y + thread + 0.12, min(start + latency, slots) - start - 0.12, 0.66)
        for thread in range(count)
        for start in range(thread, slots, latency)
    ]
    boxes(ax, loads, THREAD, tint=0.25)
    for thread in range(count):
        name = f"thread {thread}"
        ax.text(-0.4, y + thread + 0.45, name, ha="right", va="center", fontsize=8)
    y += count + 0.4
    ax.text(-0.4, y + 0.45, "memory", ha="right", va="center", fontsize=8)
    frames = [(slot + 0.06, y, 0.88, 0.9) for slot in range(slots)]
    boxes(ax, frames, LIBRARY, tint=0, width=0.5)
    busy = [frames[slot] for slot in delivered(count, latency, slots)]
    boxes(ax, busy, MEMORY["global"], tint=0.6, hatch="//////", width=0.5)
    return y + 0.9
