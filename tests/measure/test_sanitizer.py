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
WILD = """========= COMPUTE-SANITIZER
@launch no_guard
========= Invalid __global__ read of size 4 bytes
=========     at no_guard(Array)+0x1c0 in broken.py:51
=========     by thread (36,0,0) in block (1,0,0)
=========     Address 0x7f is out of bounds
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: launch in broken.py:999
=========
========= ERROR SUMMARY: 1 error
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


def test_a_launch_that_ends_its_process_is_stopped(tool):
    tool(WILD)
    assert sanitizer.verdict("no_guard", "memcheck") == {
        "kernel": "no_guard", "tool": "memcheck", "end": "stopped", "lines": [51],
        "findings": {"Invalid __global__ read of size 4 bytes": 1},
    }  # fmt: skip


def test_a_launch_that_hangs_is_one_row(tool):
    tool(None)
    row = sanitizer.verdict("left_early", "synccheck")
    assert (row["end"], row["findings"]) == ("hung", {})


def test_a_tool_that_does_not_run_is_one_line(tool):
    tool("========= Error: No attachable process found\n")
    with pytest.raises(sanitizer.SanitizerError, match="memcheck did not run: =+ Error: No att"):
        sanitizer.verdict("reverse", "memcheck")


def test_without_the_tool(monkeypatch):
    monkeypatch.setattr(sanitizer.shutil, "which", lambda name: None)
    with pytest.raises(sanitizer.SanitizerError, match="not on PATH: it comes with the CUDA"):
        sanitizer.verdicts()


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
