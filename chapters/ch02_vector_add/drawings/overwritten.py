"""Memory before and after a launch: what a kernel wrote beyond the end of its array."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernels.lab.plots.drawings import canvas
from kernels.lab.plots.palette import INK, LIBRARY, THREAD, C

STEP = 2.6  # from one state to the next, in cells


def overwritten(states: Mapping[str, np.ndarray], size: int, window: range) -> Figure:
    """The same memory in several states, one strip each.

    Parameters
    ----------
    states : mapping of name to array
        What the whole memory held; the first state is the one before the launch.
    size : int
        Elements of the kernel's own array; the rest belongs to somebody else.
    window : range
        The elements to draw, about a dozen.

    Returns
    -------
    Figure
        Filled: the kernel's own elements. Framed and hatched: elements of somebody else that no
        longer hold what they held in the first state.
    """
    before = next(iter(states.values()))
    end = STEP * len(states)
    unit = 4.5 / len(window)
    extent = (-0.1, len(window) + 0.1, end - 0.6, -2.0)
    fig, ax = canvas(4.6, unit * (end + 1.4), extent)
    edge = window.index(size)
    ax.text(edge - 0.15, -1.3, "c", ha="right", va="bottom", weight="bold", fontsize=9)
    ax.text(edge + 0.15, -1.3, "somebody else's", va="bottom", weight="bold", fontsize=9)
    ax.plot([edge, edge], [-1.9, end - 1.2], color=INK, lw=1.6, ls="--")
    for number, (name, memory) in enumerate(states.items()):
        top = number * STEP
        ax.text(0, top - 0.15, name, va="bottom", fontsize=9)
        for x, place in enumerate(window):
            changed = place >= size and memory[place] != before[place]
            colour = C if place < size else THREAD if changed else LIBRARY
            look = dict(fc="none", ec=colour, lw=0, hatch="////" if changed else "", alpha=0.5)
            ax.add_patch(Rectangle((x, top), 1, 1, fc=colour, alpha=0.25, lw=0))
            ax.add_patch(Rectangle((x, top), 1, 1, **look))
            ax.add_patch(Rectangle((x, top), 1, 1, fc="none", ec=INK, lw=0.6))
            ax.text(x + 0.5, top + 0.5, f"{memory[place]:g}", ha="center", va="center", fontsize=8)
    return fig
