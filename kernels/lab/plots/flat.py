"""Flat memory: which places a view holds, and how far its two strides step."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

from kernels.lab.plots.drawings import canvas
from kernels.lab.plots.palette import HATCH, INK, THREAD, A

STRIP = 3.9  # from one view's strip to the next, in elements


def flat_memory(memory: np.ndarray, views: Mapping[str, np.ndarray]) -> Figure:
    """Several views of one flat array, one strip each.

    Parameters
    ----------
    memory : array, shape (n,)
        The elements in the order of their addresses; keep n below about 16.
    views : mapping of name to array, shape (rows, columns)
        Views of `memory`, at least two rows and two columns each.

    Returns
    -------
    Figure
        Filled: the elements of the view. Hatched: its row 0. Arrows: one column right, above;
        one row down, below; each with its stride in bytes.

    Raises
    ------
    ValueError
        When a view is a copy.
    """
    extent = (-0.2, len(memory) + 0.2, STRIP * len(views) - 1.9, -1.6)
    unit = min(0.36, 7.0 / len(memory))
    fig, ax = canvas(unit * (len(memory) + 0.4), unit * (extent[2] + 1.6), extent)
    for number, (name, view) in enumerate(views.items()):
        if not np.shares_memory(memory, view):
            raise ValueError(f"{name} is a copy: hand over a view of the memory")
        _strip(ax, STRIP * number, len(memory), name, view, _places(memory, view))
    return fig


def _places(memory: np.ndarray, view: np.ndarray) -> np.ndarray:
    """The place in `memory` of each element of a view."""
    first, start = (array.__array_interface__["data"][0] for array in (memory, view))
    down, right = (np.arange(n) * s for n, s in zip(view.shape, view.strides, strict=True))
    return (start - first + down[:, None] + right) // memory.itemsize


def _strip(ax: Axes, y: float, length: int, name: str, view: np.ndarray, places) -> None:
    ax.text(0, y - 1.25, f"{name}   strides {view.strides}", va="bottom", weight="bold", fontsize=9)
    for place in range(length):
        if place in places:
            hatch = HATCH["A"] if place in places[0] else ""
            ax.add_patch(Rectangle((place, y), 1, 1, fc=A, alpha=0.3, lw=0))
            ax.add_patch(Rectangle((place, y), 1, 1, fc="none", ec=A, hatch=hatch, lw=0, alpha=0.7))
        ax.add_patch(Rectangle((place, y), 1, 1, fc="none", ec=INK, lw=0.7))
        ax.text(place + 0.5, y + 0.5, str(place), ha="center", va="center", fontsize=8)
    start = places[0, 0] + 0.5
    for end, edge, way, stride in (
        (places[0, 1] + 0.5, y, -1, f"right: {view.strides[1]} bytes"),
        (places[1, 0] + 0.5, y + 1, 1, f"down: {view.strides[0]} bytes"),
    ):
        bend = way * 1.1 / (end - start)
        look = dict(arrowstyle="-|>", mutation_scale=8, color=THREAD, lw=1.6, shrinkA=0, shrinkB=0)
        ends = (start, edge), (end, edge)
        ax.add_patch(FancyArrowPatch(*ends, connectionstyle=f"arc3,rad={bend}", **look))
        side = "top" if way > 0 else "bottom"
        ax.text(end + 0.25, edge + 0.15 * way, stride, fontsize=8, va=side)
