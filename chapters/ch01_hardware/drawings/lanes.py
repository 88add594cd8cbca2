"""Which lanes of a warp work at each step when the threads of a block take branches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from matplotlib.figure import Figure

from kernels.lab.plots.drawings import boxes, canvas
from kernels.lab.plots.palette import INK, LIBRARY, MEMORY, THREAD, TILE

WARP = 32
#: Colour and hatch of each branch.
LOOKS = ((TILE, ""), (THREAD, "//////"), (MEMORY["L2"], "\\\\\\\\"), (MEMORY["host"], "----"))


def divergence(
    kernels: Mapping[str, Sequence[int]], names: Sequence[str] = ("if", "else")
) -> Figure:
    """Warps over time: a row for each branch that a warp executes, a cell for each lane.

    Parameters
    ----------
    kernels : mapping of name to branches
        For each thread of a block the number of the branch it takes; at most four branches.
    names : sequence of str
        What each branch is called.
    """
    steps = {name: executed(branches) for name, branches in kernels.items()}
    rows = sum(2.6 + len(of) + 0.6 * (1 + of[-1][0]) for of in steps.values())
    fig, ax = canvas(4.6, 0.112 * rows + 0.15, (-4.6, WARP + 4.4, rows, -0.6))
    y = 0.0
    for name, of in steps.items():
        ax.text(-4.4, y + 0.45, name, weight="bold", va="center", fontsize=9)
        top = y = y + 1.7
        for warp, its in groupby(of, key=itemgetter(0)):
            ax.text(-0.6, y + 0.5, f"warp {warp}", ha="right", va="center", fontsize=8)
            for _, branch, lanes in its:
                frames = [(lane + 0.06, y + 0.1, 0.88, 0.8) for lane in range(WARP)]
                boxes(ax, frames, LIBRARY, tint=0, width=0.5)
                colour, hatch = LOOKS[branch]
                active = [frames[lane] for lane in sorted(lanes)]
                boxes(ax, active, colour, tint=0.6, hatch=hatch, width=0.5)
                ax.text(WARP + 0.5, y + 0.5, names[branch], va="center", fontsize=8)
                y += 1
            y += 0.6
        ax.annotate("", (WARP + 3.6, y - 0.3), (WARP + 3.6, top),
                    arrowprops={"arrowstyle": "->", "color": INK})  # fmt: skip
        ax.text(WARP + 3.3, top - 0.1, "time", ha="center", va="bottom", fontsize=8)
        y += 0.9
    return fig


def executed(branches: Sequence[int]) -> list[tuple[int, int, frozenset[int]]]:
    """What warps execute: warp, branch and active lanes, in the order of warps, then branches."""
    found = []
    for start in range(0, len(branches), WARP):
        taken = branches[start : start + WARP]
        for branch in sorted(set(taken)):
            lanes = frozenset(lane for lane, its in enumerate(taken) if its == branch)
            found.append((start // WARP, branch, lanes))
    return found
