"""One slot of an SM over time: elements loaded one after another, or together. Schematic."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernels.lab.plots.drawings import boxes, canvas
from kernels.lab.plots.palette import INK, MEMORY, THREAD

ISSUE, LATENCY, STORE = 1, 8, 2  # in slots of time


def pending(elements: int = 4) -> Figure:
    """Loads under way and stores, over time: by a thread per element, and by one thread for all.

    Parameters
    ----------
    elements : int
        How many elements pass through the slot.

    Returns
    -------
    Figure
        Above: each thread loads, waits, stores and ends, and then the next one starts. Below: one
        thread issues all loads before it uses the first.
    """
    each = LATENCY + STORE
    alone = [(n * each, n * each + LATENCY) for n in range(elements)]
    last = (elements - 1) * ISSUE + LATENCY
    together = [(n * ISSUE, last + n * STORE) for n in range(elements)]
    span = elements * each
    rows = 2 * elements + 5
    fig, ax = canvas(4.6, 0.19 * rows, (-0.3, span + 0.3, rows - 1.2, -1.2))
    ax.set_aspect("auto")
    y = _panel(ax, 0, "one element per thread: one load in flight", alone)
    text = f"{elements} elements per thread: {elements} loads in flight"
    y = _panel(ax, y + 1.6, text, together)
    ax.annotate("", (span, y + 0.5), (0, y + 0.5), arrowprops=dict(arrowstyle="-|>", color=INK))
    ax.text(span, y + 0.8, "time", ha="right", va="top", fontsize=8)
    return fig


def _panel(ax: Axes, y: float, title: str, stores: list) -> float:
    """A row per element: its load until the value is there, then its store; returns the floor."""
    ax.text(0, y - 0.2, title, weight="bold", fontsize=9)
    loads, ends = [], []
    for row, (start, store) in enumerate(stores):
        top = y + row + 0.1
        loads.append((start, top, LATENCY, 0.8))
        ends.append((store, top, STORE, 0.8))
    boxes(ax, loads, MEMORY["global"], tint=0.3)
    boxes(ax, ends, THREAD, tint=0.4, hatch="//////")
    ax.text(loads[0][0] + LATENCY / 2, y + 0.52, "load", ha="center", va="center", fontsize=8)
    ax.text(ends[0][0] + STORE + 0.3, y + 0.52, "store", va="center", fontsize=8)
    return y + len(stores)
