"""What the tests for the edges of the matrices cost."""

from __future__ import annotations

import re
from typing import Any

from kernels import host
from kernels.backend import cupy
from kernels.host import cpp
from kernels.measure.bench.case import Case
from kernels.measure.bench.step import Step, Tables
from kernels.rungs.order import LADDER, Rung

#: Two comparisons that keep a thread inside a matrix.
GUARD = re.compile(r"[^(=;?]+ < (?:M|N|K|rows|cols) && [^?;)]+ < (?:M|N|K|rows|cols)")
GUARDED = ("naive", "tiled", "thread_tiled", "vectorized", "pipelined", "warp_tiled")


def steps() -> list[Step]:
    """One step: the C++ twins with and without their guards."""
    return [Step("cost of the guards", guards)]


def unguarded(rung: Rung, options: dict[str, int]) -> Any:
    """The C++ counterpart of a rung with the tests for the edges of the matrices struck out."""
    text, struck = GUARD.subn(" true ", cpp.source(rung.name))
    if not struck:
        raise ValueError(f"{rung.name}.cu has no guard of the form row < M && col < N")
    macros = rung.Options(**options).macros
    defined = (f"-D{name}={value}" for name, value in macros.items())
    module = cupy.RawModule(code=text, options=("--std=c++17", *defined))
    return module.get_function(rung.name)


def with_room(matrix: Any, rows: int = 64) -> Any:
    """The same matrix, with rows of zeros behind it in memory that are no part of it."""
    held = cupy.zeros((matrix.shape[0] + rows, matrix.shape[1]), matrix.dtype)
    held[: matrix.shape[0]] = matrix
    return held[: matrix.shape[0]]


def guards(size: int = 4096) -> Tables:
    """What the guards cost: the C++ twins with and without them, where the tiles fit anyway."""
    case, rows = Case(size, size, size), []
    # Without guards, kernels that load ahead read beyond the last tile: they may.
    case.A, case.B = with_room(case.A), with_room(case.B)
    for name in GUARDED:
        rung = LADDER[name]
        options = rung.default("cpp")
        grid, block = rung.launch(size, size, **options)
        arguments = host.Product(case.A, case.B, case.C, "cpp").cpp_arguments()
        bare = unguarded(rung, options)
        with_guard, without = case.measure_in_turn(
            [case.launch(rung, "cpp", options), lambda: bare(grid, block, arguments)]  # noqa: B023
        )
        cost = with_guard["seconds"]["median"] / without["seconds"]["median"] - 1
        rows.append({
            "rung": name, "engine": "cpp", "options": options, **with_guard,
            "unguarded_seconds": without["seconds"], "guard_cost": round(cost, 4),
            "correct": with_guard["correct"] and without["correct"],
        })  # fmt: skip
    return {"guard": rows}
