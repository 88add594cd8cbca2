"""The command line: ``python -m kernels info | run | compare | trace | profile | tune`` …"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from difflib import get_close_matches
from math import prod
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from kernels import host, lab, records
from kernels.basics import data_sheets, files
from kernels.basics.units import percent, quantity
from kernels.engine import cupy, engine_name, on_gpu, why_cpu
from kernels.host import half, tuned
from kernels.measure import bench, host_bench, oracle, peers, profiler, report
from kernels.measure.timing import time as time_launch
from kernels.measure.timing import time_in_turn
from kernels.rungs.order import ENGINE_TITLES, LADDER, Rung
from kernels.tuning import tune
from kernels.tuning.predict import gpu_here

# `notebooks` and `showcase` are imported where they are used: Jupyter and Matplotlib take seconds
# to load, and only recording needs them.
out = Console(highlight=False, soft_wrap=True)
ROOT = Path(__file__).parents[1]
STAGING = ROOT / "_build" / "record"
#: Sizes whose product the interpreter finishes in less than a minute, and traces in seconds: all
#: blocks, or one.
INTERPRETED, TRACED, TRACED_IN_PART = 2048, 192, 4096
WAY_OUT = "use a whole number of at least 1, such as 1024"


class Whole(click.ParamType):
    """A whole number of at least 1."""

    def __init__(self, name: str, way_out: str) -> None:
        self.name, self.way_out = name, way_out

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        try:
            number = int(value)
        except ValueError:
            raise ValueError(f"{self.name} {value!r} is no whole number: {self.way_out}") from None
        return host.check_whole(number, self.name, self.way_out)


SIZE = Whole("size", WAY_OUT)


class RungName(click.ParamType):
    """The name of a rung."""

    name = "rung"

    def convert(self, value: Any, param: Any, ctx: Any) -> Rung:
        if isinstance(value, Rung):
            return value
        if value in LADDER:
            return LADDER[value]
        near = get_close_matches(value, LADDER, n=1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        raise LookupError(f"no rung {value!r}: {meant}There are {', '.join(LADDER)}")


class Sizes(click.ParamType):
    """Sizes with commas between them."""

    name = "sizes"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        return tuple(SIZE.convert(part.strip(), param, ctx) for part in value.split(","))


class Shape(click.ParamType):
    """M×N×K, or one number for all three."""

    name = "shape"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int, int]:
        if isinstance(value, tuple):
            return value
        sizes = [
            SIZE.convert(part.strip(), param, ctx) for part in value.replace("×", "x").split("x")
        ]
        if len(sizes) not in (1, 3):
            raise ValueError(f"size {value!r} has {len(sizes)} parts: use N or MxNxK, such as 4096")
        return tuple(sizes * (3 // len(sizes)))


def rung_options(command: Any) -> Any:
    """Add one option for each option that a rung has: ``--tile``, ``--block``."""
    names = list(dict.fromkeys(name for rung in LADDER.values() for name in rung.options))
    for name in reversed(names):
        rungs = [rung for rung in LADDER.values() if name in rung.options]
        *values, last = map(str, rungs[0].options[name])
        values = f"{', '.join(values)} or {last}"
        told = f"{' and '.join(rung.name for rung in rungs)}: {values}."
        kind = Whole(name, f"use {values}")
        command = click.option(f"--{name}", name, type=kind, help=told)(command)
    return command


def given(options: dict[str, int | None]) -> dict[str, int]:
    """The options that were set."""
    return {name: value for name, value in options.items() if value is not None}


def progress() -> Progress:
    """A progress bar on stderr that leaves nothing behind, and stays out of files and pipes."""
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=console, transient=True, disable=not console.is_terminal,
    )  # fmt: skip


@contextmanager
def busy(doing: str) -> Iterator[None]:
    """Show that work goes on whose end is not known, and for how long it has."""
    with progress() as bar:
        bar.add_task(doing, total=None)
        yield


def facts(rows: dict[str, str]) -> None:
    """Print lines of a name and what is said of it."""
    width = max(len(name) for name in rows) + 2
    for name, told in rows.items():
        out.print(f"  {name:<{width}}{told}", markup=False)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Tile by Tile: run, trace and measure the kernels of the course."""


@cli.command()
def info() -> None:
    """Say what the kernels run on here, and which GPUs are recorded."""
    device = lab.device()
    out.print(f"{device.name}", style="bold", markup=False)
    rows = {"engine": engine_name if on_gpu else f"cpu ({why_cpu})"}
    if on_gpu:
        major, minor = device.compute_capability
        rows |= {
            "compute": f"capability {major}.{minor}, {device.sms} SMs, "
            f"{quantity(device.fp32_peak, 'FLOP/s')} in fp32 at {quantity(device.clock, 'Hz')}",
            "memory": f"{quantity(device.memory_bytes, 'B')}, at most "
            f"{quantity(device.bandwidth_peak, 'B/s')}; L2 {quantity(device.l2_bytes, 'B')}",
            "driver": bench.driver_version(),
        }
    rows["limits"] = (
        f"{device.max_threads_per_block} threads and {device.shared_per_block} bytes of shared "
        f"memory a block, warps of {device.warp_size}"
    )
    try:
        rows["data sheet"] = data_sheets.gpu(device.name).source
    except LookupError:
        pass
    rows["versions"] = ", ".join(f"{k} {v}" for k, v in bench.versions().items())
    rows["recorded"] = ", ".join(records.names()) or "nothing yet"
    facts(rows)


@cli.command()
@click.argument("rung", type=RungName())
@click.argument("size", type=SIZE, required=False)
@click.option("-m", "M", type=SIZE, help="Rows of A and C, if not SIZE.")
@click.option("-n", "N", type=SIZE, help="Columns of B and C, if not SIZE.")
@click.option("-k", "K", type=SIZE, help="Columns of A and rows of B, if not SIZE.")
@click.option("--engine", type=click.Choice(["numba", "cpp"]), help="By default the rung's first.")
@rung_options
def run(
    rung: Rung, size: int | None, M: int | None, N: int | None, K: int | None,
    engine: str | None, **options: int | None,
) -> None:  # fmt: skip
    """Multiply matrices of SIZE with RUNG: check the result, time it, compare with cuBLAS."""
    shape = (M or size, N or size, K or size)
    if None in shape:
        raise click.UsageError("give SIZE, or all of -m, -n and -k")
    M, N, K = shape
    if not on_gpu and "numba" not in rung.engines:
        raise RuntimeError(
            f"{rung.name} needs an NVIDIA GPU ({why_cpu}): use a rung written in Numba, "
            "such as tiled"
        )
    engine = host.check_engine(engine or rung.engines[0])
    options = rung.default(engine) | given(options)
    grid, block = rung.launch(M, N, **options)
    model = rung.model(M, N, K, **options)
    out.print(f"{rung.title}, {ENGINE_TITLES[engine]}", style="bold", markup=False)
    told = {
        "size": f"A {M}×{K}, B {K}×{N}, C {M}×{N}: {model.flops:,} FLOP",
        **{name: str(value) for name, value in options.items()},
        "launch": f"grid {grid}, block {block}: {prod(block)} threads a block",
        "asked": f"{model.bytes_asked:,} bytes of global memory, {model.intensity:.3g} FLOP/byte",
    }
    step = _run_on_gpu if on_gpu else _run_on_cpu
    facts(told | step(rung, engine, shape, options))


def _run_on_gpu(rung: Rung, engine: str, shape: tuple[int, int, int], options: dict[str, int]):
    M, N, K = shape
    needed = 4 * (M * K + K * N + M * N)
    if needed > host.free_bytes():
        with host.memory_errors(needed):
            raise MemoryError("out of memory")
    with host.memory_errors(needed):
        dtype = rung.dtypes[0]
        A, B = (half.cast(cupy.asarray(matrix), dtype) for matrix in oracle.inputs(M, N, K))
        C = cupy.full((M, N), float("nan"), rung.out_dtype)
        launch = bench.launch(rung, engine, options, A, B, C)
        launch()
        result = str(oracle.check(C, half.floats(A), half.floats(B)))
        found, library = time_in_turn([launch, peers.cublas(A, B, C)], flush_l2=False, limit=4.0)
    used = bench.used(rung, engine, options)
    flops, moved = 2 * M * N * K / found.median, needed / found.median
    best = 2 * M * N * K / library.median
    device = lab.device()
    told = {
        "shared": f"{used['shared_bytes']:,} bytes a block, {used['registers']} registers a thread",
        "time": repr(found),
        "speed": f"{quantity(flops, 'FLOP/s')}, {percent(flops / best)} of cuBLAS "
        f"({quantity(best, 'FLOP/s')})",
    }
    if device.fp32_peak and dtype == "float32":
        peak = quantity(device.fp32_peak, "FLOP/s")
        told["compute"] = f"{percent(flops / device.fp32_peak)} of the fp32 peak, {peak}"
    if device.bandwidth_peak and dtype == "float32":
        peak = quantity(device.bandwidth_peak, "B/s")
        told["bandwidth"] = (
            f"A, B and C moved once are {quantity(moved, 'B/s')}, "
            f"{percent(moved / device.bandwidth_peak)} of the peak, {peak}"
        )
    return told | {"result": result}


def _run_on_cpu(rung: Rung, engine: str, shape: tuple[int, int, int], options: dict[str, int]):
    M, N, K = shape
    seen = _trace(rung, (1, 1, 1), options)
    told = {"shared": f"{seen.shared_bytes:,} bytes a block"}
    if M * N * K > INTERPRETED**3:
        told["result"] = (
            f"not run: the CPU interpreter takes minutes at this size; try {INTERPRETED} or less"
        )
    else:
        A, B = oracle.inputs(M, N, K)
        C = oracle.poisoned(M, N)
        with busy("CPU interpreter"):
            found = time_launch(lambda: rung.matmul(A, B, out=C, **options), repeat=1, warmup=0)
        told["time"] = f"no GPU: {found.median:.3g} s are the CPU interpreter's time"
        told["result"] = str(oracle.check(C, A, B))
    return told | {"recorded": _recorded(rung.name, engine, shape, options)}


def _recorded(rung: str, engine: str, shape: tuple[int, int, int], options: dict[str, int]) -> str:
    """The recorded figure of this size, else of the largest size recorded."""
    record = records.load()
    if not record:
        return record.caption()
    rows = record.rows("timings", rung=rung, engine=engine, **options)
    if not rows:
        return f"nothing of {rung} with these options"
    M, N, K = shape
    row = next((r for r in rows if (r.M, r.N, r.K) == shape), rows[-1])
    return f"{row.speed} at {row.M}³, {percent(row.share)} of cuBLAS. {record.caption(row)}"


def _trace(
    rung: Rung, shape: tuple[int, int, int], options: dict[str, int], blocks: Any = None
) -> Any:
    A, B = oracle.inputs(*shape)
    C = oracle.poisoned(*shape[:2])
    grid, block = rung.launch(*shape[:2], **options)
    return lab.trace(rung.kernel(**options), grid, block, A, B, C, blocks=blocks)


@cli.command()
@click.argument("rung", type=RungName())
@click.argument("size", type=SIZE)
@rung_options
def trace(rung: Rung, size: int, **options: int | None) -> None:
    """Count the memory requests of RUNG at SIZE with the microscope, line by line."""
    options = rung.defaults | given(options)
    if size > TRACED_IN_PART:
        raise ValueError(f"size {size} is too large to trace: use {TRACED_IN_PART} or less")
    whole = size <= TRACED
    seen = _trace(rung, (size, size, size), options, None if whole else [(0, 0)])
    out.print(str(seen.table()), markup=False)
    for problem in seen.problems:
        out.print(str(problem), markup=False)
    if not whole:
        out.print(f"Block (0, 0) alone: sizes up to {TRACED} are traced whole.")


@cli.command()
@click.argument("rung", type=RungName())
@click.option("--size", type=SIZE, default=profiler.SIZE, show_default=True, help="M = N = K.")
@click.option("--engine", type=click.Choice(["numba", "cpp"]), help="By default the rung's first.")
@click.option("--json", "file", type=click.Path(path_type=Path, dir_okay=False),
              help="Store the report here; by default in _build/profiles.")  # fmt: skip
@rung_options
def profile(
    rung: Rung, size: int, engine: str | None, file: Path | None, **options: int | None
) -> None:
    """Count what the hardware does in RUNG, with Nsight Compute.

    Where nothing can be counted, it says why and shows what is recorded.
    """
    with busy("Nsight Compute"):
        shown = report.command(rung.name, engine, size, given(options), file)
    out.print(*shown, sep="\n", markup=False)


@cli.command("tune")
@click.argument("rung", type=RungName())
@click.option("--size", "shape", type=Shape(), default=(4096,) * 3, metavar="N|MxNxK",
              help="M×N×K, or one number for all three; 4096 by default.")  # fmt: skip
@click.option("--engine", type=click.Choice(["numba", "cpp"]), help="By default the rung's first.")
@click.option("--dtype", help="Number format of A and B; by default the rung's first.")
@click.option("--most", type=Whole("most", "use a number such as 40"), default=tune.MOST,
              show_default=True, help="Sets of options to measure.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="List what would be measured, and what not and why.")
@click.option("--gpu", help="With --dry-run: for the GPU of this data sheet, such as t4.")
def tune_rung(
    rung: Rung, shape: tuple[int, int, int], engine: str | None, dtype: str | None, most: int,
    dry_run: bool, gpu: str | None,
) -> None:  # fmt: skip
    """Search the tile sizes of RUNG for a shape, and keep the best for this GPU.

    The rung takes them from then on where it is called without options. An interrupted search goes
    on where it stopped.
    """
    engine, dtype = engine or rung.engines[0], dtype or rung.dtypes[0]
    if gpu and not dry_run:
        raise click.UsageError("--gpu is for --dry-run: a search measures on the GPU here")
    if not dry_run and not on_gpu:
        raise RuntimeError(
            f"tuning needs an NVIDIA GPU, but {why_cpu}: --dry-run lists what would be measured"
        )
    todo = tune.plan(rung, shape, gpu_here(gpu or ""), engine, dtype, most)
    named = "×".join(map(str, shape))
    out.print(f"{rung.title}, {ENGINE_TITLES[engine]}, {dtype}, {named}", style="bold")
    out.print(
        f"{len(todo.kept) + len(todo.pruned)} sets of options on {todo.gpu.name}: "
        f"{len(todo.kept)} to measure, {len(todo.pruned)} left out",
        markup=False,
    )
    if dry_run:
        _print_plan(todo)
        return
    missing = rung.missing(dtype)
    if missing:
        raise RuntimeError(missing)
    files.check_folder(tuned.folder())
    with progress() as bar:
        task = bar.add_task("", total=None)

        def report(options: dict[str, int], done: int, total: int) -> None:
            bar.update(task, description=spelled(options), completed=done, total=total)

        about = bench.provenance()
        found, measured = tune.search(todo, tune.stopwatch(todo), about, report)
    _print_measured(todo, measured)
    faster = found.default_seconds / found.seconds
    out.print(
        f"best: {spelled(found.options)}, {faster:.3g} times the speed of the defaults\n"
        f"stored in {tuned.path()}: used for sizes of class {found.shape}",
        markup=False,
    )


def spelled(options: dict[str, int]) -> str:
    """Options as they are typed: ``tile=16``."""
    return " ".join(f"{name}={value}" for name, value in options.items())


def _print_plan(todo: tune.Plan) -> None:
    """What a search would measure, and what it leaves out, with the reason of each."""
    flop = 2 * todo.shape[0] * todo.shape[1] * todo.shape[2]
    table = Table("options", "predicted GFLOP/s", "limited by", title="to measure", box=box.SIMPLE)
    for candidate in todo.kept:
        found = candidate.prediction
        speed = f"{flop / found.seconds / 1e9:,.0f}"
        table.add_row(spelled(candidate.options), speed, tune.limit(found))
    out.print(table)
    kinds: dict[str, list[tune.Candidate]] = {}
    for candidate in todo.pruned:
        kinds.setdefault(re.sub(r"[\d.]+", "#", candidate.reason), []).append(candidate)
    if kinds:
        table = Table("sets", "for example", "why not", title="left out", box=box.SIMPLE)
        for alike in sorted(kinds.values(), key=len, reverse=True):
            table.add_row(str(len(alike)), spelled(alike[0].options), alike[0].reason)
        out.print(table)


def _print_measured(todo: tune.Plan, measured: list[tune.Measured]) -> None:
    """The fastest sets of options, and how many gave none."""
    flop = 2 * todo.shape[0] * todo.shape[1] * todo.shape[2]
    table = Table("options", "GFLOP/s", "quartiles, µs", box=box.SIMPLE)
    for one in [m for m in measured if m.seconds][:8]:
        q1, q3 = (f"{1e6 * one.seconds[name]:,.1f}" for name in ("q1", "q3"))
        speed = f"{flop / one.seconds['median'] / 1e9:,.0f}"
        table.add_row(spelled(one.options), speed, f"{q1} to {q3}")
    out.print(table)
    for one in measured:
        if not one.seconds:
            out.print(f"ruled out: {spelled(one.options)}: {one.note}", markup=False)


@cli.command()
@click.option("--sizes", type=Sizes(), help="Such as 1024,2048,4096; M = N = K.")
@click.option("--json", "file", type=click.Path(path_type=Path, dir_okay=False), help="Also here.")
def compare(sizes: tuple[int, ...] | None, file: Path | None) -> None:
    """Run every rung against cuBLAS: the ladder in one table.

    Without a GPU, small sizes are traced by the microscope and of large ones the record is shown.
    """
    if file:
        files.check_folder(file.absolute().parent)
    about = _compare_on_gpu(sizes or bench.SIZES) if on_gpu else _compare_on_cpu(sizes)
    if file:
        files.replace_text(file, json.dumps(about, indent=1, ensure_ascii=False) + "\n")
        out.print(f"written to {file}", markup=False)


def _compare_on_gpu(sizes: tuple[int, ...]) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    with progress() as bar:
        task = bar.add_task("", total=len(sizes))
        for size in sizes:
            bar.update(task, description=f"ladder {size}³")
            with host.memory_errors(12 * size * size):
                rows += bench.timings(size, size, size, list(LADDER.values()))["timings"]
            bar.advance(task)
    _print_ladder(rows, sizes, "GFLOP/s")
    return {"provenance": bench.provenance(), "timings": rows}


def version(row: records.Row) -> str:
    """A rung and what its options add to that: ``tiled 16``, ``swizzled split=4``."""
    options = row.options
    if row.rung in LADDER and len(options) > 1:
        usual = LADDER[row.rung].default(row.engine)
        told = spelled({name: value for name, value in options.items() if usual.get(name) != value})
    else:
        told = " ".join(map(str, options.values()))
    return f"{row.rung} {told}".rstrip()


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


def _compare_on_cpu(sizes: tuple[int, ...] | None) -> dict[str, Any]:
    record = records.load()
    timings = record.rows("timings")
    recorded = sorted({row.M for row in timings if row.M == row.N == row.K})
    sizes = sizes or (64, 100, *(size for size in recorded if size in bench.SIZES))
    for size in sizes:
        if size > TRACED and size not in recorded:
            known = f", and not one of {', '.join(map(str, recorded))}, recorded" if record else ""
            raise ValueError(
                f"size {size} is too large for the CPU interpreter to count{known}: "
                f"use {TRACED} or less"
            )
    out.print(f"No GPU ({why_cpu}): nothing is measured here.", markup=False)
    counted = _count_requests([size for size in sizes if size <= TRACED])
    large = [size for size in sizes if size > TRACED]
    rows = [row for size in large for row in record.rows("timings", M=size, N=size, K=size)]
    if rows:
        _print_ladder(rows, large, "recorded GFLOP/s")
        out.print(record.caption(), markup=False)
    return {
        "provenance": {"gpu": None, "note": "no GPU: counts of the microscope, no times"},
        "timings": counted,
        "recorded": {"provenance": record.provenance, "timings": rows},
    }


def _count_requests(sizes: list[int]) -> list[dict[str, Any]]:
    """What the microscope counts of every rung, with the default options."""
    columns = ("rung", "size", "requests", "sectors", "result")
    table = Table(*columns, title="counted", box=box.SIMPLE)
    rows = []
    with progress() as bar:
        rungs = [rung for rung in LADDER.values() if "numba" in rung.engines]
        task = bar.add_task("", total=len(sizes) * len(rungs))
        for rung in rungs:
            for size in sizes:
                bar.update(task, description=f"{rung.name} {size}³")
                A, B = oracle.inputs(size, size, size)
                seen = _trace(rung, (size, size, size), rung.defaults)
                oracle.check(seen.outputs["C"], A, B)
                found = seen.count(space="global")
                row = {"rung": rung.name, "engine": "microscope", "options": rung.defaults,
                       "M": size, "N": size, "K": size, "requests": found["requests"],
                       "sectors": found["sectors"], "correct": True}  # fmt: skip
                rows.append(row)
                table.add_row(rung.name, f"{size}³", f"{row['requests']:,}", f"{row['sectors']:,}",
                              "right")  # fmt: skip
                bar.advance(task)
    if rows:
        out.print(table)
    return rows


@cli.command("bench")
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False),
              help="Write the record here and leave the front page alone.")  # fmt: skip
@click.option("--host", "of_host", is_flag=True,
              help="Time the interpreter on this machine's processor; record nothing.")  # fmt: skip
@click.option("--json", "file", type=click.Path(path_type=Path, dir_okay=False),
              help="With --host: the figures also here.")  # fmt: skip
def run_bench(folder: Path | None, of_host: bool, file: Path | None) -> None:
    """Measure all that a record of this GPU holds; an interrupted run resumes where it stopped."""
    if of_host and folder:
        raise ValueError("--folder is for a record, and --host writes none: use --json FILE")
    if of_host:
        return _time_the_host(file)
    if file:
        raise ValueError("--json goes with --host; a record is a JSON file itself: use --folder")
    path = _measure(folder)
    bench.KEPT.unlink(missing_ok=True)
    out.print(f"recorded in {_near(path)}", markup=False)
    if folder is None:
        _front_page(records.read(path))


def _time_the_host(file: Path | None) -> None:
    if file:
        files.check_folder(file.absolute().parent)
    about, rows = host_bench.about(), []
    columns = (("", "left"), ("median", "right"), ("quartiles", "right"), ("n", "right"))
    table = Table(box=box.SIMPLE_HEAD)
    for heading, justify in (*columns, ("memory", "right")):
        table.add_column(heading, justify=justify, no_wrap=True)
    with busy("timing the interpreter"):
        for row in host_bench.measure():
            rows.append(asdict(row))
            spread = f"{quantity(row.q1, 's')} to {quantity(row.q3, 's')}"
            figures = (quantity(row.median, "s"), spread, str(row.n), quantity(row.peak, "B"))
            table.add_row(row.name, *figures)
    out.print(table)
    out.print(", ".join(f"{name} {value}" for name, value in about.items()), markup=False)
    if file:
        told = {"about": about, "rows": rows}
        files.replace_text(file, json.dumps(told, indent=1, ensure_ascii=False) + "\n")
        out.print(f"written to {file}", markup=False)


def _measure(folder: Path | None) -> Path:
    about = bench.provenance()
    files.check_folder(folder or records.folder())
    todo = bench.steps()
    with progress() as bar:
        task = bar.add_task("", total=len(todo))

        def report(name: str, done: int, total: int) -> None:
            bar.update(task, description=name, completed=done)

        facts = bench.device_facts()
        return bench.run(todo, about=about, facts=facts, folder=folder, report=report)


def _front_page(record: records.Record) -> None:
    from kernels.lab import factcheck, reading, showcase

    for path in (*showcase.write(record), reading.write()):
        out.print(f"written: {_near(path)}")
    try:
        out.print(f"written: {_near(factcheck.write(record))}")
    except records.RecordError as error:
        out.print(f"the fact-check keeps its figures: {error}", markup=False)


def _near(path: Path) -> Path:
    path = path.resolve()
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


@cli.command()
def readme() -> None:
    """Write the ladder's tables and charts and the minutes into the front pages."""
    _front_page(records.load(records.DEFAULT_GPU if records.names() else None))


@cli.command()
def pages() -> None:
    """Count what each page asks of its reader: words, code, predictions, figures, minutes."""
    from kernels.lab import reading

    out.print(reading.table(reading.report()), markup=False)


@cli.command()
@click.option("--only", metavar="NN", help="One chapter, such as 03; no benchmark.")
@click.option("--engine", type=click.Choice(["cpu", "gpu"]), default="gpu", show_default=True)
@click.option("--bench/--no-bench", "measure", default=True, show_default=True)
@click.option("--preview", type=click.Path(path_type=Path, file_okay=False),
              help="Put the executed chapters here and leave chapters/ alone.")  # fmt: skip
def record(only: str | None, engine: str, measure: bool, preview: Path | None) -> None:
    """Execute the chapters on this GPU and store what they show and what was measured."""
    from kernels.lab import notebooks

    if engine == "gpu" and not on_gpu:
        raise RuntimeError(
            f"recording needs an NVIDIA GPU, but {why_cpu}: --engine cpu --preview DIR executes "
            "the chapters on the CPU into a folder of their own"
        )
    chapters = notebooks.chapters(only)
    files.check_folder(preview or notebooks.CHAPTERS)
    files.check_folder(STAGING)
    measure = measure and engine == "gpu" and not (only or preview)
    with _waiting_room(measure) as folder:
        staged = _stage(chapters, folder, engine, preview, measure)
        notebooks.replace_all(staged)
    for path in staged:
        out.print(f"written: {_near(path)}")
    if any(path.suffix == ".json" for path in staged):
        bench.KEPT.unlink(missing_ok=True)
        _front_page(records.load())


@contextmanager
def _waiting_room(kept: bool) -> Iterator[Path]:
    """A folder for what is finished until all is; if kept, an interrupted run leaves it there."""
    if kept:
        folder = STAGING / "whole"
        folder.mkdir(exist_ok=True)
        yield folder
        shutil.rmtree(folder)
    else:
        with tempfile.TemporaryDirectory(dir=STAGING, ignore_cleanup_errors=True) as name:
            yield Path(name)


def _stage(
    chapters: list[Path], folder: Path, engine: str, preview: Path | None, measure: bool
) -> dict[Path, Path]:
    """Measure if asked, and execute the chapters: for each file's place, where it waits."""
    from kernels.lab import notebooks

    environment = {"KERNELS_ENGINE": engine, "KERNELS_EXERCISES": "off"}
    staged: dict[Path, Path] = {}
    shown = records.folder()
    if measure:
        # The chapters must show the figures of this very run.
        shown = folder / "records"
        shown.mkdir(exist_ok=True)
        for name in records.names():
            shutil.copy(records.folder() / f"{name}.json", shown)
        path = _measure(shown)
        staged[records.folder() / path.name] = path
        environment["KERNELS_RECORDS"] = str(shown)
    with progress() as bar:
        for chapter in chapters:
            cells = notebooks.code_cells(chapter)
            task = bar.add_task(chapter.stem, total=cells)
            waiting = folder / f"{chapter.stem}-{notebooks.origin(chapter, shown)}.ipynb"
            if waiting.exists():  # an interrupted run came that far
                bar.advance(task, cells)
            else:
                done = notebooks.execute(
                    chapter, cpu=engine == "cpu", environment=environment,
                    cell_done=lambda task=task: bar.advance(task),
                )  # fmt: skip
                notebooks.write(done, waiting)
            staged[(preview or chapter.parent) / chapter.name] = waiting
    return staged


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; every foreseen error is one line on stderr and exit code 2."""
    try:
        cli.main(arguments, prog_name="python -m kernels", standalone_mode=False)
        return 0
    except (KeyboardInterrupt, click.Abort) as error:
        told = "interrupted: no chapter and no record was changed"
        stopped = [e for e in (error, error.__cause__) if isinstance(e, tune.Interrupted)]
        told, code = (str(stopped[0]) if stopped else told), 130
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message())
        return 0
    except click.ClickException as error:
        told, code = _told(error), 2
    except FORESEEN as error:
        told, code = str(error), 2
    print("error: " + " ".join(told.split()), file=sys.stderr)
    return code


def _told(error: click.ClickException) -> str:
    """What an error of the command line says, with where to read on."""
    if isinstance(error, click.NoSuchOption) and error.option_name.lstrip("-").isdigit():
        return f"size {error.option_name} is negative: {WAY_OUT}"  # it only looks like an option
    told, context = error.format_message().rstrip("."), getattr(error, "ctx", None)
    return f"{told}: see `{context.command_path} --help`" if context else told


#: What the instruments raise with a message for the reader.
FORESEEN = (ValueError, TypeError, RuntimeError, MemoryError, LookupError, AssertionError, OSError)
