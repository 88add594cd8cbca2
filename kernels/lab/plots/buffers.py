"""One buffer and two: loading and multiplying tiles in turn, and at the same time."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernels.lab.plots.chip import boxes
from kernels.lab.plots.drawings import canvas
from kernels.lab.plots.palette import INK, MEMORY, C


def buffered(tiles: int, load: float, work: float, buffers: int) -> list[tuple[float, float]]:
    """When each tile starts to load and to be multiplied.

    Parameters
    ----------
    tiles : int
    load, work : float
        How long one tile takes, in any unit of time.
    buffers : int
        1 or 2: with two, a tile loads while the one before it is multiplied.
    """
    times: list[tuple[float, float]] = []
    free = [0.0] * buffers  # when each buffer may be filled again
    loaded = done = 0.0
    for tile in range(tiles):
        start = max(free[tile % buffers], loaded)
        loaded = start + load
        begin = max(loaded, done)
        done = free[tile % buffers] = begin + work
        times.append((start, begin))
    return times


def double_buffer(tiles: int = 4, load: float = 2, work: float = 3) -> Figure:
    """Bars over time, above with one buffer and below with two; a schematic."""
    span = tiles * (load + work)
    fig, ax = canvas(4.8, 2.3, (-3.6, span + 0.2, 8.9, -1))
    ax.set_aspect("auto")
    _panel(ax, 0, "one buffer", tiles, load, work, 1)
    _panel(ax, 4, "two buffers", tiles, load, work, 2)
    ax.annotate("", (span, 7.6), (0, 7.6), arrowprops=dict(arrowstyle="-|>", color=INK))
    ax.text(span, 7.9, "time", ha="right", va="top", fontsize=8)
    return fig


def _panel(ax: Axes, y: float, title: str, tiles: int, load, work, buffers: int) -> None:
    ax.text(0, y - 0.15, title, weight="bold", fontsize=9)
    times = buffered(tiles, load, work, buffers)
    rows = (("load", y, load, MEMORY["L2"], 0), ("multiply", y + 1.4, work, C, 1))
    for name, top, long, colour, which in rows:
        ax.text(-0.3, top + 0.6, name, ha="right", va="center", fontsize=8.5)
        bars = [(start[which], top, long, 1.2) for start in times]
        boxes(ax, bars, colour, tint=0.3)
        for number, (x, *_) in enumerate(bars):
            ax.text(x + long / 2, top + 0.6, f"tile {number}", ha="center", va="center", fontsize=8)
