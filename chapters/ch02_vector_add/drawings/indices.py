"""The index of every thread, block by block or iteration by iteration."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernels.host import cdiv
from kernels.lab.plots.drawings import canvas
from kernels.lab.plots.palette import HATCH, INK, THREAD, C

WIDE = 16  # threads side by side


def indices(n: int, threads: int, *, row: str = "block", thread: int | None = None) -> Figure:
    """Indices in rows of so many threads, as many rows as n elements need.

    Parameters
    ----------
    n : int
        Elements of the vector.
    threads : int
        Threads per row: of one block, or of the whole grid if it strides over the vector.
    row : str
        What a row is: ``"block"`` or ``"iteration"``.
    thread : int, optional
        The thread to outline in each row.

    Returns
    -------
    Figure
        Filled: indices with an element. Hatched: indices without one.
    """
    lines = cdiv(threads, WIDE)
    step = lines + 1.1  # from one row to the next, in cells
    rows = cdiv(n, threads)
    unit = 4.5 / WIDE
    fig, ax = canvas(4.6, unit * step * rows + 0.1, (-0.1, WIDE + 0.1, step * rows - 0.9, -1.1))
    for number in range(rows):
        first, top = number * threads, number * step
        ax.text(0, top - 0.2, f"{row} {number}: from index {first}", va="bottom", fontsize=9)
        for place in range(threads):
            corner = (place % WIDE, top + place // WIDE)
            _cell(ax, corner, str(first + place), owned=first + place < n)
            if place == thread:
                look = dict(fc="none", ec=THREAD, lw=2.2, zorder=3)
                ax.add_patch(Rectangle(corner, 1, 1, **look))
    return fig


def _cell(ax, corner: tuple[int, float], text: str, *, owned: bool) -> None:
    if owned:
        ax.add_patch(Rectangle(corner, 1, 1, fc=C, alpha=0.3, lw=0))
        ax.add_patch(Rectangle(corner, 1, 1, fc="none", ec=C, hatch=HATCH["C"], lw=0, alpha=0.4))
    else:
        look = dict(fc="none", ec=THREAD, hatch="////", lw=0, alpha=0.7)
        ax.add_patch(Rectangle(corner, 1, 1, **look))
    ax.add_patch(Rectangle(corner, 1, 1, fc="none", ec=INK, lw=0.6))
    middle = (corner[0] + 0.5, corner[1] + 0.5)
    ax.text(*middle, text, ha="center", va="center", fontsize=8)
