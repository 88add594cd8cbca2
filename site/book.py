"""Build the static book: `make book`. Every warning counts; a failure is told in a few lines."""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

COLOUR = re.compile(r"\x1b\[[\d;]*m")
ROOT = Path(__file__).resolve().parents[1]


def build(source: Path = ROOT, output: Path = ROOT) -> Path:
    """Build the book.

    Parameters
    ----------
    source : Path
        The folder with `_toc.yml` and the pages; the settings are always the course's.
    output : Path
        Where to put `_build`.

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
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if made.returncode:
        # Sphinx warns of a page only when it reads it: without what it keeps, it reads all again.
        shutil.rmtree(output / "_build" / ".doctrees", ignore_errors=True)
        said = COLOUR.sub("", made.stdout + made.stderr).splitlines()
        wrong = [line for line in said if "WARNING" in line or "ERROR" in line] or said[-5:]
        sys.exit(
            "\n".join([*dict.fromkeys(wrong), "The book was not built: mend the lines above."])
        )
    return output / "_build" / "html"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Build the static book.")
    parser.add_argument("--source", type=Path, default=ROOT)
    parser.add_argument("--output", type=Path, default=ROOT)
    arguments = parser.parse_args()
    print(
        f"The book: {build(arguments.source.resolve(), arguments.output.resolve()) / 'index.html'}"
    )
