"""The wheel: it holds the whole package, and works where nothing but NumPy can be imported."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

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
    shutil.copytree(FOLDER, folder / "source", ignore=shutil.ignore_patterns("__pycache__"))
    build = "from setuptools import build_meta; print(build_meta.build_wheel('..'))"
    made = subprocess.run(
        [sys.executable, "-c", build], cwd=folder / "source", capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed"


def alone(installed: Path, program: str) -> subprocess.CompletedProcess:
    """Run a program where the wheel and NumPy are all there is."""
    script = installed.parent / "program.py"
    script.write_text(program, encoding="utf-8")
    begin = f"{ALONE}\nimport runpy\nrunpy.run_path({str(script)!r}, run_name='__main__')"
    command = [sys.executable, "-I", "-c", begin, str(installed)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8")


def test_the_wheel_holds_every_module_its_licence_and_numpy_as_its_one_requirement(installed):
    modules = {path.name for path in FOLDER.glob("*.py")}
    assert {path.name for path in (installed / "microscope").iterdir()} == modules
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
