"""``tune``: search the tile sizes of a rung."""

from __future__ import annotations

import re

import click
from rich import box
from rich.table import Table

from kernels.backend import on_gpu, why_cpu
from kernels.basics import files
from kernels.budget.here import gpu_here
from kernels.cli.console import out, progress
from kernels.cli.parameters import RungName, Shape, Whole, spelled
from kernels.host import tuned
from kernels.measure.bench.provenance import provenance
from kernels.rungs.order import ENGINE_TITLES, Rung
from kernels.tuning import tune


@click.command("tune")
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

    The rung takes them from then on where it is called without options. An interrupted search
    resumes.
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

        about = provenance()
        found, measured = tune.search(todo, tune.stopwatch(todo), about, report)
    _print_measured(todo, measured)
    faster = found.default_seconds / found.seconds
    out.print(
        f"best: {spelled(found.options)}, {faster:.3g} times the speed of the defaults\n"
        f"stored in {tuned.path()}: used for sizes of class {found.shape}",
        markup=False,
    )


def _print_plan(todo: tune.Candidates) -> None:
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


def _print_measured(todo: tune.Candidates, measured: list[tune.Timed]) -> None:
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
