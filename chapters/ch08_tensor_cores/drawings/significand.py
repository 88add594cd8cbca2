"""A float32's 24 significant bits in three pieces, and the nine products of two such numbers."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from kernels.lab.plots.drawings import canvas, cells, mark

SIZES = ("1", "2⁻⁸", "2⁻¹⁶", "2⁻²⁴", "2⁻³²")
INDEX = "₀₁₂"


def significand(value: float, kept: int = 2) -> Figure:
    """The bits of a float32 in pieces of eight; below, how large the products of pieces are.

    Parameters
    ----------
    value : float
        A normal float32.
    kept : int
        Products of pieces i and j have a frame if i + j is at most this.
    """
    bits = f"1{int(np.float32(value).view(np.uint32)) & 0x7FFFFF:023b}"
    fig, ax = canvas(4.6, 3.1, (-0.4, 24.4, 14.4, -1.6))
    for piece, role in enumerate("ABC"):
        cells(ax, 1, 8, at=(8 * piece, 0), role=role, title=f"piece {piece}",
              labels=lambda _, col, piece=piece: bits[8 * piece + col])  # fmt: skip
    ax.text(12, 3.2, "products of pieces", ha="center", weight="bold")
    for i in range(3):
        ax.text(4.6, 6.2 + 3 * i, f"a{INDEX[i]}", ha="center", va="center")
        ax.text(7.5 + 5 * i, 4.6, f"b{INDEX[i]}", ha="center", va="center")
        for j in range(3):
            at = (5.5 + 5 * j, 5.2 + 3 * i)
            if i + j <= kept:
                mark(ax, (0, 2), (0, 4), at=at, role="thread", fill=0.12)
            ax.text(at[0] + 2, at[1] + 1, SIZES[i + j], ha="center", va="center", fontsize=10)
    return fig
