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
@click.option("--report", "text", type=click.Path(path_type=Path, dir_okay=False),
              help="Write the profiler's own report here instead: ncu --set full.")  # fmt: skip
@rung_options
def profile(
    rung: Rung,
    size: int,
    engine: str | None,
    file: Path | None,
    text: Path | None,
    **options: int | None,
) -> None:
    """Count what the hardware does in RUNG, with Nsight Compute.

    Where nothing can be counted, it says why and shows what is recorded.
    """
    if text and file:
        raise ValueError("--report writes text and --json counters: give one of them")
    if text:
        with busy("Nsight Compute"):
            report.write_text(rung.name, engine, size, given(options), text)
        return out.print(f"written to {text}", markup=False)
    with busy("Nsight Compute"):
        shown = report.command(rung.name, engine, size, given(options), file)
    out.print(*shown, sep="\n", markup=False)
