"""Build the static book: `make book`. Every warning counts; a failure is told in a few lines.

The pages' own Python is fetched first; without a network the book is built without it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from book.live import fetch, pack
from book.pages import live

COLOUR = re.compile(r"\x1b\[[\d;]*m")
ROOT = Path(__file__).resolve().parents[1]


def build(
    source: Path = ROOT, output: Path = ROOT, python: fetch.Distribution | None = None
) -> Path:
    """Build the book.

    Parameters
    ----------
    source : Path
        The folder with `_toc.yml` and the pages; the settings are always the course's.
    output : Path
        Where to put `_build`.
    python : Distribution
        The pages' own Python; without it pages run on a server alone.

    Returns
    -------
    Path
        The folder of the built pages.

    Raises
    ------
    SystemExit
        With the build's warnings and errors, when there are any.
    """
    program = Path(sys.executable).with_name("jupyter-book")
    command = [str(program), "build", str(source), "-W", "-n", "--keep-going"]
    command += ["--config", str(ROOT / "_config.yml"), "--toc", str(source / "_toc.yml")]
    command += ["--path-output", str(output), "--quiet"]
    pages = output / "_build" / "html"
    environment = os.environ | equip(pages / "_static" / "live", python)
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    if made.returncode:
        # Sphinx warns of a page only when it reads it: without what it keeps, it reads all again.
        shutil.rmtree(output / "_build" / ".doctrees", ignore_errors=True)
        said = COLOUR.sub("", made.stdout + made.stderr).splitlines()
        wrong = [line for line in said if "WARNING" in line or "ERROR" in line] or said[-5:]
        sys.exit(
            "\n".join([*dict.fromkeys(wrong), "The book was not built: mend the lines above."])
        )
    return pages


def equip(place: Path, python: fetch.Distribution | None) -> dict[str, str]:
    """Put what runs cells where the pages look for it, with a Python of their own or without.

    Returns
    -------
    dict of str to str
        What `book.pages.live` reads in the environment.
    """
    first = pack.write(python, place).get("first")
    return {
        live.MEGABYTES: f"{sum(first.values()) / 1e6:.0f}" if first else "",
        live.DRAWS: "yes" if python and fetch.DRAWING in python.wheels else "",
    }


def pages_python() -> fetch.Distribution | None:
    """The pages' own Python, or None, having said why; ``PAGE_PYTHON=required`` takes no None."""
    try:
        return fetch.fetch()
    except fetch.NoPagePython as error:
        if os.environ.get("PAGE_PYTHON") == "required":
            sys.exit(f"The pages' own Python is required: {error}")
        print(f"The pages will not run Python by themselves: {error}.", flush=True)
        return None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Build the static book.")
    parser.add_argument("--source", type=Path, default=ROOT)
    parser.add_argument("--output", type=Path, default=ROOT)
    arguments = parser.parse_args()
    made = build(arguments.source.resolve(), arguments.output.resolve(), pages_python())
    print(f"The book: {made / 'index.html'}")
