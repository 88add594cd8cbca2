"""Which columns a thread owns: neighbours, or columns as far apart as there are threads."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernels.lab.plots.drawings import canvas
from kernels.lab.plots.palette import HATCH, INK, THREAD, B

COLUMNS = {  # how a thread finds its column j
    "contiguous: column tx · TN + j": lambda tx, j, TN, threads: tx * TN + j,
    "spread: column tx + threads · j": lambda tx, j, TN, threads: tx + threads * j,
}


def spread_tile(threads: int = 8, TN: int = 4, *, thread: int = 2) -> Figure:
    """One row of B's tile twice, each column with the number of the thread that owns it.

    Parameters
    ----------
    threads : int
        Threads side by side.
    TN : int
        Columns per thread.
    thread : int
        The thread whose columns are framed.

    Returns
    -------
    Figure
        Filled: the columns that the first load, j = 0, reads.
    """
    wide = threads * TN
    fig, ax = canvas(5.0, 1.55, (-0.3, wide + 0.3, 8.6, -1.9))
    ax.set_aspect("auto")
    for place, (title, column) in enumerate(COLUMNS.items()):
        owned = [[column(tx, j, TN, threads) for j in range(TN)] for tx in range(threads)]
        _row(ax, 5.4 * place, title, owned, thread)
    return fig


def _row(ax: Axes, y: float, title: str, owned: list[list[int]], thread: int) -> None:
    ax.text(0, y - 0.35, title, va="bottom", fontsize=9, weight="bold")
    for tx, columns in enumerate(owned):
        for j, column in enumerate(columns):
            corner = (column, y)
            if j == 0:
                ax.add_patch(Rectangle(corner, 1, 2.6, facecolor=B, alpha=0.45, edgecolor="none"))
                look = dict(facecolor="none", edgecolor=B, hatch=HATCH["B"], linewidth=0, alpha=0.5)
                ax.add_patch(Rectangle(corner, 1, 2.6, **look))
            edge = dict(edgecolor=INK, linewidth=0.5)
            ax.add_patch(Rectangle(corner, 1, 2.6, facecolor="none", **edge))
            ax.text(column + 0.5, y + 1.3, str(tx), ha="center", va="center", fontsize=8)
    for column in owned[thread]:
        frame = dict(facecolor="none", edgecolor=THREAD, linewidth=2, zorder=4)
        ax.add_patch(Rectangle((column, y), 1, 2.6, **frame))
