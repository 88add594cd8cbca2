"""What commands print on, and how they show that work continues."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from kernels.basics.files import ROOT

out = Console(highlight=False, soft_wrap=True)


def progress() -> Progress:
    """A progress bar on stderr that leaves nothing behind, and stays out of files and pipes."""
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=console, transient=True, disable=not console.is_terminal,
    )  # fmt: skip


@contextmanager
def busy(doing: str) -> Iterator[None]:
    """Show that work continues whose end is not known, and for how long it has."""
    with progress() as bar:
        bar.add_task(doing, total=None)
        yield


def facts(rows: dict[str, str]) -> None:
    """Print lines of a name and what is said of it."""
    width = max(len(name) for name in rows) + 2
    for name, fact in rows.items():
        out.print(f"  {name:<{width}}{fact}", markup=False)


def near(path: Path) -> Path:
    path = path.resolve()
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
