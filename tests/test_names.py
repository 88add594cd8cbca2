"""The names that pages and readers rely on: there, with the arguments that are promised."""

import inspect
import subprocess
import sys
from dataclasses import fields

import numpy as np
import pytest

import kernels
import microscope
from kernels import LADDER, Rung, cuda, float32, lab, uint32
from kernels.patterns import vector_add
from tests.pages import CHAPTERS

REQUIRED = inspect.Parameter.empty


def arguments(function) -> dict:
    """Names and defaults of what can be passed by name."""
    found = inspect.signature(function).parameters.values()
    named = [p for p in found if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return {p.name: p.default for p in named if p.name != "self"}


def test_what_every_chapter_imports():
    assert callable(float32) and callable(uint32) and hasattr(cuda, "jit")
    assert isinstance(kernels.on_gpu, bool)


def test_a_trace_is_asked_for_and_read_by_these_names():
    assert arguments(lab.trace) == {
        "kernel": REQUIRED, "grid": REQUIRED, "block": REQUIRED, "blocks": None,
        "schedule": "lockstep", "shared_bytes": 0, "limits": None, "landing": "latest",
    }  # fmt: skip
    a, b, c = (np.full(70, value, np.float32) for value in (1, 2, np.nan))
    seen = lab.trace(vector_add.vector_add, (3,), (32,), a, b, c)
    assert np.isnan(c).all(), "arguments are copied, never changed"
    assert sorted(site.op for site in seen.sites) == ["load", "load", "store"]
    for name in ("problems", "barriers", "work"):
        assert hasattr(seen, name)
    assert seen.summary() and str(seen.table()) and seen.heat("a") is not None
    for (
        name
    ) in "line expr array space op requests lanes sectors lines wavefronts conflicts".split():
        assert hasattr(seen.sites[0], name)


def test_a_problem_has_these_fields():
    promised = "kind line other_line array element block thread other_thread same_warp count"
    there = {field.name for field in fields(microscope.Problem)} | set(dir(microscope.Problem))
    assert {"message", *promised.split()} <= there


def test_the_instruments():
    assert arguments(lab.check) == {"C": REQUIRED, "A": REQUIRED, "B": REQUIRED}
    assert list(arguments(lab.time))[0] == "launch"
    assert arguments(lab.device) == {}


@pytest.mark.parametrize("rung", LADDER.values(), ids=LADDER)
def test_a_rung_has_these_names(rung):
    assert isinstance(rung, Rung) and LADDER[rung.name] is rung
    assert rung.title and rung.chapter in CHAPTERS
    assert rung.engines in (("numba", "cpp"), ("cpp",))
    assert rung.options.keys() == rung.defaults.keys()
    assert arguments(rung.matmul) == {
        "A": REQUIRED, "B": REQUIRED, "out": None, "engine": "numba"
    }  # fmt: skip
    assert list(arguments(rung.launch)) == ["M", "N"]
    assert list(arguments(rung.model)) == ["M", "N", "K"]
    grid, block = rung.launch(33, 17)
    assert len(grid) in (1, 2, 3) and len(block) in (1, 2)
    predicted = rung.model(33, 17, 5)
    assert predicted.flops == 2 * 33 * 17 * 5
    assert predicted.loads.keys() == {"A", "B"} and predicted.bytes_requested > 0


@pytest.mark.parametrize("name", LADDER)
def test_a_rung_in_numba_gives_its_kernel(name):
    assert hasattr(LADDER[name].kernel(), "py_func")


def test_the_commands():
    said = subprocess.run([sys.executable, "-m", "kernels"], capture_output=True, text=True).stdout
    commands = {line.split()[0] for line in said.split("Commands:")[1].splitlines() if line.strip()}
    assert {"info", "run", "compare", "trace", "tune", "record"} <= commands
    assert "tune-rung" not in commands, "one name for a command"
