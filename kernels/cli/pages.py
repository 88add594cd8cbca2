"""``readme`` and ``pages``: what the front pages say, and what each page asks."""

from __future__ import annotations

import click

from kernels import records
from kernels.cli.console import out
from kernels.cli.recording import write_front_pages


@click.command()
def readme() -> None:
    """Write the ladder's tables and charts, the figures in texts, and the minutes."""
    write_front_pages(records.load(records.DEFAULT_GPU if records.names() else None))


@click.command()
def pages() -> None:
    """Count what each page asks of its reader: words, code, predictions, figures, minutes."""
    from authoring import reading

    out.print(reading.table(reading.report()), markup=False)
