"""Chapter 4: what larger tiles save, blocks at the edge, and a warp that comes late."""

from __future__ import annotations

from kernels.basics.units import quantity
from kernels.host import cdiv
from kernels.lab.widgets.micro import CellGrid, Frame, Micro, explore
from kernels.lab.widgets.micro.words import brief, count
from kernels.rungs.order import LADDER

__all__ = ["edge_blocks", "late_warp", "loads_by_tile"]


def loads_by_tile(size: int = 4096) -> Micro:
    """The loads that are left of the naive kernel's, by the side of a tile."""
    grid = CellGrid(0, 0, 32, 32, 8, 8)
    naive = sum(LADDER["naive"].model(size, size, size).loads.values())

    def draw(tile: int) -> Frame:
        model = (
            LADDER["tiled"].model(size, size, size, tile=tile)
            if tile > 1
            else LADDER["naive"].model(size, size, size)
        )
        loads = sum(model.loads.values())
        left = 1024 * loads // naive
        return Frame(
            (
                f"With tiles of *{tile} × {tile}*, each loaded number is used *{naive // loads}* "
                if tile > 1
                else "Without tiles, each loaded number is used *1* "
            )
            + f"time{'s' * (tile > 1)}. At {size}³ the threads request "
            f"*{quantity(4 * loads, 'B')}* of A and B. "
            f"The intensity is {brief(model.flops / (4 * loads))} FLOP per byte.",
            (grid.cells(lambda r, c: "a" if 32 * r + c < left else "."),),
        )

    return explore(
        draw,
        {"Side of a tile": (1, 8, 16, 32)},
        (16,),
        title="Loads that are left",
        alt="1024 cells stand for all loads of the naive kernel. Filled: those that are left.",
        size=(256, 256),
        grids=(grid,),
    )


def edge_blocks(M: int = 6, tile: int = 4) -> Micro:
    """The threads of the last blocks that own no element of C."""
    grid = CellGrid(0, 0, 8, 16, 18, 18)

    def draw(N: int) -> Frame:
        down, across = cdiv(M, tile), cdiv(N, tile)
        threads = down * across * tile * tile

        def kind(row: int, column: int) -> str:
            if row < M and column < N:
                return "c"
            return "x" if row < down * tile and column < across * tile else " "

        idle = threads - M * N
        return Frame(
            f"C has *c:{M} × {N}* elements. Blocks of {tile} × {tile} threads make a grid of "
            f"{down} × {across}: {threads} threads start, and *h:{idle}* of them own no element. "
            "They load all the same.",
            (grid.cells(kind),),
            [(grid.place(M / 2, N)[0], grid.place(M / 2, N)[1])],
        )

    return explore(
        draw,
        {"Columns of C": range(1, 17)},
        (9,),
        title="Blocks at the edge",
        alt="C, covered by blocks of 4 × 4 threads. Hatched: threads without an element of C.",
        size=(298, 144),
        grids=(grid,),
    )


def late_warp(side: int = 8) -> Micro:
    """A tile's rows that one warp reads before another has stored them."""
    tile = CellGrid(0, 20, side, side, 15, 15)
    warps = [CellGrid(174, 42 + 44 * warp, 1, 18, 7, 20) for warp in range(2)]
    half = side // 2

    def draw(late: int, barrier: str) -> Frame:
        begin = late + 1 if barrier == "yes" else 1
        # Warp 0 reads row k at step begin + k; warp 1 stores the lower rows at step `late`.
        stale = {k for k in range(half, side) if begin + k <= late}
        first = "t" + "." * (begin - 1)
        first += "".join("x" if k in stale else "b" for k in range(side))
        second = "." * late + "t"
        text = (
            f"Warp 1 stores its half of the tile *{count(late, 'step')}* after warp 0. "
            if late
            else "Both warps store their halves of the tile at once. "
        )
        if barrier == "yes":
            text += (
                f"Warp 0 waits at the barrier for {count(late, 'step')}, and every number is right."
                if late
                else "Nobody waits, and every number is right."
            )
        else:
            text += (
                f"Warp 0 doesn't wait: it reads *h:{count(len(stale), 'row')}* too early, so "
                f"*{len(stale)} of {side}* products in each of its sums are wrong."
                if stale
                else "Warp 0 doesn't wait, and is lucky: every number is right."
            )
        return Frame(
            text,
            (
                tile.cells(lambda row, _: "x" if row in stale else "b"),
                first.ljust(18),
                second.ljust(18),
            ),
        )

    return explore(
        draw,
        {"Warp 1 is late by": range(9), "Barrier": ("no", "yes")},
        (6, "no"),
        title="A warp that comes late",
        alt="A tile of B, the rows that warp 0 reads too early hatched. Beside it both warps over "
        "time: storing, waiting, reading.",
        size=(300, 142),
        grids=(tile, *warps),
        labels=((0, 12, "tile of B, as warp 0 reads it"), (174, 36, "warp 0"), (174, 80, "warp 1")),
    )
