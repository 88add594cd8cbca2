"""The way of a tile from global memory to the tensor cores, in three generations of GPUs."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernels.lab.plots.palette import INK, MEMORY, THREAD
from kernels.lab.plots.picture import figure

#: From the farthest to the nearest: name, colour, and where its band lies.
LEVELS = {
    "global": ("global\nmemory", MEMORY["global"], 0.0),
    "shared": ("shared\nmemory", MEMORY["shared"], 1.5),
    "registers": ("registers", MEMORY["registers"], 3.0),
    "tensor": ("tensor\ncores", THREAD, 4.5),
}
#: By the instruction that copies: what a tile passes through, and who starts the copy.
PATHS = {
    "load, store": (
        ("global", "registers", "shared", "registers", "tensor"), "every thread\ncopies"
    ),
    "cp.async": (
        ("global", "shared", "registers", "tensor"), "every thread\nstarts copies"
    ),
    "TMA, wgmma": (("global", "shared", "tensor"), "one thread\nstarts a copy"),
}  # fmt: skip
HIGH = 0.8  # of a band
LEFT, WIDE = 1.2, 1.5  # the names of the levels, and a path


def copy_paths(paths: Sequence[str] = tuple(PATHS)) -> Figure:
    """The levels as bands, and in a column for each path the numbered moves of a tile.

    Parameters
    ----------
    paths : sequence of str
        Keys of `PATHS`.
    """
    end = LEFT + WIDE * len(paths)
    fig, ax = figure(0.5 + 0.76 * end, 3.4)
    ax.set_axis_off()
    ax.set(xlim=(0, end), ylim=(6.4, -0.7))
    for name, colour, y in LEVELS.values():
        ax.add_patch(Rectangle((0, y), end, HIGH, facecolor=colour, alpha=0.2, linewidth=0))
        ax.text(0.06, y + HIGH / 2, name, va="center", fontsize=8.5)
    for place, name in enumerate(paths):
        left = LEFT + WIDE * place
        through, who = PATHS[name]
        ax.text(left + WIDE / 2, -0.25, name, ha="center", fontsize=9, weight="bold")
        ax.text(left + WIDE / 2, 5.5, who, ha="center", va="top", fontsize=8.5)
        _moves(ax, left, through)
    return fig


def _moves(ax: Axes, left: float, through: Sequence[str]) -> None:
    """One arrow per move, from left to right."""
    steps = list(zip(through[:-1], through[1:], strict=True))
    for number, (here, there) in enumerate(steps, 1):
        x = left + WIDE * number / (len(steps) + 1)
        start, stop = (LEVELS[level][2] for level in (here, there))
        down = stop > start
        ends = (start + HIGH * 0.75, stop + HIGH * 0.25) if down else (start + 0.2, stop + 0.6)
        look = dict(arrowstyle="-|>", color=INK, linewidth=1.8, shrinkA=0, shrinkB=0)
        ax.annotate("", (x, ends[1]), (x, ends[0]), arrowprops=look)
        ax.text(x + 0.06, sum(ends) / 2, str(number), fontsize=8.5, va="center")
