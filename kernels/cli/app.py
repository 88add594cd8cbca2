"""The command line itself: its commands, and how it reports errors."""

from __future__ import annotations

import sys

import click

from kernels.cli.bench import bench
from kernels.cli.compare import compare
from kernels.cli.info import info
from kernels.cli.pages import pages, readme
from kernels.cli.parameters import WAY_OUT
from kernels.cli.profile import profile
from kernels.cli.record import record
from kernels.cli.run import run
from kernels.cli.trace import trace
from kernels.cli.tune import tune_rung
from kernels.tuning.tune import Interrupted

#: What the instruments raise with a message for the reader.
FORESEEN = (ValueError, TypeError, RuntimeError, MemoryError, LookupError, AssertionError, OSError)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Tile by Tile: run, trace and measure the kernels of the course."""


for command in (info, run, compare, trace, profile, tune_rung, bench, record, readme, pages):
    cli.add_command(command)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; every foreseen error is one line on stderr and exit code 2."""
    try:
        cli.main(arguments, prog_name="python -m kernels", standalone_mode=False)
        return 0
    except (KeyboardInterrupt, click.Abort) as error:
        told = "interrupted: no chapter and no record was changed"
        stopped = [e for e in (error, error.__cause__) if isinstance(e, Interrupted)]
        told, code = (str(stopped[0]) if stopped else told), 130
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message())
        return 0
    except click.ClickException as error:
        told, code = _told(error), 2
    except FORESEEN as error:
        told, code = str(error), 2
    print("error: " + " ".join(told.split()), file=sys.stderr)
    return code


def _told(error: click.ClickException) -> str:
    """What an error of the command line says, with where to read on."""
    if isinstance(error, click.NoSuchOption) and error.option_name.lstrip("-").isdigit():
        return f"size {error.option_name} is negative: {WAY_OUT}"  # it only looks like an option
    told, context = error.format_message().rstrip("."), getattr(error, "ctx", None)
    return f"{told}: see `{context.command_path} --help`" if context else told
