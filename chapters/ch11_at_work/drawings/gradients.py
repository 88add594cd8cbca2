"""The three products of a layer: C = A·B, and the gradients of A and of B."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernels.lab.plots.drawings import boxes, canvas
from kernels.lab.plots.palette import PALETTE

#: Rows and columns that are drawn for M, N and K.
SIZES = {"M": 3.0, "N": 2.0, "K": 1.2}
#: Each product: its name, then left factor, right factor and result: what it is called, its sizes
#: and the matrix whose colour it has.
PRODUCTS = (
    ("forward", ("A", "MK", "A"), ("B", "KN", "B"), ("C", "MN", "C")),
    ("gradient of A", ("G", "MN", "C"), ("Bᵀ", "NK", "B"), ("dA", "MK", "A")),
    ("gradient of B", ("Aᵀ", "KM", "A"), ("G", "MN", "C"), ("dB", "KN", "B")),
)


def gradients() -> Figure:
    """Three products side by side, each matrix with its shape; a schematic."""
    fig, ax = canvas(4.8, 4.6, (-0.2, 11.0, 14.2, -0.6))
    top = 0.0
    for title, *parts in PRODUCTS:
        ax.text(0, top, title, weight="bold", fontsize=9, va="bottom")
        high = max(SIZES[sizes[0]] for _, sizes, _ in parts)
        x = 0.4
        for sign, part in zip(("·", "=", ""), parts, strict=True):
            x = _matrix(ax, x, top + 1, high, *part) + 0.35
            ax.text(x, top + 1 + high / 2, sign, ha="center", va="center", fontsize=12)
            x += 0.9
        top += high + 2
    return fig


def _matrix(ax: Axes, x: float, y: float, high: float, name: str, sizes: str, role: str) -> float:
    """One matrix, centred in a row of a height; returns where it ends."""
    rows, columns = (SIZES[size] for size in sizes)
    at = y + (high - rows) / 2
    boxes(ax, [(x, at, columns, rows)], PALETTE[role])
    ax.text(x + columns / 2, at + rows / 2, name, ha="center", va="center", fontsize=10)
    ax.text(x - 0.1, at + rows / 2, sizes[0], ha="right", va="center", fontsize=8)
    ax.text(x + columns / 2, at - 0.08, sizes[1], ha="center", va="bottom", fontsize=8)
    return x + columns
