"""Which tool finds which mistake, as a matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from kernels.lab.plots.drawings import boxes, canvas
from kernels.lab.plots.palette import LIBRARY, C


def detection(found: Mapping[str, Sequence[str]], tools: Sequence[str]) -> Figure:
    """A row per kernel and a column per tool; a filled cell where the tool finds something.

    Parameters
    ----------
    found : mapping of kernel to tools
        Which of ``tools`` report a mistake in it.
    tools : sequence of str
        Columns, from left to right.
    """
    wide = 2.3
    right = wide * len(tools)
    fig, ax = canvas(4.6, 0.21 * len(found) + 0.75, (-9, right + 0.4, len(found) + 0.2, -2.8))
    for column, tool in enumerate(tools):
        ax.text((column + 0.5) * wide, -0.3, tool, rotation=40, ha="left", va="bottom", size=8.5,
                rotation_mode="anchor")  # fmt: skip
    for row, (kernel, seen) in enumerate(found.items()):
        ax.text(-0.4, row + 0.5, kernel, ha="right", va="center", fontsize=8.5)
        frames = {t: (n * wide + 0.08, row + 0.08, wide - 0.16, 0.84) for n, t in enumerate(tools)}
        boxes(ax, [f for t, f in frames.items() if t not in seen], LIBRARY, tint=0, width=0.3)
        boxes(ax, [f for t, f in frames.items() if t in seen], C, tint=0.5, width=0.8)
        for tool in seen:
            x, y, *_ = frames[tool]
            ax.text(x + wide / 2 - 0.08, y + 0.42, "×", ha="center", va="center", fontsize=9)
    return fig
