"""Chapter 7: edges and area, registers, buffers over time, the shape of a warp, order of blocks."""

from __future__ import annotations

from kernels.basics.data_sheets import gpu
from kernels.basics.units import percent, quantity
from kernels.host.tiles import tile_of
from kernels.lab.widgets.micro import CellGrid, Frame, Micro, explore
from kernels.lab.widgets.micro.words import brief, count
from kernels.measure.occupancy import MAX_REGISTERS, occupancy

__all__ = ["block_order", "buffers_over_time", "register_budget", "thread_tile", "warp_shape"]


def thread_tile() -> Micro:
    """A thread loads the edges of its tile, and computes its area."""
    sides = (1, 2, 4, 8, 16)
    a, b, c = CellGrid(0, 26, 16, 1), CellGrid(26, 0, 1, 16), CellGrid(26, 26, 16, 16)

    def draw(TM: int, TN: int) -> Frame:
        edges, area = TM + TN, TM * TN
        room = MAX_REGISTERS - edges  # for the sums

        def kind(row: int, column: int) -> str:
            if row >= TM or column >= TN:
                return "."
            return "c" if row * TN + column < room else "x"

        need = edges + area
        return Frame(
            f"For each k, the thread loads *a:{TM}* + *b:{TN}* = {edges} numbers and does "
            f"{TM} × {TN} = *c:{area}* {'FMA' if area == 1 else 'FMAs'}: *{brief(edges / area)}* "
            "loads per FMA. That takes at least "
            + (
                f"{need} of {MAX_REGISTERS} registers."
                if need <= MAX_REGISTERS
                else f"{need} registers, and there are only {MAX_REGISTERS}."
            ),
            (
                a.cells(lambda row, _: "a" if row < TM else " "),
                b.cells(lambda _, column: "b" if column < TN else " "),
                c.cells(kind),
            ),
            [c.place(TM, TN)],
        )

    return explore(
        draw,
        {"TM, rows": sides, "TN, columns": sides},
        (8, 8),
        title="Edges and area of a thread tile",
        alt="A column of numbers of A, a row of numbers of B, and the rectangle of sums between "
        "them. Sums for which there is no register are hatched.",
        size=(278, 278),
        grids=(a, b, c),
    )


def register_budget(threads: int = 256) -> Micro:
    """What a thread takes in registers, an SM lacks in warps."""
    sheet = gpu("h200")
    warps, registers = CellGrid(0, 20, 8, 8), CellGrid(150, 20, 8, 8)
    a_cell = sheet.registers_per_sm // 64

    def draw(each: int) -> Frame:
        fits = occupancy(threads, registers=each, gpu=sheet)
        used = fits.threads * each
        free = sheet.registers_per_sm - used
        return Frame(
            f"With *{each}* registers per thread, a block of {threads} threads takes "
            f"{threads * each:,} of the SM's {sheet.registers_per_sm:,}. "
            f"*{count(fits.blocks, 'block')}* {'fits' if fits.blocks == 1 else 'fit'}: "
            f"{fits.warps} of {sheet.warps_per_sm} warps, *{percent(fits.fraction)}*. "
            + (f"{free:,} registers stay unused." if free else "No register stays unused."),
            (
                warps.cells(lambda r, c: "t" if 8 * r + c < fits.warps else "."),
                registers.cells(lambda r, c: "h" if a_cell * (8 * r + c + 1) <= used else "."),
            ),
        )

    return explore(
        draw,
        {"Registers": (32, 40, 48, 56, 64, 80, 96, 112, 128, 136, 160, 192, 224, 255)},
        (128,),
        title="Registers against warps",
        alt="Two squares of 64 cells: an SM's places for warps, and its registers in 64 parts. "
        "Filled: what the blocks that fit take.",
        size=(270, 140),
        grids=(warps, registers),
        labels=((0, 12, "64 warps"), (150, 12, f"{a_cell} registers each")),
    )


def schedule(buffers: int, load: int, compute: int, tiles: int) -> list[tuple[int, int, int, int]]:
    """When each pair of tiles is asked for, has come, is multiplied, and is done with.

    The threads that multiply ask for the next pair when they begin with one; with a single buffer,
    when they are done with it.
    """
    times: list[tuple[int, int, int, int]] = []
    behind = max(buffers - 1, 1)
    for tile in range(tiles):
        asked = times[tile - behind][3 if buffers == 1 else 2] if tile >= behind else 0
        begun = max(asked + load, times[-1][3] if times else 0)
        times.append((asked, asked + load, begun, begun + compute))
    return times


def cycles_per_tile(buffers: int, load: int, compute: int) -> float:
    """Units of time from one pair of tiles to the next, once the pipeline runs."""
    return load + compute if buffers == 1 else max(compute, load / (buffers - 1))


def buffers_over_time(compute: int = 2, window: int = 26) -> Micro:
    """More buffers hide a load behind more multiplications."""
    lanes = [CellGrid(66, 20 * row, 1, window, 9, 16) for row in range(4)]
    units = CellGrid(66, 90, 1, window, 9, 20)

    def draw(buffers: int, load: int) -> Frame:
        times = schedule(buffers, load, compute, window)
        kinds = [["."] * window if lane < buffers else [" "] * window for lane in range(4)]
        busy = ["x"] * window
        for tile, (asked, come, begun, done) in enumerate(times):
            for spans, kind in (((asked, come), "t"), ((come, begun), "T"), ((begun, done), "c")):
                for at in range(*spans)[: max(0, window - spans[0])]:
                    kinds[tile % buffers][at] = kind
                    if kind == "c":
                        busy[at] = "c"
        step = cycles_per_tile(buffers, load, compute)
        return Frame(
            f"With *{count(buffers, 'buffer')}*, a load of *t:{load}* units and a multiplication "
            f"of *c:{compute}*, a step takes *{brief(step)}*. The FMA units are busy "
            f"*{percent(compute / step)}* of the time"
            + (": they never wait." if step == compute else "."),
            (*("".join(lane) for lane in kinds), "".join(busy)),
        )

    return explore(
        draw,
        {"Buffers": (1, 2, 3, 4), "A load takes": (1, 2, 3, 4, 5, 6, 8)},
        (1, 4),
        title="Buffers over time",
        alt="A strip for each buffer over time: loading, holding what has come, being multiplied. "
        "Below them the FMA units, hatched while they wait.",
        size=(300, 112),
        grids=(*lanes, units),
        labels=(
            *((0, 20 * row + 13, f"buffer {row + 1}") for row in range(4)),
            (0, 104, "FMA units"),
        ),
    )


def warp_shape(side: int = 8) -> Micro:
    """A compact warp needs fewer distinct numbers; `side` is that of its thread tiles."""
    a, b, c = (
        CellGrid(0, 14, 32, 1, 8, 8),
        CellGrid(14, 0, 1, 32, 8, 8),
        CellGrid(14, 14, 32, 32, 8, 8),
    )

    def draw(shape: str) -> Frame:
        rows, columns = map(int, shape.split(" × "))
        down, across = side * rows, side * columns
        return Frame(
            f"A warp of *{shape}* thread tiles covers {down} × {across} elements of C. For each "
            f"k it needs *a:{down}* numbers of A and *b:{across}* of B: *{down + across}* "
            "different ones.",
            (
                a.cells(lambda row, _: "a" if row < rows else "."),
                b.cells(lambda _, column: "b" if column < columns else "."),
                c.cells(lambda row, column: "c" if row < rows and column < columns else "."),
            ),
            [c.place(rows, columns)],
        )

    return explore(
        draw,
        {"Shape": [f"{32 // n} × {n}" for n in (1, 2, 4, 8, 16, 32)]},
        ("2 × 16",),
        title="The shape of a warp",
        alt=f"Each cell is a thread tile of {side} × {side}. A warp's 32 form a rectangle, with "
        "the strip of A that it needs on the left and that of B above.",
        size=(280, 280),
        grids=(a, b, c),
    )


def needed(side: int, group: int, running: int) -> tuple[set[tuple[int, int]], set[int], set[int]]:
    """The tiles of C of the first `running` blocks, and the rows of A and columns of B they need.

    C has `side` × `side` tiles, and the blocks take them `group` rows at a time.
    """
    tiles = {tile_of(number, side, side, group) for number in range(running)}
    return tiles, {row for row, _ in tiles}, {column for _, column in tiles}


def block_order(side: int = 64, tile: int = 128) -> Micro:
    """Which tiles of C run at the same time, and the strips of A and B that they need."""
    a, b, c = (
        CellGrid(0, 10, side, 1, 6, 4),
        CellGrid(10, 0, 1, side, 4, 6),
        CellGrid(10, 10, side, side, 4, 4),
    )
    strip = 4 * tile * tile * side  # bytes in fp32; K is as long as a side of C

    def draw(group: int, running: int) -> Frame:
        tiles, rows, columns = needed(side, group, running)
        strips = len(rows) + len(columns)
        order = "in row order" if group == 1 else f"{group} rows at a time"
        return Frame(
            f"{running} blocks, *{order}*, need *a:{count(len(rows), 'strip')}* of A and "
            f"*b:{len(columns)}* of B: *{strips}* in all, {quantity(strips * strip, 'B')}.",
            (
                a.cells(lambda row, _: "a" if row in rows else "."),
                b.cells(lambda _, column: "b" if column in columns else "."),
                c.cells(lambda row, column: "c" if (row, column) in tiles else "."),
            ),
        )

    return explore(
        draw,
        {"Rows at a time": (1, 2, 4, 8, 16, 32, 64), "Blocks at a time": (132, 264, 528)},
        (1, 264),
        title="The order of the blocks",
        alt=f"C in {side} × {side} tiles. Filled: those of the blocks that run at the same time, "
        "the strips of A that they need on the left, and those of B above.",
        size=(268, 268),
        grids=(a, b, c),
    )
