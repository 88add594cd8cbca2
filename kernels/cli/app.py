"""The command line itself: its commands, and how it reports errors."""

from __future__ import annotations

import sys
import traceback

import click

from kernels.basics.errors import foreseen, one_line
from kernels.cli.authored import pages, readme, record
from kernels.cli.bench import bench
from kernels.cli.calibrate import calibrate
from kernels.cli.compare import compare
from kernels.cli.explain import explain
from kernels.cli.info import info
from kernels.cli.parameters import WAY_OUT
from kernels.cli.profile import profile
from kernels.cli.run import run
from kernels.cli.trace import trace
from kernels.cli.tune import tune_rung
from kernels.tuning.tune import Interrupted

DEBUG = "--debug"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(DEBUG, is_flag=True, expose_value=False, help="Show the traceback of every error.")
def cli() -> None:
    """Tile by Tile: run, trace and measure the kernels of the course."""


COMMANDS = (
    info,
    run,
    compare,
    trace,
    explain,
    profile,
    calibrate,
    tune_rung,
    bench,
    record,
    readme,
    pages,
)
for command in COMMANDS:
    cli.add_command(command)


def main(arguments: list[str] | None = None, commands: click.Group = cli) -> int:
    """Run a command line; an error is one line on stderr, and with `DEBUG` a traceback before.

    Returns
    -------
    int
        The exit code: 0, 2 for a foreseen error, 1 for one that is not, 130 after Ctrl-C.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    debug, arguments = DEBUG in arguments, [each for each in arguments if each != DEBUG]
    try:
        done = commands.main(
            arguments, prog_name="python -m kernels", standalone_mode=False, obj=debug
        )
        return done or 0
    except (KeyboardInterrupt, click.Abort) as error:
        text = "interrupted: no chapter and no record was changed"
        stopped = [e for e in (error, error.__cause__) if isinstance(e, Interrupted)]
        text, code = (str(stopped[0]) if stopped else text), 130
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message())
        return 0
    except click.ClickException as error:
        text, code = _message(error), 2
    except Exception as error:
        text, code = one_line(error), 2 if foreseen(error) else 1
        if debug:
            traceback.print_exception(error)
    print("error: " + " ".join(text.split()), file=sys.stderr)
    return code


def _message(error: click.ClickException) -> str:
    """What an error of the command line says, with where to read on."""
    if isinstance(error, click.NoSuchOption) and error.option_name.lstrip("-").isdigit():
        return f"size {error.option_name} is negative: {WAY_OUT}"  # it only looks like an option
    text, context = error.format_message().rstrip("."), getattr(error, "ctx", None)
    return f"{text}: see `{context.command_path} --help`" if context else text
