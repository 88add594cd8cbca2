"""Who may import whom: nothing imports upwards, and the microscope stands on NumPy alone."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: The floors from the ground; a module belongs to the first that names it or a package above it.
FLOORS = [
    ["kernels.lab.microscope"],
    ["kernels.lab.cupy_stand_in"],
    ["kernels.lab.backend"],
    [
        "kernels.lab.counters", "kernels.lab.cpp", "kernels.lab.data", "kernels.lab.device",
        "kernels.lab.broken", "kernels.lab.files", "kernels.lab.levels", "kernels.lab.overlap",
        "kernels.lab.sanitizer", "kernels.lab.half", "kernels.lab.host",
        "kernels.lab.model", "kernels.lab.ncu", "kernels.lab.occupancy",
        "kernels.lab.oracle", "kernels.lab.peer_triton", "kernels.lab.peers", "kernels.lab.probes",
        "kernels.lab.ptx", "kernels.lab.sass", "kernels.lab.timing", "kernels.lab.tma",
        "kernels.lab.tiles", "kernels.lab.tuned", "kernels.lab.units", "kernels.lab.vector",
        "kernels.lab.vector_numba",
    ],
    ["kernels.lab.exercises"],
    [
        "kernels.async_tiled", "kernels.banks", "kernels.copies", "kernels.emulated",
        "kernels.hopper", "kernels.naive", "kernels.pipelined", "kernels.stream_k",
        "kernels.swizzled", "kernels.tensor_core", "kernels.thread_tiled", "kernels.tiled",
        "kernels.transpose", "kernels.vector_add", "kernels.vectorized", "kernels.warp_tiled",
    ],
    ["kernels.ladder"],
    ["kernels.predict"],
    ["kernels.lab.records"],
    ["kernels.chooser"],
    ["kernels.lab.roofline", "kernels.lab.plots", "kernels.lab.side_by_side"],
    [
        "kernels.lab.factcheck", "kernels.lab.notebooks", "kernels.lab.request_picture",
        "kernels.lab.showcase",
        "kernels.lab.widgets",
    ],
    [
        "kernels.bench", "kernels.memory_probes", "kernels.profiler", "kernels.report",
        "kernels.traced",
    ],
    ["kernels.tune"],
    ["kernels.__main__"],
]  # fmt: skip
#: These two gather what stands below the rungs, or below the records, under short names.
FRONTS = ("kernels.lab", "kernels")
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / "kernels").rglob("*.py"))
}


def floor(module: str) -> int:
    for number, names in enumerate(FLOORS):
        if any(module == name or module.startswith(f"{name}.") for name in names):
            return number
    raise AssertionError(f"{module} has no floor: name it in FLOORS")


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


@pytest.mark.parametrize("module", [name for name in MODULES if name not in FRONTS])
def test_nothing_imports_upwards(module):
    own = [name for name in imports(module) if name in MODULES and name not in FRONTS]
    assert [name for name in own if floor(name) > floor(module)] == []
    assert "kernels" not in imports(module) or floor(module) >= floor("kernels.naive")


def test_the_front_of_the_instruments_knows_no_rung():
    first_rung = floor("kernels.naive")
    assert all(floor(name) < first_rung for name in imports("kernels.lab") if name in MODULES)


@pytest.mark.parametrize("module", [m for m in MODULES if m.startswith("kernels.lab.microscope")])
def test_the_microscope_needs_numpy_alone(module):
    outside = {name.partition(".")[0] for name in imports(module)} - {"kernels"}
    assert outside <= {"numpy", *sys.stdlib_module_names}
