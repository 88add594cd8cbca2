"""What `bench` and `record` share: measure all, and write the front pages."""

from __future__ import annotations

from pathlib import Path

from kernels import records
from kernels.basics import files
from kernels.cli.console import near, out, progress
from kernels.distributed import machine
from kernels.distributed.grid import Grid
from kernels.measure.bench import run
from kernels.measure.bench.plan import steps
from kernels.measure.bench.provenance import device_facts, provenance
from kernels.measure.distributed import run as distributed


def measured(folder: Path | None, only: str = "") -> Path:
    """Measure all, or the steps whose names hold a text, into a record in this folder; its file."""
    about = provenance()
    files.check_folder(folder or records.folder())
    todo = steps(only)
    with progress() as bar:
        task = bar.add_task("", total=len(todo))

        def report(name: str, done: int, total: int) -> None:
            bar.update(task, description=name, completed=done)

        facts = device_facts()
        return run.run(todo, about=about, facts=facts, folder=folder, report=report)


def measured_gpus(gpus: int, folder: Path | None) -> Path:
    """Measure products on several GPUs, into a record in this folder; its file."""
    machine.check_gpus(Grid(gpus))
    about = provenance()
    files.check_folder(folder or records.folder())
    with progress() as bar:
        task = bar.add_task("", total=None)

        def report(name: str, done: int, total: int) -> None:
            bar.update(task, description=name, completed=done, total=total)

        return distributed.measured(gpus, about, device_facts(), folder, report)


def write_front_pages(record: records.Record) -> None:
    """Write the record's figures into the front pages and the fact-check."""
    # Jupyter and Matplotlib take seconds to load, and only recording needs them.
    from kernels.lab import factcheck, reading, showcase

    for path in (*showcase.write(record), reading.write()):
        out.print(f"written: {near(path)}")
    try:
        out.print(f"written: {near(factcheck.write(record))}")
    except records.RecordError as error:
        out.print(f"the fact-check keeps its figures: {error}", markup=False)
