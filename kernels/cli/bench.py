"""``bench``: measure a record, or this machine's processor."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click
from rich import box
from rich.table import Table

from kernels import records
from kernels.basics import files
from kernels.basics.units import quantity
from kernels.budget import comparison
from kernels.cli.authored import author
from kernels.cli.console import busy, near, out
from kernels.cli.parameters import Grids
from kernels.cli.recording import kept, measured, measured_gpus
from kernels.distributed.grid import Grid
from kernels.measure import host_bench
from kernels.measure.distributed import run as distributed

#: Where a record of another GPU is offered.
OFFER = "https://github.com/tile-by-tile/tile-by-tile/issues/new?template=4-record.yml"


@click.command()
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False),
              help="Write the record here and leave the front page alone.")  # fmt: skip
@click.option("--only", metavar="TEXT", default="",
              help="Only steps with this in their names, such as 'ladder 4096'.")  # fmt: skip
@click.option("--short", "brief", is_flag=True,
              help="The ladder at one size in minutes, beside the H200's record.")  # fmt: skip
@click.option("--host", "of_host", is_flag=True,
              help="Time the interpreter on this machine's processor; record nothing.")  # fmt: skip
@click.option("--gpus", type=Grids(), help="Measure products on this many GPUs, such as 2.")
@click.option("--json", "file", type=click.Path(path_type=Path, dir_okay=False),
              help="With --host: the figures also here.")  # fmt: skip
def bench(
    folder: Path | None, only: str, brief: bool, of_host: bool, gpus: Grid | None, file: Path | None
) -> None:
    """Measure all that a record of this GPU holds; an interrupted run resumes where it stopped."""
    if of_host and folder:
        raise ValueError("--folder is for a record, and --host writes none: use --json FILE")
    if only and of_host:
        raise ValueError("--only names steps of a record: leave out --host")
    if brief and (of_host or gpus):
        raise ValueError("--short measures one GPU: leave out --host and --gpus")
    if of_host:
        return _time_the_host(file)
    if file:
        raise ValueError("--json goes with --host; a record is a JSON file itself: use --folder")
    if gpus:
        return _time_gpus(gpus, folder, only)
    if brief:
        return _compare_the_ladder(folder or Path.cwd(), only)
    path = measured(folder, only)
    kept(only).unlink(missing_ok=True)
    out.print(f"recorded in {near(path)}", markup=False)
    if folder is None:
        raise click.exceptions.Exit(author("readme", "--gpu", path.stem))


def _compare_the_ladder(folder: Path, only: str) -> None:
    path = measured(folder, only, brief=True)
    kept(brief=True).unlink(missing_ok=True)
    out.print("\n".join(comparison.lines(records.read(path))), markup=False)
    out.print(
        f"Written to {near(path)}. It names the GPU, the driver and the packages, and nothing of "
        f"you. To add it to the course: {OFFER}",
        markup=False,
    )


def _time_gpus(gpus: Grid, folder: Path | None, only: str) -> None:
    path = measured_gpus(gpus.size, folder, only)
    distributed.kept(only).unlink(missing_ok=True)
    out.print(f"recorded in {near(path)}", markup=False)


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
