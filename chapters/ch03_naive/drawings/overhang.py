"""A grid of blocks laid over C: which threads own an element, and which do not."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernels.host import cdiv
from kernels.lab.plots.drawings import canvas
from kernels.lab.plots.palette import INK, THREAD, C


def overhang(M: int, N: int, block: tuple[int, int]) -> Figure:
    """The smallest grid that covers C (M × N).

    Parameters
    ----------
    M, N : int
        Rows and columns of C, one thread per element.
    block : (x, y)
        Threads per block; x counts columns.

    Returns
    -------
    Figure
        Filled: C. Hatched: threads that own no element of it. Each block bears its index.
    """
    width, height = block
    columns, rows = cdiv(N, width), cdiv(M, height)
    right, bottom = columns * width, rows * height
    unit = 4.1 / max(right, bottom)
    fig, ax = canvas(unit * right + 0.6, unit * bottom + 0.6, (0, right, bottom, 0))
    ax.set_axis_on()
    ax.add_patch(Rectangle((0, 0), N, M, fc=C, alpha=0.35, lw=0))
    for corner, wide, high in (((N, 0), right - N, bottom), ((0, M), N, bottom - M)):
        look = dict(fc="none", ec=THREAD, hatch="////", lw=0, alpha=0.7)
        ax.add_patch(Rectangle(corner, wide, high, **look))
    for x in range(columns):
        for y in range(rows):
            corner = (x * width, y * height)
            ax.add_patch(Rectangle(corner, width, height, fc="none", ec=INK, lw=1))
            near = (corner[0] + 0.05 * width, corner[1] + 0.08 * height)
            ax.text(*near, f"({x}, {y})", va="top", fontsize=9)
    ax.set(xticks=range(0, right + 1, width), yticks=range(0, bottom + 1, height))
    ax.set(xlabel="x: column of C", ylabel="y: row of C")
    return fig
