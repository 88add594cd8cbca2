"""``bench``: measure a record."""

from __future__ import annotations

from pathlib import Path

import click

from kernels import records
from kernels.budget import comparison
from kernels.cli.authored import author
from kernels.cli.console import near, out
from kernels.cli.parameters import Grids
from kernels.cli.recording import kept, measured, measured_gpus
from kernels.distributed.grid import Grid
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
@click.option("--gpus", type=Grids(), help="Measure products on this many GPUs, such as 2.")
def bench(folder: Path | None, only: str, brief: bool, gpus: Grid | None) -> None:
    """Measure all that a record of this GPU holds; an interrupted run resumes where it stopped."""
    if brief and gpus:
        raise ValueError("--short measures one GPU: leave out --gpus")
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
