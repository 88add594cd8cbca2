"""How a scheduler fills its cycles: few warps, many warps, or few with independent work."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from kernels.basics.units import percent
from kernels.lab.plots.drawings import boxes, canvas
from kernels.lab.plots.palette import LIBRARY, THREAD, C


def hiding(ways: Sequence[tuple[int, int]], *, latency: int, cycles: int) -> Figure:
    """Warps over time, a panel per way: when each issues, and when the scheduler idles.

    Parameters
    ----------
    ways : sequence of (warps, independent)
        Warps of one scheduler, and how many instructions of a warp don't depend on one another.
    latency : int
        Cycles from an instruction to the one that needs its result.
    cycles : int
        How many to draw.
    """
    rows = sum(warps + 3.2 for warps, _ in ways)
    fig, ax = canvas(4.6, 4.6 * rows / (cycles + 8), (-7.5, cycles + 0.5, rows - 0.6, -0.1))
    y = 0.0
    for warps, independent in ways:
        issued = issues(warps, independent, latency, cycles)
        share = sum(warp is not None for warp in issued) / cycles
        text = f"{warps} warps, {independent} in flight each: issues in {percent(share)}"
        ax.text(0, y + 0.5, text, va="center", weight="bold", fontsize=8.5)
        y += 1.1
        for warp in range(warps):
            frames = [(n + 0.08, y + 0.1, 0.84, 0.8) for n in range(cycles)]
            busy = [frame for frame, who in zip(frames, issued, strict=True) if who == warp]
            idle = [frame for frame in frames if frame not in busy]
            boxes(ax, idle, LIBRARY, tint=0, width=0.3)
            boxes(ax, busy, C, tint=0.7, width=0.5)
            ax.text(-0.4, y + 0.5, f"warp {warp}", ha="right", va="center", fontsize=8)
            y += 1
        empty = [(n + 0.08, y + 0.25, 0.84, 0.5) for n, who in enumerate(issued) if who is None]
        boxes(ax, empty, THREAD, tint=0.3, hatch="//////", width=0.5)
        ax.text(-0.4, y + 0.5, "idle", ha="right", va="center", fontsize=8)
        y += 2.1
    return fig


def issues(warps: int, independent: int, latency: int, cycles: int) -> list[int | None]:
    """Which warp issues in each cycle; None where no warp is ready.

    A warp's instruction waits for the one that stands ``independent`` before it. Of several warps
    that are ready, the one that issued least recently is picked.
    """
    history: list[list[int]] = [[] for _ in range(warps)]
    picked: list[int | None] = []
    for now in range(cycles):
        ready = [
            warp
            for warp, past in enumerate(history)
            if len(past) < independent or past[-independent] + latency <= now
        ]
        chosen = min(ready, key=lambda warp: history[warp][-1:] or [-1], default=None)
        if chosen is not None:
            history[chosen].append(now)
        picked.append(chosen)
    return picked
