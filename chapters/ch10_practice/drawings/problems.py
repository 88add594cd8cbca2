"""Problems by idea: which of them practise what, and after which chapter."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernels.lab.plots.palette import INK, A
from kernels.lab.plots.picture import figure

SIDE = 0.8  # of the square around a number, in cells


def problems(ideas: Mapping[str, Mapping[int, int]]) -> Figure:
    """A row for each idea, a column for each chapter, and the problems' numbers where they meet.

    Parameters
    ----------
    ideas : mapping of str to mapping
        What is practised, and for each problem's number the last chapter that it needs.
    """
    chapters = sorted({chapter for numbers in ideas.values() for chapter in numbers.values()})
    placed = {
        idea: {c: [n for n, chapter in numbers.items() if chapter == c] for c in chapters}
        for idea, numbers in ideas.items()
    }
    wide = {c: max(len(row[c]) for row in placed.values()) + 0.5 for c in chapters}
    left = {c: sum(wide[other] for other in chapters if other < c) for c in chapters}
    fig, ax = figure(5.2, 0.6 + 0.33 * len(ideas))
    for y, row in enumerate(placed.values()):
        ax.axhline(y, color=INK, linewidth=0.5, alpha=0.2, zorder=0)
        for chapter, numbers in row.items():
            for place, number in enumerate(numbers):
                x = left[chapter] + 0.25 + place
                corner = (x + (1 - SIDE) / 2, y - SIDE / 2)
                ax.add_patch(Rectangle(corner, SIDE, SIDE, facecolor=A, edgecolor=INK))
                ax.text(x + 0.5, y, str(number), ha="center", va="center", fontsize=9,
                        weight="bold", color="white")  # fmt: skip
    ax.set_yticks(range(len(ideas)), list(ideas))
    ax.set_xticks([left[c] + wide[c] / 2 for c in chapters], chapters)
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    ax.set_xlabel("after chapter", fontsize=9)
    ax.tick_params(length=0, labelsize=9)
    ax.spines[:].set_visible(False)
    for chapter in chapters[1:]:
        ax.axvline(left[chapter], color=INK, linewidth=0.5, linestyle=":")
    ax.set_xlim(0, sum(wide.values()))
    ax.set_ylim(len(ideas) - 0.4, -0.6)
    return fig
