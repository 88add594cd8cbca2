"""Chapter 8: who holds what, which whole numbers exist, how full the last round is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from chapters.ch08_tensor_cores.formats import ROUND
from kernels.basics.data_sheets import gpu
from kernels.basics.units import percent
from kernels.host import cdiv
from kernels.lab.plots.fragments import holder
from kernels.lab.widgets.micro import CellGrid, Frame, Micro, explore
from kernels.lab.widgets.micro.words import count
from kernels.rungs.order import LADDER

__all__ = ["fragment", "rounds_of_tiles", "whole_numbers"]


def fragment() -> Micro:
    """The elements of A, B and C that a lane holds, and those that its part of C needs."""
    A, B, C = (
        CellGrid(0, 152, 16, 16, 9, 9),
        CellGrid(152, 0, 16, 8, 9, 9),
        CellGrid(152, 152, 16, 8, 9, 9),
    )

    def draw(lane: int) -> Frame:
        held = {
            name: [
                (row, column)
                for row in range(grid.rows)
                for column in range(grid.columns)
                if holder(name, row, column) == lane
            ]
            for name, grid in (("A", A), ("B", B), ("C", C))
        }
        rows, columns = ({place[axis] for place in held["C"]} for axis in (0, 1))
        own = sum(row in rows for row, _ in held["A"]), sum(col in columns for _, col in held["B"])
        need = 16 * len(rows), 16 * len(columns)

        def kinds(grid: CellGrid, name: str, needed: Callable[[int, int], bool]) -> str:
            return grid.cells(
                lambda row, column: (
                    name.lower()
                    if (row, column) in held[name]
                    else name
                    if needed(row, column)
                    else "."
                )
            )

        shown = ", ".join(f"C[{row}, {column}]" for row, column in held["C"])
        return Frame(
            f"Lane *{lane}* holds *c:{shown}*. They need {need[0]} elements of A and {need[1]} of "
            f"B. It holds *a:{own[0]}* and *b:{own[1]}* of those; the other "
            f"*{sum(need) - sum(own)}* are in other lanes' registers.",
            (
                kinds(A, "A", lambda row, _: row in rows),
                kinds(B, "B", lambda _, column: column in columns),
                kinds(C, "C", lambda *_: False),
            ),
            [
                tuple(x + 4.5 for x in grid.place(*place))
                for name, grid in (("A", A), ("B", B), ("C", C))
                for place in held[name]
            ],
        )

    return explore(
        draw,
        {"Lane": range(32)},
        (21,),
        title="What a lane holds of an mma",
        alt="A on the left, B above, C between them. Filled: what the lane holds. Pale: the rows "
        "of A and the columns of B that its elements of C need.",
        size=(224, 296),
        grids=(A, B, C),
        labels=((0, 146, "A, 16 × 16"), (84, 14, "B, 16 × 8")),
    )


def whole_numbers() -> Micro:
    """Which whole numbers a format has, from a power of two on."""
    formats = {name: ROUND[name] for name in ("fp32", "TF32", "fp16", "bf16")}
    rows = [CellGrid(40, 18 + 24 * row, 1, 33, 8, 18) for row in range(len(formats))]

    def draw(first: int) -> Frame:
        x = np.arange(first, first + 33, dtype=np.float32)
        with np.errstate(over="ignore"):
            exists = {name: rounded(x) == x for name, rounded in formats.items()}
        gaps = {
            name: int(np.diff(np.flatnonzero(found)).min(initial=33))
            for name, found in exists.items()
        }

        def has(name: str) -> str:
            if not exists[name].any():
                return f"{name} has no number as large"
            if gaps[name] == 1:
                return f"{name} has all of them"
            return (
                f"{name} every {gaps[name]}{_ordinal(gaps[name])}"
                if gaps[name] < 33
                else (f"{name} none of the next 32")
            )

        with np.errstate(over="ignore"):
            total = float(np.float16(first) + np.float16(1))
        sums = f"{total:g}" if np.isfinite(total) else "infinity"
        return Frame(
            f"Whole numbers from *{first:,}* on: "
            + ", ".join(has(name) for name in ("TF32", "fp16", "bf16"))
            + f". In fp16, {first:,} + 1 is *{sums}*.",
            tuple("".join("t" if found else "." for found in exists[name]) for name in formats),
        )

    return explore(
        draw,
        {"Start at": [2**power for power in range(5, 17)]},
        (2048,),
        title="Which whole numbers exist",
        alt="A row of 33 whole numbers for each of fp32, TF32, fp16 and bf16. Filled: those that "
        "the format has.",
        size=(306, 112),
        grids=rows,
        labels=[(0, 31 + 24 * row, name) for row, name in enumerate(formats)],
    )


def rounds_of_tiles() -> Micro:
    """The SMs that the last round of tiles leaves idle."""
    sheet, rung = gpu("h200"), LADDER["persistent"]
    BM, BN, _ = rung.footprint(**rung.default("cpp"))["tile"]
    sms = CellGrid(0, 0, 11, 12, 22, 15)

    def draw(size: int) -> Frame:
        tiles = cdiv(size, BM) * cdiv(size, BN)
        rounds = cdiv(tiles, sheet.sms)
        last = tiles - (rounds - 1) * sheet.sms
        return Frame(
            f"At *{size}³*, C has {tiles:,} tiles of {BM} × {BN}. {sheet.sms} SMs compute "
            f"them in *{count(rounds, 'round')}*. In the last, *t:{last}* SMs work and "
            f"{sheet.sms - last} are idle. On average, "
            f"*{percent(tiles / (rounds * sheet.sms))}* of the SMs have a tile.",
            (sms.cells(lambda r, c: "t" if 12 * r + c < last else "."),),
        )

    return explore(
        draw,
        {"M = N = K": range(1024, 8193, 256)},
        (4096,),
        title="The last round of tiles",
        alt=f"{sheet.sms} cells, one for each SM. Filled: those with a tile in the last round.",
        size=(264, 165),
        grids=(sms,),
    )


def _ordinal(number: int) -> str:
    return "nd" if number % 10 == 2 else "th"
