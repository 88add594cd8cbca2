"""Chapter 5: sectors by stride."""

from __future__ import annotations

import numpy as np

from kernels.basics.units import percent
from kernels.lab.widgets.micro import CellGrid, Frame, Micro, explore
from kernels.lab.widgets.micro.words import count
from microscope import global_cost

__all__ = ["sectors_by_stride"]

LANES = np.arange(32)
SECTOR = 8  # floats


def sectors_by_stride() -> Micro:
    """The sectors that 32 lanes touch, by the distance between their floats."""
    # A row is a cache line; its four sectors stand a little apart.
    quarters = [CellGrid(74 * sector, 0, 16, SECTOR, 9, 9) for sector in range(4)]

    def draw(stride: int) -> Frame:
        wanted = {int(place) for place in stride * LANES}
        cost = global_cost(4 * stride * LANES[None], None, 4)
        touched = {place // SECTOR for place in wanted}

        def kinds(sector: int) -> str:
            def kind(line: int, at: int) -> str:
                place = (4 * line + sector) * SECTOR + at
                return "t" if place in wanted else "T" if place // SECTOR in touched else "."

            return quarters[sector].cells(kind)

        return Frame(
            f"With a stride of *{count(stride, 'float')}*, the 32 lanes touch *{cost.sectors}* "
            f"sectors and use *t:{percent(32 / (SECTOR * cost.sectors))}* of their bytes.",
            tuple(kinds(sector) for sector in range(4)),
        )

    return explore(
        draw,
        {"Stride": range(1, 17)},
        (2,),
        title="Sectors by stride",
        alt="Memory, a cache line of four sectors in each row. Filled: floats that a lane loads. "
        "Pale: floats that come along in the same sectors.",
        size=(294, 144),
        grids=quarters,
    )
