"""``compare``: every rung beside cuBLAS."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.table import Table

from kernels import host, records
from kernels.backend import on_gpu, why_cpu
from kernels.basics import files
from kernels.basics.units import percent
from kernels.cli import gpus as on_gpus
from kernels.cli.console import out, progress
from kernels.cli.parameters import Grids, Sizes, spelled
from kernels.cli.trace import TRACED
from kernels.distributed.grid import Grid
from kernels.measure import oracle
from kernels.measure.anywhere import trace_rung
from kernels.measure.bench.ladder import SIZES, timings
from kernels.measure.bench.provenance import provenance
from kernels.rungs.order import ENGINE_TITLES, LADDER

#: Number formats of the ladder.
FORMATS = list(dict.fromkeys(dtype for rung in LADDER.values() for dtype in rung.dtypes))


@click.command()
@click.option("--sizes", type=Sizes(), help="Such as 1024,2048,4096; M = N = K.")
@click.option("--gpus", type=Grids(), help="The algorithms for this many GPUs instead.")
@click.option("--dtype", type=click.Choice(FORMATS), default=FORMATS[0], show_default=True,
              help="Number format of A and B.")  # fmt: skip
@click.option("--json", "file", type=click.Path(path_type=Path, dir_okay=False), help="Also here.")
def compare(
    sizes: tuple[int, ...] | None, gpus: Grid | None, dtype: str, file: Path | None
) -> None:
    """Run every rung against cuBLAS: the ladder in one table.

    Without a GPU, small sizes are traced by the microscope and of large ones the record is shown.
    """
    if file:
        files.check_folder(file.absolute().parent)
    if gpus and dtype != FORMATS[0]:
        raise ValueError(f"--dtype {dtype} is for one GPU: leave out --gpus, or --dtype")
    if gpus:
        about = on_gpus.compare(gpus, sizes or on_gpus.SIZES, dtype)
    elif on_gpu:
        about = _compare_on_gpu(sizes or SIZES, dtype)
    else:
        about = _compare_on_cpu(sizes, dtype)
    if file:
        files.replace_text(file, json.dumps(about, indent=1, ensure_ascii=False) + "\n")
        out.print(f"written to {file}", markup=False)


def _compare_on_gpu(sizes: tuple[int, ...], dtype: str) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    with progress() as bar:
        task = bar.add_task("", total=len(sizes))
        for size in sizes:
            bar.update(task, description=f"ladder {size}³")
            with host.memory_errors(12 * size * size):
                rows += timings(size, size, size, list(LADDER.values()), dtype)["timings"]
            bar.advance(task)
    _print_ladder(rows, sizes, "GFLOP/s")
    return {"provenance": provenance(), "timings": rows}


def version(row: records.Row) -> str:
    """A rung and what its options add to that: ``tiled 16``, ``swizzled split=4``."""
    options = row.options
    if row.rung in LADDER and len(options) > 1:
        usual = LADDER[row.rung].default(row.engine)
        text = spelled({name: value for name, value in options.items() if usual.get(name) != value})
    else:
        text = " ".join(map(str, options.values()))
    return f"{row.rung} {text}".rstrip()


def _print_ladder(rows: Iterable[dict[str, Any]], sizes: Iterable[int], title: str) -> None:
    """A line a version of a rung, a column a size."""
    columns = ("rung", "language", *(f"{size}³" for size in sizes), "result")
    table = Table(*columns, title=title, box=box.SIMPLE, padding=(0, 1, 0, 0))
    found: dict[tuple[str, str], dict[int, records.Row]] = {}
    for row in map(records.Row, rows):
        language = "library" if row.engine == "library" else ENGINE_TITLES[row.engine]
        key = (version(row), language)
        found.setdefault(key, {})[row.M] = row
    for (label, language), line in found.items():
        cells = [
            f"{line[size].gflops:,.0f} ({percent(line[size].share)})" if size in line else ""
            for size in sizes
        ]
        right = "right" if all(row.correct for row in line.values()) else "WRONG"
        table.add_row(label, language, *cells, right)
    out.print(table)


def _compare_on_cpu(sizes: tuple[int, ...] | None, dtype: str) -> dict[str, Any]:
    record = records.load()
    timings = record.rows("timings", dtype=dtype)
    recorded = sorted({row.M for row in timings if row.M == row.N == row.K})
    sizes = sizes or (64, 100, *(size for size in recorded if size in SIZES))
    for size in sizes:
        if size > TRACED and size not in recorded:
            known = (
                f", and not one of {', '.join(map(str, recorded))}, recorded" if recorded else ""
            )
            raise ValueError(
                f"size {size} is too large for the CPU interpreter to count{known}: "
                f"use {TRACED} or less"
            )
    out.print(f"No GPU ({why_cpu}): nothing is measured here.", markup=False)
    counted = _count_requests([size for size in sizes if size <= TRACED], dtype)
    large = [size for size in sizes if size > TRACED]
    rows = [row for row in timings if row.M == row.N == row.K and row.M in large]
    if rows:
        _print_ladder(rows, large, "recorded GFLOP/s")
        out.print(record.caption(), markup=False)
    if not counted and not rows:
        out.print(f"Nothing is recorded of {dtype}, and the interpreter runs only float32.",
                  markup=False)  # fmt: skip
    return {
        "provenance": {"gpu": None, "note": "no GPU: counts of the microscope, no times"},
        "timings": counted,
        "recorded": {"provenance": record.provenance, "timings": rows},
    }


def _count_requests(sizes: list[int], dtype: str) -> list[dict[str, Any]]:
    """What the microscope counts of every rung, with the default options."""
    columns = ("rung", "size", "requests", "sectors", "result")
    table = Table(*columns, title="counted", box=box.SIMPLE)
    rows = []
    with progress() as bar:
        rungs = [r for r in LADDER.values() if r.in_microscope and dtype in r.dtypes]
        task = bar.add_task("", total=len(sizes) * len(rungs))
        for rung in rungs:
            for size in sizes:
                bar.update(task, description=f"{rung.name} {size}³")
                A, B = oracle.inputs(size, size, size)
                options = rung.default("numba")
                seen = trace_rung(rung, size, size, size, **options)
                oracle.check(seen.outputs["C"], A, B)
                found = seen.count(space="global")
                row = {"rung": rung.name, "engine": "microscope", "options": options,
                       "M": size, "N": size, "K": size, "requests": found["requests"],
                       "sectors": found["sectors"], "correct": True}  # fmt: skip
                rows.append(row)
                table.add_row(rung.name, f"{size}³", f"{row['requests']:,}", f"{row['sectors']:,}",
                              "right")  # fmt: skip
                bar.advance(task)
    if rows:
        out.print(table)
    return rows
