"""Layouts: particles by struct or by field. Schematic."""

from __future__ import annotations

from matplotlib.figure import Figure

from kernels.lab.plots.drawings import boxes, canvas
from kernels.lab.plots.palette import INK, LIBRARY, A

SECTOR = 8  # floats


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
            text = below.format(sector, first, first + SECTOR - 1)
            middle = sector * apart + SECTOR / 2
            ax.text(middle, y + 2.1, text, ha="center", va="center", fontsize=8)
        if frames:
            boxes(ax, frames, LIBRARY, tint=0)
        boxes(ax, used, A, tint=0.3, hatch="////")
        boxes(ax, [(n * apart, y, SECTOR, 1.2) for n in range(sectors)], INK, tint=0, width=1.4)
    return fig
