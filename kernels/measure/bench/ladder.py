"""The rungs at every shape and number format, with cuBLAS and other libraries beside them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

from kernels.backend import on_gpu
from kernels.host import half
from kernels.host.rung import Values
from kernels.measure import peers, probes
from kernels.measure.bench.case import Case
from kernels.measure.bench.case_of_bytes import case_of
from kernels.measure.bench.step import Step, Tables, one_line
from kernels.rungs.order import LADDER, Rung

SIZES = (1024, 2048, 4096)
#: Only rungs from this one on are worth the wait at the largest size, and where tiles do not fit.
LARGE, LARGE_FROM = 8192, "tiled"
#: Thin and odd shapes (M, N, K): where fixed tiles leave SMs idle, or reach past the edges.
SHAPES = ((128, 8192, 8192), (8192, 128, 8192), (8192, 8192, 128), (4097, 4097, 4097))


def steps() -> list[Step]:
    """The rungs at every shape: in float32 first, then on tensor cores."""
    rungs = list(LADDER.values())
    dtypes = list(dict.fromkeys(dtype for rung in rungs for dtype in rung.dtypes))
    cubes = [(n, n, n) for n in (*SIZES, LARGE)]
    todo = []
    for dtype in dtypes:
        # In bfloat16 the tensor cores work as fast as in float16: the large cubes will do.
        # Of 16 bits or 8 a cube of 1024 is done before the host has asked for the next.
        shapes = {
            "float16": (*cubes[1:], *SHAPES), "bfloat16": cubes[-2:], half.PARTS: cubes,
            half.E4M3: cubes[1:],
        }.get(dtype, (*cubes, *SHAPES))  # fmt: skip
        for shape in shapes:
            worth = [rung for rung in rungs if dtype in rung.dtypes]
            if shape not in cubes[:-1]:
                first = list(LADDER).index(LARGE_FROM)
                worth = [rung for rung in worth if list(LADDER).index(rung.name) >= first]
            named = f"{shape[0]}³" if shape in cubes else "×".join(map(str, shape))
            name = f"ladder {named}" + (f", {dtype}" if dtype != "float32" else "")
            todo.append(Step(name, lambda s=shape, w=worth, d=dtype: timings(*s, w, d)))
    return todo


def timings(M: int, N: int, K: int, rungs: list[Rung], dtype: str = "float32") -> Tables:
    """All versions of the rungs for A (M×K) and B (K×N), cuBLAS and other libraries beside them.

    Each is measured in turn with cuBLAS, and its row says what cuBLAS reached beside it: what ran
    before decides how warm a GPU is, and so its clock. It also says if every launch copies matrices
    first, whose rows begin on no 16-byte boundary: that is part of the time. The row of cuBLAS
    itself is measured alone, first and last, as one.
    """
    case = case_of(M, N, K, dtype)
    library = {"rung": "cublas", "engine": "library", "options": {}}
    try:
        before = case.measure(case.library())
    except RuntimeError as error:  # without it there is nothing to compare with
        warnings.warn(f"not measured: {dtype}: {one_line(error)}", stacklevel=2)
        return {"timings": []}
    rows = []
    for rung in rungs:
        if dtype in rung.dtypes and not rung.missing(dtype):
            rows += versions_of(rung, case, rung.versions())
    for name, prepare in peers.others(case.A, case.B, case.C, dtype):
        try:
            rows.append({**library, "rung": name, **beside_cublas(case, prepare())})
        except Exception as error:  # a library that does not work here
            warnings.warn(f"not measured: {name}: {one_line(error)}", stacklevel=2)
    after = case.measure(case.library())
    alone = both(before, after)
    return {"timings": [{**library, **alone, "cublas_gflops": alone["gflops"]}, *rows]}


def versions_of(
    rung: Rung, case: Case, versions: Iterable[tuple[str, Values]]
) -> list[dict[str, Any]]:
    """Rows of versions of a rung, each measured in turn with cuBLAS; with the clock, on a GPU."""
    rows = []
    for engine, options in versions:
        what = {"rung": rung.name, "engine": engine, "options": options}
        try:
            launch = case.launch(rung, engine, options)
            found = beside_cublas(case, launch)
            clock = probes.clock(launch, found["seconds"]["median"]) if on_gpu else None
        except Exception as error:  # the others are measured all the same
            warnings.warn(f"not measured: {what}: {one_line(error)}", stacklevel=2)
            continue
        copied = {"copied": True} if case.copies(rung) else {}
        rows.append({**what, **found, **({"clock": clock} if clock else {}), **copied})
    return rows


def beside_cublas(case: Case, launch: Callable[[], object]) -> dict[str, Any]:
    """A launch measured in turn with cuBLAS: its figures, and cuBLAS's speed beside it."""
    cublas, found = case.measure_in_turn([case.library(), launch])
    return {**found, "cublas_gflops": cublas["gflops"]}


def both(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Two measurements of the same launch as one row: the mean of medians, the outer quartiles."""
    a, b = one["seconds"], other["seconds"]
    median = float(f"{(a['median'] + b['median']) / 2:.6g}")
    seconds = {"median": median, "q1": min(a["q1"], b["q1"]), "q3": max(a["q3"], b["q3"]),
               "n": a["n"] + b["n"]}  # fmt: skip
    flop = 2 * one["M"] * one["N"] * one["K"]
    return {**one, "seconds": seconds, "gflops": float(f"{flop / median / 1e9:.5g}"),
            "correct": one["correct"] and other["correct"]}  # fmt: skip
