"""``record``, ``readme`` and ``pages``: what the authors' tools do, as the program that they are.

Nothing here imports them. So the course runs without Jupyter, and without those who write about it.
"""

from __future__ import annotations

import os
import subprocess
import sys

import click

from kernels.basics.files import ROOT

PASSED = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


def author(*line: str) -> int:
    """Run ``python -m authoring`` with these arguments; its exit code.

    Ctrl-C reaches it, too: it ends by itself, and says what it leaves.
    """
    sys.stdout.flush()
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    process = subprocess.Popen(
        [sys.executable, "-m", "authoring", *line], env={**os.environ, "PYTHONPATH": path}
    )
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue


def _command(name: str, told: str) -> click.Command:
    @click.command(name, help=told, context_settings=PASSED)
    @click.argument("line", nargs=-1, type=click.UNPROCESSED)
    @click.pass_obj
    def passed(debug: bool, line: tuple[str, ...]) -> int:
        return author(name, *line, *(["--debug"] if debug else []))

    return passed


record = _command("record", "Execute the chapters and store what they show and what was measured.")
readme = _command("readme", "Write the ladder's tables and charts, figures in texts, and minutes.")
pages = _command("pages", "Count what each page asks of its reader.")
