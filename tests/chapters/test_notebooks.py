"""Every chapter runs from top to bottom, and what it prints is what it stores, on both engines."""

import json
import os
import subprocess
import sys

import pytest

from kernels.lab.notebooks import CHAPTERS, ROOT

NOTEBOOKS = sorted(CHAPTERS.glob("*.ipynb"))


@pytest.mark.parametrize("engine", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_those_stored(path, engine, tmp_path, record_property):
    counts = tmp_path / "counts.json"
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-q", "--nbval", "--nbval-current-env",
            "--nbval-cell-timeout=300", "-p", "tests.chapters.strict", "-p", "no:cacheprovider",
            "--color=no", f"--rootdir={ROOT}", str(path),
        ],
        cwd=ROOT, capture_output=True, text=True, timeout=1200,
        env={**os.environ, "KERNELS_ENGINE": engine, "CHAPTER_COUNTS": str(counts)},
    )  # fmt: skip
    found = json.loads(counts.read_text(encoding="utf-8")) if counts.exists() else {}
    record_property("cells", {"chapter": path.stem, "engine": engine, **found})
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert found["compared"] > 0, "nothing was compared: a chapter must print something exact"
