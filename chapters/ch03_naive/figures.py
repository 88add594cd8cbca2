"""Chapter 3: a thread and its element, use and limit, the shape of a warp and its sectors."""

from __future__ import annotations

import numpy as np

from kernels import records
from kernels.basics.units import percent, quantity
from kernels.lab.widgets.micro import CellGrid, Frame, Micro, explore
from kernels.lab.widgets.micro.words import brief
from kernels.records import roofline
from microscope import global_cost

__all__ = ["own_element", "reuse_and_roof", "warp_shape_and_sectors"]

SECTOR = 8  # floats


def own_element(block: tuple[int, int] = (1, 1), shape: tuple[int, int] = (8, 4)) -> Micro:
    """A thread of a block, its element of C, and the place of that in memory."""
    C = CellGrid(0, 20, 8, 16, 18, 15)
    memory = CellGrid(0, 164, 1, 128, 2.25, 22)
    (bx, by), (across, down) = block, shape

    def draw(thread: int) -> Frame:
        x, y = thread % across, thread // across
        row, column = by * down + y, bx * across + x
        place = row * C.columns + column

        def inside(r: int, c: int) -> bool:
            return r // down == by and c // across == bx

        kinds = C.cells(
            lambda r, c: "h" if (r, c) == (row, column) else "C" if inside(r, c) else "."
        )
        return Frame(
            f"Thread *{thread}* of block ({bx}, {by}) has x = {x} and y = {y}: column "
            f"{bx} · {across} + {x} = *{column}*, row {by} · {down} + {y} = *{row}*. It owns "
            f"*h:C[{row}, {column}]*, place {row} · {C.columns} + {column} = *{place}* in memory.",
            (kinds, kinds),
            [tuple(a + b for a, b in zip(C.place(row, column), (9, 7), strict=True))],
        )

    return explore(
        draw,
        {"Thread": range(across * down)},
        (13,),
        title="A thread and its element",
        alt="C in blocks of 8 × 4 threads: one block and one thread of it are marked. Below, the "
        "same elements as they lie in memory, row after row.",
        size=(288, 186),
        grids=(C, memory),
        labels=((0, 12, f"C, {C.rows} × {C.columns}"), (0, 157, "the same in memory")),
    )


def reuse_and_roof() -> Micro:
    """How fast memory lets a product be, by how often each loaded number is used."""
    record = records.load(records.DEFAULT_GPU)
    roof = roofline.recorded(record)
    parts = CellGrid(0, 0, 10, 20, 14, 14)

    def draw(uses: int) -> Frame:
        intensity = uses / 4  # a multiplication and an addition for two loads of four bytes
        limit = roof.attainable(intensity)
        share = limit / roof.compute
        filled = round(share * 200)
        return Frame(
            f"If each loaded number is used {'*once*' if uses == 1 else f'*{uses} times*'}, that's "
            f"{brief(intensity)} FLOP per byte. Then an H200's memory, at the speed of a copy, "
            f"allows *{quantity(limit, 'FLOP/s')}*: *{percent(share)}* of its peak.",
            (parts.cells(lambda r, c: "t" if 20 * r + c < filled else "."),),
        )

    return explore(
        draw,
        {"Uses": [2**power for power in range(8)]},
        (1,),
        title="Use and limit",
        alt="200 cells stand for the peak of the FP32 lanes. Filled: what memory allows.",
        size=(280, 140),
        grids=(parts,),
    )


def warp_shape_and_sectors(K: int = 4096) -> Micro:
    """The sectors of A and B that a warp loads for one k, by its shape on C."""
    a, b = CellGrid(0, 14, 32, SECTOR, 6, 8), CellGrid(54, 0, 1, 32, 7, 8)
    c = CellGrid(54, 14, 32, 32, 7, 8)

    def draw(shape: str) -> Frame:
        columns, rows = map(int, shape.split(" × "))
        lane = np.arange(32)
        row, column = lane // columns, lane % columns
        sectors = [global_cost(4 * index[None], None, 4).sectors for index in (row * K, column)]
        held = SECTOR * sectors[1]  # floats of the sectors of B
        name = {32: " (naive)", 1: " (swapped)"}.get(columns, "")
        return Frame(
            f"A warp of *{columns}* threads along x and *{rows}* along y{name} loads "
            f"*a:{sectors[0]}* {'sector' if sectors[0] == 1 else 'sectors'} of A and "
            f"*b:{sectors[1]}* of B for each k: *{sum(sectors)}* together. It uses "
            f"{rows + columns} of their {SECTOR * sum(sectors)} floats.",
            (
                a.cells(lambda r, k: " " if r >= rows else "A" if k else "a"),
                b.cells(lambda _, at: "b" if at < columns else "B" if at < held else " "),
                c.cells(lambda r, at: "c" if r < rows and at < columns else "."),
            ),
            [c.place(rows, columns)],
        )

    return explore(
        draw,
        {"Shape (x × y)": [f"{n} × {32 // n}" for n in (32, 16, 8, 4, 2, 1)]},
        ("32 × 1",),
        title="The shape of a warp and its sectors",
        alt="The elements of C that a warp owns, the sectors of A that it loads on the left, and "
        "those of B above. Pale: floats that come along and are not used.",
        size=(284, 276),
        grids=(a, b, c),
    )
