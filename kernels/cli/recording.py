"""What `bench` and `record` share: to measure all that a record holds."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from kernels import records
from kernels.basics import files
from kernels.cli.console import progress
from kernels.distributed import machine
from kernels.distributed.grid import Grid
from kernels.measure.bench import plan, run, short
from kernels.measure.bench.provenance import device_facts, provenance
from kernels.measure.distributed import run as distributed


def kept(only: str = "", brief: bool = False) -> Path:
    """Where finished steps wait: a part of the benchmark leaves an interrupted whole one alone."""
    if brief:
        return run.KEPT.with_stem("bench-short")
    return run.KEPT.with_stem("bench-part") if only else run.KEPT


def measured(folder: Path | None, only: str = "", brief: bool = False) -> Path:
    """Measure all steps, or those with `only` in their names, into a record; its file.

    The short benchmark (`brief`) has a record of its own.
    """
    about = provenance()
    files.check_folder(folder or records.folder())
    todo = (short if brief else plan).steps()
    with suppress(ImportError):  # without PyTorch
        from kernels.frameworks import gpt

        todo += [] if brief else gpt.steps()
    todo = run.named(todo, only)
    with progress() as bar:
        task = bar.add_task("", total=len(todo))

        def report(name: str, done: int, total: int) -> None:
            bar.update(task, description=name, completed=done)

        facts = device_facts()
        return run.run(
            todo, about=about, facts=facts, kept=kept(only, brief), folder=folder, report=report,
            name=f"{files.slug(about['gpu'])}-short" if brief else "",
        )  # fmt: skip


def measured_gpus(gpus: int, folder: Path | None, only: str = "") -> Path:
    """Measure all steps of several GPUs, or those with `only` in their names; the record's file."""
    machine.check_gpus(Grid(gpus))
    about = provenance()
    files.check_folder(folder or records.folder())
    with progress() as bar:
        task = bar.add_task("", total=None)

        def report(name: str, done: int, total: int) -> None:
            bar.update(task, description=name, completed=done, total=total)

        return distributed.measured(gpus, about, device_facts(), folder, report, only)
