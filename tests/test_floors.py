"""Who may import whom: nothing imports upwards or in a circle; the microscope needs NumPy alone.

The floors are the folders of ``kernels/``, above the microscope. The chapters stand on the library,
the authors' tools on all. ``python -m tests.test_floors`` draws them.
"""

from __future__ import annotations

import ast
import re
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import microscope

ROOT = Path(__file__).parents[1]
#: A chapter may build on the ones before it.
CHAPTERS = ["chapters", *sorted(path.name for path in (ROOT / "chapters").glob("ch[0-9]*"))]
#: The folders from the ground up; those that share a floor do not import each other.
FLOORS = [
    ("microscope",),
    ("basics",),
    ("backend",),
    ("ptx",),
    ("host",),
    ("rungs", "patterns", "primitives"),
    ("distributed",),
    ("records",),
    ("measure",),
    ("budget",),
    ("tuning",),
    ("frameworks",),
    ("lab",),
    ("cli",),
    *((chapter,) for chapter in CHAPTERS),
    ("authoring",),
]
#: The face of the course, above all floors.
FACE = ("kernels", "kernels.__main__")
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for folder in ("kernels", "microscope", "chapters", "authoring")
    for path in sorted((ROOT / folder).rglob("*.py"))
}


def room(module: str) -> str:
    """The folder that a module lies in: ``"backend"`` for ``"kernels.backend.vector"``."""
    top, _, inner = module.partition(".")
    return inner.partition(".")[0] or top if top in ("kernels", "chapters") else top


def floor(folder: str) -> int:
    """How high a folder stands."""
    return next(number for number, folders in enumerate(FLOORS) if folder in folders)


def imports(module: str) -> set[str]:
    """The modules that a module imports anywhere in its text, a function's body included."""
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = ".".join(package.split(".")[: len(package.split(".")) - node.level + 1])
            base = ".".join(filter(None, (above if node.level else "", node.module)))
            names = {f"{base}.{alias.name}" for alias in node.names}
            found |= {name if name in MODULES else base for name in names}
    return found - {module}


def within(module: str) -> list[str]:
    """The course's own modules among those that a module imports."""
    return sorted(name for name in imports(module) if name in MODULES)


def test_every_folder_has_a_floor():
    folders = {path.name for path in (ROOT / "kernels").iterdir() if any(path.glob("*.py"))}
    assert folders | {"microscope", "authoring", *CHAPTERS} == {
        folder for floor in FLOORS for folder in floor
    }


def test_the_map_in_the_readme_has_every_folder_from_the_top_down():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    drawn = text.partition("\nkernels/")[2].partition("\nmicroscope/")[0]
    named = [n for n in re.findall(r"^  (\w+)/", drawn, re.MULTILINE) if n != "program"]
    assert {*named} == {path.parent.name for path in (ROOT / "kernels").glob("*/*.py")}
    assert [floor(n) for n in named] == sorted(map(floor, named), reverse=True)


@pytest.mark.parametrize("module", [name for name in MODULES if name not in FACE])
def test_nothing_imports_upwards(module):
    own = room(module)
    for name in within(module):
        assert name not in FACE
        assert room(name) == own or floor(room(name)) < floor(own), name


def test_nothing_imports_in_a_circle():
    try:
        TopologicalSorter({module: within(module) for module in MODULES}).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


@pytest.mark.parametrize("module", [m for m in MODULES if m.startswith("microscope")])
def test_the_microscope_needs_numpy_alone(module):
    outside = {name.partition(".")[0] for name in imports(module)} - {"microscope"}
    assert outside <= {"numpy", *sys.stdlib_module_names}
    assert all(name.startswith("microscope") for name in within(module))


def outsiders() -> list[Path]:
    """The files that use the microscope as any other package would."""
    own = ROOT / "tests" / "microscope"
    paths = [
        p
        for top in ("kernels", "authoring", "tests", "book", "chapters")
        for p in (ROOT / top).rglob("*.py")
    ]
    return sorted(p for p in paths if own not in p.parents)


def test_others_use_only_the_public_face_of_the_microscope():
    inner = []
    for path in outsiders():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names if "." in alias.name]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                public = microscope.__all__ if node.module == "microscope" else ()
                names = [f"{node.module}.{a.name}" for a in node.names if a.name not in public]
            where = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
            inner += [f"{where}: {name}" for name in names if name.startswith("microscope.")]
    assert not inner


def drawing() -> str:
    """The floors from the top, with the files and lines of each folder and what it imports."""
    lines = []
    for folders in reversed(FLOORS):
        for folder in folders:
            own = [name for name in MODULES if name not in FACE and room(name) == folder]
            size = sum(len(MODULES[name].read_text(encoding="utf-8").splitlines()) for name in own)
            below = {room(name) for module in own for name in within(module)} - {folder}
            stands_on = ", ".join(sorted(below, key=floor, reverse=True)) or "nothing"
            lines.append(f"{folder:9} {len(own):3} files {size:6} lines, imports {stands_on}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(drawing())
