"""The shape of a warp: 32 thread tiles, and the distinct numbers of A and B they need per k."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from kernels.lab.plots.drawings import cells
from kernels.lab.plots.picture import figure


def warp_shapes(shapes: Sequence[tuple[int, int]], TM: int = 8, TN: int = 8) -> Figure:
    """Panels side by side, one per shape, all on one scale.

    Parameters
    ----------
    shapes : sequence of (rows, columns)
        How a warp's 32 threads are laid out.
    TM, TN : int
        Rows and columns of a thread tile, which is drawn as one cell.
    """
    for down, across in shapes:
        if down * across != 32:
            raise ValueError(f"{down} × {across} threads: a warp has 32")
    wide = [across + 6 for _, across in shapes]
    tall = max(down for down, _ in shapes)
    fig, axes = figure(5.0, 1.9, columns=len(shapes), width_ratios=wide, squeeze=False)
    for ax, (down, across) in zip(axes[0], shapes, strict=True):
        cells(ax, down, across, role="C", tint=0.15)
        cells(ax, down, 1, at=(-1.6, 0), role="A", tint=0.5)
        cells(ax, 1, across, at=(0, -1.6), role="B", tint=0.5)
        a, b = down * TM, across * TN
        ax.text(-1.9, down / 2, f"A: {a}", ha="right", va="center", fontsize=9)
        ax.text(across / 2, -1.9, f"B: {b}", ha="center", va="bottom", fontsize=9)
        told = f"{down} × {across} threads:\n{a + b} numbers"
        ax.text(across / 2, down + 0.4, told, ha="center", va="top", fontsize=9)
        ax.set_axis_off()
        ax.set_aspect("equal")
        ax.set_xlim(-5.6, across + 0.4)
        ax.set_ylim(tall + 3, -3.2)
    return fig
