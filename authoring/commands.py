"""``readme`` and ``pages``: what the front pages say, and what each page asks; and the program."""

from __future__ import annotations

import click

from authoring import reading
from authoring.record import record, write_front_pages
from kernels import records
from kernels.cli import app
from kernels.cli.console import out


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def authoring() -> None:
    """What authors do: execute pages, and write figures into them."""


@authoring.command()
@click.option("--gpu", metavar="NAME", help="The record whose figures to write, such as h200.")
def readme(gpu: str | None) -> None:
    """Write the ladder's tables and charts, the figures in texts, and the minutes."""
    write_front_pages(records.load(gpu or (records.DEFAULT_GPU if records.names() else None)))


@authoring.command()
def pages() -> None:
    """Count what each page asks of its reader: words, code, predictions, figures, minutes."""
    out.print(reading.table(reading.report()), markup=False)


authoring.add_command(record)


def main(arguments: list[str] | None = None) -> int:
    """Run a command, as `kernels.cli.main` does."""
    return app.main(arguments, authoring)
