"""``calibrate``: measure what the budget of cycles needs of a GPU without a record."""

from __future__ import annotations

import click

from kernels.backend import on_gpu, why_cpu
from kernels.basics import files
from kernels.basics.units import quantity
from kernels.budget import here
from kernels.budget.calibrate import calibrate as measure
from kernels.cli.console import busy, facts, out
from kernels.host import tuned
from kernels.measure.bench.provenance import provenance


@click.command()
def calibrate() -> None:
    """Measure this GPU for `explain` and `choose`, in less than a minute."""
    if not on_gpu:
        raise RuntimeError(
            f"calibrating needs an NVIDIA GPU, but {why_cpu}: `explain` takes the recorded one"
        )
    files.check_folder(tuned.folder())
    with busy("microbenchmarks"):
        found = measure(provenance())
    file = here.write(found)
    out.print(found.gpu, style="bold", markup=False)
    facts(
        {
            "launch": quantity(found.launch, "s"),
            "first data": f"{found.latency:.0f} cycles",
            "copy": quantity(found.bandwidth, "B/s"),
            "stored in": str(file),
        }
    )
