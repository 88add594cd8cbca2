"""``explain``: what a kernel waits for, by counting."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from pathlib import Path
from typing import Any

import click

import microscope
from kernels import host, records
from kernels.basics.units import percent, quantity
from kernels.budget import comparison, counts, here, limits, product, verdict, versions
from kernels.budget.ceilings import Budget
from kernels.cli.console import out
from kernels.cli.parameters import RungName, Shape, Sizes, given, rung_options, spelled
from kernels.measure import oracle, ptx
from kernels.measure.occupancy import occupancy
from kernels.rungs.order import ENGINE_TITLES, LADDER, Rung

#: Beyond this, one block of a reader's kernel takes long to trace.
MOST = 4096


@click.command()
@click.argument("what", metavar="RUNG|FILE.py:KERNEL", default="")
@click.option("--size", "shape", type=Shape(), default=(2048,) * 3, metavar="N|MxNxK",
              help="M×N×K, or one number for all three; 2048 by default.")  # fmt: skip
@click.argument("rest", nargs=-1, metavar="")
@click.option("--engine", type=click.Choice(["numba", "cpp"]), help="By default the rung's first.")
@click.option("--grid", type=Sizes(), metavar="X,Y", help="Of a kernel in a file: its blocks.")
@click.option("--block-dim", "block_dim", type=Sizes(), default=(16, 16), metavar="X,Y",
              help="Of a kernel in a file: threads of a block; 16,16 by default.")  # fmt: skip
@click.option("--record", "timed", metavar="GPU",
              help="Instead of a kernel: predicted beside recorded times.")  # fmt: skip
@click.option("--counts", "counted", metavar="GPU",
              help="With --record: by the profiles of this other record alone.")  # fmt: skip
@rung_options
def explain(
    what: str, shape: tuple[int, int, int], rest: tuple[str, ...], engine: str | None,
    grid: tuple[int, ...] | None, block_dim: tuple[int, ...], timed: str | None,
    counted: str | None, **options: int | None,
) -> None:  # fmt: skip
    """Say what RUNG, or a kernel of your own, waits for: its budget of cycles, and a verdict.

    Your own kernel takes A, B and C, float32; one of its blocks is traced.
    """
    if timed or counted:
        return _all(what, timed, counted)
    if not what:
        raise click.UsageError("name a rung or FILE.py:KERNEL, or a record with --record")
    if rest:  # --size M N K, with blanks
        shape = Shape().convert("x".join([str(shape[0]), *rest]), None, None)
    if ":" in what:
        if engine or given(options):
            raise click.UsageError("a kernel in a file has no --engine and no options of a rung")
        return _own(what, shape, grid, block_dim)
    if what.endswith(".py"):
        raise ValueError(f"{what} names no kernel: use FILE.py:KERNEL, such as {what}:my_kernel")
    if grid:
        raise click.UsageError("--grid is for a kernel in a file: a rung has its own")
    return _rung(RungName().convert(what, None, None), engine, shape, given(options))


def _all(what: str, timed: str | None, counted: str | None) -> None:
    if what or not timed:
        raise click.UsageError("--record GPU stands alone, or with --counts GPU: name no kernel")
    record, other = records.load(timed), records.load(counted) if counted else None
    out.print("\n".join(comparison.by_shape(record, other)), markup=False)


def _rung(
    rung: Rung, engine: str | None, shape: tuple[int, int, int], options: dict[str, int]
) -> None:
    engine = engine or rung.engines[0]
    if engine not in rung.engines:
        raise ValueError(f"{rung.name} is not written in {engine}: use {' or '.join(rung.engines)}")
    rung.model(*shape, **options)  # refuses options that it does not have
    options = rung.default(engine) | options
    now, dtype = here.setting(), rung.dtypes[0]
    major, minor = map(int, now.machine.gpu.compute_capability.split("."))
    if missing := rung.missing(dtype, (major, minor)):
        raise RuntimeError(missing)
    M, N, K = shape
    needed, there = 4 * (M * K + K * N + M * N), 1e9 * now.machine.gpu.memory_gb
    if needed > there:
        raise ValueError(
            f"A, B and C of {_shape(shape)} take {quantity(needed, 'B')}, the "
            f"{now.machine.gpu.name} has {quantity(there, 'B')}: use smaller sizes"
        )
    known = versions.version(rung, engine, options, now.record, shape, machine_of=now.machine)
    predicted = product.time(
        rung.Options(**options), known.pace, now.machine, known.resident, shape, dtype,
        rung.copies(*shape, dtype),
    )  # fmt: skip
    named = " ".join(filter(None, (rung.title + ",", ENGINE_TITLES[engine], spelled(options))))
    out.print(f"{named}, {_shape(shape)}, {now.machine.gpu.name}", style="bold", markup=False)
    row, budget = known.row, known.budget
    measured = counts.measured(row) if row else None
    stall = counts.rest(row, budget.verdict) if row else ""
    _table(budget, measured)
    if row:
        size = _shape((row["M"], row["N"], row["K"]))
        elsewhere = known.counted_on != now.machine.gpu.name
        where = f", on {known.counted_on}: no such profile of this GPU is recorded"
        out.print(f"Counted by the profiler at {size}{where * elsewhere}.", markup=False)
    else:
        out.print(f"Counts: {known.pace.source}.", markup=False)
    out.print(verdict.sentence(budget, measured, stall), markup=False)
    _time(predicted, shape)
    recorded = [
        found
        for found in now.record.tables.get("timings", ())
        if (found["rung"], found["engine"], found["options"]) == (rung.name, engine, options)
        and (found["M"], found["N"], found["K"]) == shape and found["dtype"] == dtype
    ]  # fmt: skip
    if recorded and now.machine.source.startswith("record"):
        seconds = recorded[0]["seconds"]["median"]
        out.print(f"Recorded: {quantity(seconds, 's')}, {_speed(shape, seconds)}.", markup=False)


def _own(
    what: str, shape: tuple[int, int, int], grid: tuple[int, ...] | None, block: tuple[int, ...]
) -> None:
    kernel, name = _load(what), what.rpartition(":")[2]
    M, N, K = shape
    if max(shape) > MOST:
        raise ValueError(f"size {max(shape)} is too large to trace: use {MOST} or less")
    grid = grid or (host.cdiv(N, block[0]), host.cdiv(M, block[-1] if len(block) > 1 else 1))
    takes = list(inspect.signature(kernel.py_func).parameters)
    if len(takes) != 3:
        raise ValueError(
            f"{name} takes {', '.join(takes) or 'nothing'}: explain calls it with A, B and C alone"
        )
    A, B = oracle.inputs(M, N, K)
    C, first = oracle.poisoned(M, N), (0,) * len(grid)
    seen = microscope.trace(kernel, grid, block, A, B, C, blocks=[first])
    found = counts.of_trace(seen)
    try:
        loop = ptx.inner_loop(ptx.compile_kernel(kernel))
        compiled = {"instructions": len(loop.lines), "multiply_adds": loop.steps}
        found, missing = counts.joined(found, counts.of_loop(compiled, "PTX")), ""
    except (ImportError, ValueError) as error:
        missing = " ".join(str(error).split())
    now = here.setting()
    budget = Budget(found, limits.of_gpu(now.machine.gpu))
    out.print(f"{name}, {_shape(shape)}, {now.machine.gpu.name}", style="bold", markup=False)
    _table(budget, None)
    out.print(f"Wavefronts and bytes: traced, one block of {_shape(seen.block)}. ", end="")
    out.print(f"Instructions: {'not counted, ' + missing if missing else 'PTX, its loop'}.")
    out.print(verdict.sentence(budget), markup=False)
    gpu = now.machine.gpu
    least = counts.fmas(*shape) * budget.cycles / gpu.sms / now.machine.clock("float32")
    holds = occupancy(seen.threads_per_block, shared_bytes=seen.shared_bytes, gpu=gpu)
    out.print(
        f"At best {_speed(shape, least)}: {quantity(least, 's')} with every SM busy. An SM holds "
        f"{holds.blocks} of its blocks, if registers allow.",
        markup=False,
    )
    for problem in seen.problems:
        out.print(str(problem), markup=False)


def _load(what: str) -> Any:
    """The kernel that ``FILE.py:KERNEL`` names."""
    file, _, name = what.rpartition(":")
    path = Path(file)
    if not path.is_file():
        near = f": did you mean the rung {path.stem}?" if path.stem in LADDER else ""
        raise FileNotFoundError(f"no file {file!r}{near or ': use FILE.py:KERNEL'}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{file} is no Python file: use FILE.py:KERNEL")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ValueError(f"{file} does not run: {type(error).__name__}: {error}") from None
    kernels = [n for n, value in vars(module).items() if hasattr(value, "py_func")]
    kernel = getattr(module, name, None)
    if not hasattr(kernel, "py_func"):
        there = f"its kernels are {', '.join(kernels)}" if kernels else "it has none"
        raise LookupError(f"no kernel {name!r} in {file}: {there}")
    return kernel


def _table(budget: Budget, measured: float | None) -> None:
    """A line per ceiling: what one FMA needs, what an SM has per cycle, and the quotient."""
    heads = ("", "one FMA needs", "an SM has per cycle", "cycles")
    rows = verdict.lines(budget)
    if measured is not None:
        text = f"{measured:.3g}, {percent(budget.reached(measured))} explained"
        rows.append(("measured", "", "", text))
    widths = [max(len(row[i]) for row in (heads, *rows)) for i in range(len(heads))]
    for row in (heads, *rows):
        first, *others = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        out.print("  ".join(["", first, *others]).rstrip(), markup=False)


def _time(told: product.Time, shape: tuple[int, int, int]) -> None:
    parts = {
        "the loop along K": told.loop,
        "before and after it": told.around,
        "launch": told.launch,
        "adding the parts": told.adding,
        "copies to aligned rows": told.copying,
    }
    shown = ", ".join(f"{name} {quantity(value, 's')}" for name, value in parts.items() if value)
    blocks = "1 block" if told.blocks == 1 else f"{told.blocks} blocks"
    rounds = "1 round" if told.rounds == 1 else f"{told.rounds} rounds"
    out.print(
        f"Predicted: {quantity(told.seconds, 's')} ({quantity(told.low, 's')} to "
        f"{quantity(told.high, 's')}), {_speed(shape, told.seconds)}: {blocks} in "
        f"{rounds}; {shown}.",
        markup=False,
    )


def _shape(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape))


def _speed(shape: tuple[int, int, int], seconds: float) -> str:
    M, N, K = shape
    return quantity(2 * M * N * K / seconds, "FLOP/s")
