"""``profile``: the hardware's counters."""

from __future__ import annotations

from pathlib import Path

import click

from kernels.cli.console import busy, out
from kernels.cli.parameters import SIZE, RungName, given, rung_options
from kernels.measure import profiler, report
from kernels.rungs.order import Rung


@click.command()
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
