"""Chapter 5b: banks by stride, and what padding does to a column."""

from __future__ import annotations

from collections import Counter

import numpy as np

from kernels.lab.widgets.micro import CellGrid, Frame, Micro, explore
from kernels.lab.widgets.micro.words import count
from microscope import BANKS, shared_cost

__all__ = ["banks_by_stride", "padded_column"]

LANES = np.arange(32)


def banks_by_stride() -> Micro:
    """The words that wait for each bank, by the distance between the lanes' words."""
    grid = CellGrid(0, 16, 32, BANKS, 9, 6)

    def draw(stride: int) -> Frame:
        cost = shared_cost(4 * stride * LANES[None], None, 4)
        queue = Counter(word % BANKS for word in {int(stride * lane) for lane in LANES})
        return Frame(
            (
                f"With a stride of *{count(stride, 'word')}*, the lanes' words lie in "
                f"*{count(len(queue), 'bank')}*: *{count(cost.wavefronts, 'wavefront')}*."
                if stride
                else f"With a stride of *0*, all lanes read one word: a broadcast, in "
                f"*{count(cost.wavefronts, 'wavefront')}*."
            ),
            (grid.cells(lambda r, bank: "." if r >= queue[bank] else "h" if r else "t"),),
        )

    return explore(
        draw,
        {"Stride": range(34)},
        (4,),
        title="Banks by stride",
        alt="A column for each of the 32 banks. Filled from the top: the words that it has to "
        "deliver, one in each wavefront.",
        size=(288, 208),
        grids=(grid,),
        labels=((0, 10, "bank 0"), (246, 10, "bank 31")),
    )


def padded_column(side: int = 32) -> Micro:
    """The banks of a tile's column, by the padding of its rows, and swizzled."""
    grid = CellGrid(0, 16, side, BANKS, 9, 7)

    def draw(padding: int, swizzle: str) -> Frame:
        row = np.arange(side)
        words = (side + padding) * row + (row if swizzle == "yes" else 0)  # column 0 ^ row
        cost = shared_cost(4 * words[None], None, 4)
        banks = [int(word) % BANKS for word in words]
        rows = f"Rows of *{side + padding} words*" + ", swizzled" * (swizzle == "yes")
        return Frame(
            f"{rows}: the first column of the tile lies in "
            f"*t:{count(len(set(banks)), 'bank')}* and takes "
            f"*{count(cost.wavefronts, 'wavefront')}*. "
            f"The padding takes {4 * side * padding} bytes.",
            (grid.cells(lambda row, bank: "t" if bank == banks[row] else "."),),
        )

    return explore(
        draw,
        {"Padding, words": range(9), "Swizzle": ("no", "yes")},
        (0, "no"),
        title="Padding, a swizzle, and the banks of a column",
        alt="A column for each of the 32 banks, a row for each row of the tile. Filled: the bank "
        "that holds the row's first element.",
        size=(288, 240),
        grids=(grid,),
        labels=((0, 10, "bank 0"), (246, 10, "bank 31")),
    )
