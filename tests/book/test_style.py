"""The code keeps its style: Python by ruff, JavaScript by oxfmt and oxlint."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHECKS = ["ruff check --no-cache", "ruff format --check --no-cache", "oxfmt --check", "oxlint"]


@pytest.fixture
def tool(run):
    """Run one of the locked tools over the course."""

    def call(command: str, **options):
        name, *arguments = command.split()
        return run(str(Path(sys.executable).with_name(name)), *arguments, ".", **options)

    return call


@pytest.mark.parametrize("check", CHECKS)
def test_nothing_is_found(tool, check):
    done = tool(check)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("check", "name", "text", "said"),
    [
        (CHECKS[0], "a.py", "import os\n", "F401"),
        (CHECKS[1], "a.py", "x = {'a':1}\n", "a.py"),
        (CHECKS[2], "a.js", "const a = 'b'\n", "a.js"),
        (CHECKS[3], "a.js", "export const a = b;\n", "no-undef"),
        (CHECKS[3], "a.js", "const a = 1;\n", "no-unused-vars"),
    ],
)
def test_a_mistake_is_found(tool, tmp_path, check, name, text, said):
    (tmp_path / name).write_text(text)
    for settings in ("pyproject.toml", ".oxfmtrc.json", ".oxlintrc.json"):
        (tmp_path / settings).write_bytes((ROOT / settings).read_bytes())
    done = tool(check, cwd=tmp_path)
    assert done.returncode == 1 and said in done.stdout
