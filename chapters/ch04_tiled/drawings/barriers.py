"""What each of the two barriers prevents: a fast and a slow warp, over time."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernels.lab.plots.palette import HATCH, INK, THREAD, TILE, C
from kernels.lab.plots.picture import figure

#: Per story: what the fast and the slow warp do (what, from, to), where they clash, the barriers.
STORIES = {
    "without the first barrier": (
        [("load 0", 0, 1), ("multiply 0", 1, 3)],
        [("load 0", 1.3, 2.5), ("multiply 0", 2.5, 4.5)],
        (1.3, 2.5),
        (),
    ),
    "without the second barrier": (
        [("load 0", 0, 1), ("multiply 0", 1.8, 3.6), ("load 1", 3.6, 4.6)],
        [("load 0", 0.7, 1.8), ("multiply 0", 2.2, 5)],
        (3.6, 4.6),
        (1.8,),
    ),
    "with both": (
        [("load 0", 0, 1), ("multiply 0", 1.8, 3.6), ("load 1", 5, 6)],
        [("load 0", 0.7, 1.8), ("multiply 0", 2.2, 5), ("load 1", 5, 6)],
        None,
        (1.8, 5),
    ),
}


def two_barriers() -> Figure:
    """Three schematic time strips: without the first barrier, without the second, with both.

    Thick lines are barriers; a dashed frame says that one warp reads a tile while the other
    writes it.
    """
    fig, axes = figure(5.0, 3.9, rows=len(STORIES), sharex=True)
    for ax, (title, (fast, slow, clash, barriers)) in zip(axes, STORIES.items(), strict=True):
        for y, bars in ((1, fast), (0, slow)):
            for what, start, end in bars:
                _bar(ax, y, what, start, end, clash or ())
        for time in barriers:
            ax.plot([time, time], [0, 2], color=INK, linewidth=2.5, zorder=4)
        if clash:
            start, end = clash
            look = dict(edgecolor=THREAD, linewidth=2.5, linestyle="--", fill=False, zorder=5)
            ax.add_patch(Rectangle((start, 0.02), end - start, 1.96, **look))
        ax.set(xlim=(0, 6.1), ylim=(0, 2), xticks=())
        ax.set_yticks((0.5, 1.5), ("slow warp", "fast warp"))
        ax.tick_params(length=0)
        ax.set_title(title, loc="left", fontsize=10)
        ax.spines[:].set_visible(False)
    axes[-1].set_xlabel("time")
    return fig


def _bar(ax: Axes, y: float, what: str, start: float, end: float, frame: Iterable[float]) -> None:
    """A bar, named in the longest piece that a frame's edges leave of it."""
    loads = what.startswith("load")
    look = dict(facecolor=TILE if loads else C, alpha=0.35, hatch=HATCH["A"] if loads else None)
    bar = Rectangle((start, y + 0.12), end - start, 0.76, edgecolor=INK, linewidth=0.8, **look)
    ax.add_patch(bar)
    edges = sorted({start, end, *(edge for edge in frame if start < edge < end)})
    middle = sum(max(pairwise(edges), key=lambda piece: piece[1] - piece[0])) / 2
    ax.text(middle, y + 0.5, what, ha="center", va="center", fontsize=9)
