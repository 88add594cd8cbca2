"""``trace``: the memory requests of a rung."""

from __future__ import annotations

import click

from kernels.cli.console import out
from kernels.cli.parameters import SIZE, RungName, given, rung_options
from kernels.measure.anywhere import trace_rung
from kernels.rungs.order import Rung

#: The largest sizes that the interpreter traces in seconds: all blocks, or one.
TRACED, TRACED_IN_PART = 192, 4096


@click.command()
@click.argument("rung", type=RungName())
@click.argument("size", type=SIZE)
@rung_options
def trace(rung: Rung, size: int, **options: int | None) -> None:
    """Count the memory requests of RUNG at SIZE with the microscope, line by line."""
    options = given(options)
    if size > TRACED_IN_PART:
        raise ValueError(f"size {size} is too large to trace: use {TRACED_IN_PART} or less")
    whole = size <= TRACED
    seen = trace_rung(rung, size, size, size, None if whole else [(0, 0)], **options)
    out.print(str(seen.table()), markup=False)
    for problem in seen.problems:
        out.print(str(problem), markup=False)
    if not whole:
        out.print(f"Block (0, 0) alone: sizes up to {TRACED} are traced whole.")
