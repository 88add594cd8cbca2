"""compute-sanitizer's words, read; and the broken kernels under the microscope."""

from types import SimpleNamespace

import numpy as np
import pytest

from kernels import lab
from kernels.measure import sanitizer
from kernels.measure.broken import CASES
from microscope import Kind

RACE = """========= COMPUTE-SANITIZER
@launch no_barrier
========= Error: Race reported between Write access at no_barrier(Array)+0x2d0 in broken.py:31
=========     and Read access at no_barrier(Array)+0x350 in broken.py:32 [124 hazards]
=========
========= Warning: Race reported between Write access at no_barrier(Array)+0x2d0 in broken.py:31
=========     and Read access at no_barrier(Array)+0x350 in broken.py:32 [4 hazards]
=========
@end right
========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)
"""
#: What the microscope says of each, in the order of the machine.
SEEN = {
    "reverse": set(),
    "no_barrier": {Kind.READ_AFTER_WRITE},
    "one_barrier": {Kind.WRITE_AFTER_READ},
    "no_guard": {Kind.OUT_OF_BOUNDS},
    "past_the_end": {Kind.OUT_OF_BOUNDS},
    "never_filled": {Kind.UNINITIALISED},
    "never_cleared": set(),
    "barrier_in_a_branch": {Kind.DIVERGENT_BARRIER},
    "left_early": {Kind.BARRIER_AFTER_RETURN},
}


@pytest.fixture
def tool(monkeypatch):
    """A stand-in for the program, which says `text`."""
    monkeypatch.setattr(sanitizer.shutil, "which", lambda name: name)

    def install(text):
        def run(command, timeout, **_):
            if text is None:
                raise sanitizer.subprocess.TimeoutExpired(command, timeout)
            return SimpleNamespace(stdout=text, stderr="")

        monkeypatch.setattr(sanitizer.subprocess, "run", run)

    return install


def test_races_are_read(tool):
    tool(RACE)
    assert sanitizer.verdict("no_barrier", "racecheck") == {
        "kernel": "no_barrier", "tool": "racecheck", "end": "right", "lines": [31, 32],
        "findings": {"Error: race write and read": 1, "Warning: race write and read": 1},
    }  # fmt: skip


def test_every_kernel_meets_every_tool(tool, monkeypatch):
    monkeypatch.setattr(sanitizer, "verdict", lambda *pair: {"pair": pair})
    tool("")
    assert [row["pair"] for row in sanitizer.verdicts()] == [
        (name, tool) for name in CASES for tool in sanitizer.TOOLS
    ]


@pytest.mark.parametrize("name", CASES)
def test_what_the_microscope_says(name):
    case = CASES[name]
    out = np.full(case.outputs, np.nan, np.float32)
    seen = lab.trace(case.kernel, case.blocks, 64, case.a(), out)
    assert {problem.kind for problem in seen.problems} == SEEN[name]
    assert bool(case.mistake) == (name != "reverse")


def outputs(name):
    """What a case leaves in the output, and what a right kernel would have left there."""
    case = CASES[name]
    out = np.full(case.outputs, np.nan, np.float32)
    seen = lab.trace(case.kernel, case.blocks, 64, case.a(), out)
    return seen.outputs["out"], case.expected(case.a())


@pytest.mark.parametrize("name", ("reverse", "no_barrier", "one_barrier", "no_guard"))
def test_in_the_order_of_the_machine_a_mistake_may_not_show_in_the_numbers(name):
    found, expected = outputs(name)
    assert np.array_equal(found, expected)


def test_a_sum_that_starts_from_what_lies_there_shows_by_the_poison_alone():
    found, _ = outputs("never_cleared")
    assert np.isnan(found).all()


@pytest.mark.gpu
def test_a_race_is_found_on_the_gpu():
    if sanitizer.shutil.which("compute-sanitizer") is None:
        pytest.skip("compute-sanitizer is not on PATH")
    row = sanitizer.verdict("no_barrier", "racecheck")
    assert any("race" in finding for finding in row["findings"])
    assert sanitizer.verdict("reverse", "racecheck")["findings"] == {}
