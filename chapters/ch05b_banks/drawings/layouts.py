"""Layouts: the elements of a tile by bank. Schematic."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernels.lab.plots.drawings import boxes, canvas
from kernels.lab.plots.palette import INK, LIBRARY, MEMORY, THREAD

#: One colour per bank; the number on it tells more.
BANKS = (*MEMORY.values(), THREAD, LIBRARY)


def bank_layouts(side: int = 8, column: int = 2) -> Figure:
    """A tile's elements by bank in three layouts, with one column framed.

    Parameters
    ----------
    side : int
        Rows and columns of the tile, and banks; 8 at most.
    column : int
        Which column to frame.

    Returns
    -------
    Figure
        As stored, padded by one word (hatched), and with column ``c`` of row ``r`` at ``c ^ r``.
        Under each: the wavefronts that its column takes.
    """
    layouts: Mapping[str, tuple[int, Callable[[int, int], int]]] = {
        "as it is": (side, lambda row, col: row * side + col),
        "padded": (side + 1, lambda row, col: row * (side + 1) + col),
        "swizzled": (side, lambda row, col: row * side + (col ^ row)),
    }
    wide = 3 * side + 1 + 2 * 1.4
    fig, ax = canvas(4.6, 4.6 * (side + 3.4) / (wide + 0.4), (-0.2, wide + 0.2, side + 1.8, -1.6))
    left = 0.0
    for title, (width, word) in layouts.items():
        _tile(ax, left, side, width, word)
        boxes(ax, [(left + column, 0, 1, side)], INK, tint=0, width=2.4)
        ax.text(left + width / 2, -0.5, title, ha="center", weight="bold", fontsize=9)
        hit = [word(row, column) % side for row in range(side)]
        waves = max(hit.count(bank) for bank in hit)
        text = f"{waves} wavefront{'s' if waves > 1 else ''}"
        ax.text(left + width / 2, side + 1.1, text, ha="center", va="center", fontsize=9)
        left += width + 1.4
    return fig


def _tile(ax: Axes, left: float, side: int, width: int, word: Callable[[int, int], int]) -> None:
    """Each element where the kernel names it, in the colour and with the number of its bank."""
    places = {bank: [] for bank in range(side)}
    for row in range(side):
        for col in range(side):
            bank = word(row, col) % side
            places[bank].append((left + col, row, 1, 1))
            ax.text(left + col + 0.5, row + 0.52, str(bank), ha="center", va="center", fontsize=7)
    for bank, frames in places.items():
        boxes(ax, frames, BANKS[bank], tint=0.4, width=0.4)
    if width > side:
        unused = [(left + side, row, width - side, 1) for row in range(side)]
        boxes(ax, unused, LIBRARY, tint=0.05, hatch="////", width=0.4)
