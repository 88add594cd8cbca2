"""``record``: execute the chapters, store what they show, and write the front pages."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from authoring import inline, notebooks, reading, showcase
from kernels import records
from kernels.backend import on_gpu, why_cpu
from kernels.basics import files
from kernels.basics.files import ROOT
from kernels.cli.console import near, out, progress
from kernels.cli.recording import measured
from kernels.measure.bench import run

#: Where files wait until all are finished.
STAGING = ROOT / "_build" / "record"


@click.command()
@click.option("--only", metavar="NN", help="One chapter, such as 03; no benchmark.")
@click.option("--backend", type=click.Choice(["cpu", "gpu"]), default="gpu", show_default=True)
@click.option("--bench/--no-bench", "measure", default=True, show_default=True)
@click.option("--preview", type=click.Path(path_type=Path, file_okay=False),
              help="Put the executed chapters here and leave chapters/ alone.")  # fmt: skip
def record(only: str | None, backend: str, measure: bool, preview: Path | None) -> None:
    """Execute the chapters on this GPU and store what they show and what was measured."""
    if backend == "gpu" and not on_gpu:
        raise RuntimeError(
            f"recording needs an NVIDIA GPU, but {why_cpu}: --backend cpu --preview DIR executes "
            "the chapters on the CPU into a folder of their own"
        )
    chapters = notebooks.chapters(only)
    files.check_folder(preview or notebooks.CHAPTERS)
    files.check_folder(STAGING)
    measure = measure and backend == "gpu" and not (only or preview)
    with _waiting_room(measure) as folder:
        staged = _stage(chapters, folder, backend, preview, measure)
        notebooks.replace_all(staged)
    for path in staged:
        out.print(f"written: {near(path)}")
    if any(path.suffix == ".json" for path in staged):
        run.KEPT.unlink(missing_ok=True)
        write_front_pages(records.load())


@contextmanager
def _waiting_room(kept: bool) -> Iterator[Path]:
    """A folder for what is finished until all is; if kept, an interrupted run leaves it there."""
    if kept:
        folder = STAGING / "whole"
        folder.mkdir(exist_ok=True)
        yield folder
        shutil.rmtree(folder)
    else:
        with tempfile.TemporaryDirectory(dir=STAGING, ignore_cleanup_errors=True) as name:
            yield Path(name)


def _stage(
    chapters: list[Path], folder: Path, backend: str, preview: Path | None, measure: bool
) -> dict[Path, Path]:
    """Measure if asked, and execute the chapters: for each file's place, where it waits."""
    environment = {"KERNELS_BACKEND": backend, "KERNELS_EXERCISES": "off"}
    staged: dict[Path, Path] = {}
    shown = records.folder()
    if measure:
        # The chapters must show the figures of this very run.
        shown = folder / "records"
        shown.mkdir(exist_ok=True)
        for name in records.names():
            shutil.copy(records.folder() / f"{name}.json", shown)
        path = measured(shown)
        staged[records.folder() / path.name] = path
        environment["KERNELS_RECORDS"] = str(shown)
    with progress() as bar:
        for chapter in chapters:
            cells = notebooks.code_cells(chapter)
            task = bar.add_task(chapter.stem, total=cells)
            waiting = folder / f"{chapter.stem}-{notebooks.origin(chapter, shown)}.ipynb"
            if waiting.exists():  # an interrupted run came that far
                bar.advance(task, cells)
            else:
                done = notebooks.execute(
                    chapter, cpu=backend == "cpu", environment=environment,
                    cell_done=lambda task=task: bar.advance(task),
                )  # fmt: skip
                notebooks.write(inline.fill(done), waiting)
            staged[(preview or chapter.parent) / chapter.name] = waiting
    return staged


def write_front_pages(record: records.Record) -> None:
    """Write the record's figures into the front pages."""
    written = (*showcase.write(record), *inline.write(), *reading.say(), reading.write())
    for path in written:
        out.print(f"written: {near(path)}")
