"""The wheel: it holds the whole package, and works where nothing but NumPy can be imported."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from .test_command import PROGRAM

FOLDER = Path(__file__).parents[2] / "microscope"
#: Lets a process import the standard library, NumPy, and what lies in its first argument.
ALONE = """
import sys
from importlib.abc import MetaPathFinder

class Alone(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in {"numpy", "microscope", "__main__", *sys.stdlib_module_names, *sys.argv[2:]}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Alone())
sys.path.insert(0, sys.argv[1])
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """A folder with what a wheel of the package installs."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(
        FOLDER, folder / "source", ignore=shutil.ignore_patterns("__pycache__", "build")
    )
    build = "from setuptools import build_meta; print(build_meta.build_wheel('..'))"
    made = subprocess.run(
        [sys.executable, "-c", build], cwd=folder / "source", capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed"


def alone(installed: Path, program: str, *also: str) -> subprocess.CompletedProcess:
    """Run a program where the wheel, NumPy and what is named are all there is."""
    script = installed.parent / "program.py"
    script.write_text(program, encoding="utf-8")
    begin = f"{ALONE}\nimport runpy\nrunpy.run_path({str(script)!r}, run_name='__main__')"
    command = [sys.executable, "-I", "-c", begin, str(installed), *also]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8")


def test_the_wheel_holds_every_module_its_licence_and_numpy_as_its_one_requirement(installed):
    modules = {path.relative_to(FOLDER) for path in FOLDER.rglob("*.py")}
    there = installed / "microscope"
    assert {path.relative_to(there) for path in there.rglob("*.py")} == modules
    (about,) = installed.glob("*.dist-info")
    metadata = (about / "METADATA").read_text(encoding="utf-8")
    needed = re.findall(r"^Requires-Dist: (.*)$", metadata, re.MULTILINE)
    assert [each for each in needed if "extra ==" not in each] == ["numpy>=1.26"]
    assert (about / "licenses" / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")


def test_nothing_else_can_be_imported_beside_it(installed):
    for name in ("kernels", "numba", "pytest"):
        assert f"No module named '{name}'" in alone(installed, f"import {name}").stderr


def readme_blocks(language: str) -> list[str]:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_the_readme_shows_what_its_first_program_prints(installed):
    ran = alone(installed, readme_blocks("python")[0])
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == readme_blocks("text")[0]


#: numba-cuda's examples are tests, and import filecheck, which this one doesn't use.
UNUSED = """
import sys
from unittest.mock import MagicMock

for part in ("", ".matcher", ".options", ".parser", ".finput"):
    sys.modules[f"filecheck{part}"] = MagicMock()
"""


def test_the_readme_shows_numba_cudas_own_example(installed):
    pytest.importorskip("numba.cuda")
    program = (UNUSED + readme_blocks("python")[1]).replace("\n", ";", UNUSED.count("\n") * 0)
    ran = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, encoding="utf-8", cwd=installed,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == readme_blocks("text")[1]


def test_a_program_written_for_numba_runs_without_it(installed):
    (installed.parent / "stranger.py").write_text(PROGRAM, encoding="utf-8")
    path = str(installed.parent / "stranger.py")
    run = (
        "import runpy, sys; sys.argv[1:] = [{}]; "
        "runpy.run_module('microscope', run_name='__main__')"
    )
    ran = alone(installed, run.format(repr(path)))
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("and so [6. 6.] 7\nfill: grid 4, block 32")
    words = f"{path}:fill --grid 4 --block 32 --args 1.5 float32[100] float32[100,2]".split()
    ran = alone(installed, run.format(", ".join(map(repr, words))))
    assert ran.returncode == 0 and "store y[i, 0]" in ran.stdout
