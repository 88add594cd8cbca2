"""Layouts: particles by struct or by field, and the elements of a tile by bank. Schematic."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernels.lab.plots.drawings import boxes, canvas
from kernels.lab.plots.palette import INK, LIBRARY, MEMORY, THREAD, A

SECTOR = 8  # floats
#: One colour per bank; the number on it tells more.
BANKS = (*MEMORY.values(), THREAD, LIBRARY)


def structs_and_fields(fields: str = "xyzuvwmq", field: str = "x", sectors: int = 3) -> Figure:
    """The first sectors of an array of structs and of a struct of arrays, and what one field uses.

    Parameters
    ----------
    fields : str
        A letter per float of a particle; as many as a sector has.
    field : str
        The one that each thread loads.
    sectors : int
        How many sectors of each to draw.
    """
    apart = SECTOR + 0.6
    fig, ax = canvas(4.6, 1.9, (-0.1, sectors * apart - 0.5, 8.6, -1.4))
    for y, title, letter, below in (
        (0, "array of structs", lambda place: fields[place % SECTOR], "particle {0}"),
        (5, "struct of arrays", lambda place: field, "particles {1} to {2}"),
    ):
        ax.text(0, y - 0.5, title, weight="bold", fontsize=9)
        frames, used = [], []
        for sector in range(sectors):
            for place in range(SECTOR):
                box = (sector * apart + place, y, 1, 1.2)
                said = letter(sector * SECTOR + place)
                (used if said == field else frames).append(box)
                ax.text(box[0] + 0.5, y + 0.6, said, ha="center", va="center", fontsize=8)
            first = sector * SECTOR
            told = below.format(sector, first, first + SECTOR - 1)
            middle = sector * apart + SECTOR / 2
            ax.text(middle, y + 2.1, told, ha="center", va="center", fontsize=8)
        if frames:
            boxes(ax, frames, LIBRARY, tint=0)
        boxes(ax, used, A, tint=0.3, hatch="////")
        boxes(ax, [(n * apart, y, SECTOR, 1.2) for n in range(sectors)], INK, tint=0, width=1.4)
    return fig


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
        told = f"{waves} wavefront{'s' if waves > 1 else ''}"
        ax.text(left + width / 2, side + 1.1, told, ha="center", va="center", fontsize=9)
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
