"""Run a chapter from top to bottom and compare what it prints with what it stores."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kernels.basics.files import ROOT

HANGS = 1200  #: seconds, by far more than a cell takes on a slow machine under load
#: How the strict plugin heads the report of a cell.
HEADING = re.compile(r"^_+ \S+: cell (\S+) _+$", re.MULTILINE)


@dataclass(frozen=True)
class Comparison:
    """What came of a chapter.

    Attributes
    ----------
    right : bool
        Whether every compared cell printed what it stores, and nothing failed.
    counts : dict
        Cells by what happened to them: the columns of `tests.chapters.table`.
    told : str
        The report of the run.
    """

    right: bool
    counts: dict[str, int]
    told: str

    @property
    def cells(self) -> list[str]:
        """The cells that failed or printed something else."""
        return HEADING.findall(self.told)


def compare(
    path: Path, changed: dict[str, str], *, python: str = sys.executable, root: Path = ROOT
) -> Comparison:
    """Run one chapter's cells in a process of its own.

    Parameters
    ----------
    path : Path
        The notebook; it is not changed.
    changed : dict
        Environment variables of the process, beside the present ones.
    python : str
        The interpreter, one that has what the tests need.
    root : Path
        The folder that the report's paths start from.
    """
    command = [python, "-m", "pytest", "-q", "--color=no", "-p", "no:cacheprovider"]
    command += ["--nbval", "--nbval-current-env", "-p", "tests.chapters.strict"]
    command += [f"--nbval-cell-timeout={HANGS}", f"--nbval-kernel-startup-timeout={HANGS}"]
    command += [f"--rootdir={root}", str(path)]
    with tempfile.TemporaryDirectory() as folder:
        counts = Path(folder, "counts.json")
        done = subprocess.run(
            command,
            cwd=ROOT,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=4 * HANGS,
            env={**os.environ, **changed, "CHAPTER_COUNTS": str(counts)},
        )
        found = json.loads(counts.read_text(encoding="utf-8")) if counts.exists() else {}
    return Comparison(done.returncode == 0, found, done.stdout + done.stderr)
