"""The machine code that this GPU runs: of every rung, in each language, with its loop counted."""

import pytest

from kernels import LADDER
from kernels.measure import sass
from kernels.measure.bench import machine_code

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(bool(sass.missing()), reason=sass.NO_TOOL),
]


@pytest.fixture(scope="module")
def rows():
    return machine_code.machine_code()["sass"]


def test_every_rung_that_runs_here_is_listed(rows):
    expected = [
        (rung.name, engine, rung.default(engine))
        for rung in LADDER.values()
        if not rung.missing()
        for engine in rung.engines
    ]
    assert [(row["rung"], row["engine"], row["options"]) for row in rows] == expected


def test_the_loops_hold_what_their_kernels_are_made_for(rows):
    for row in rows:
        loop, rung = row["loop"], LADDER[row["rung"]]
        assert loop["multiply_adds"] > 0 and row["lines"]
        if not rung.chapter.startswith("08"):
            assert loop["math"] == "FFMA", row
        if rung.wide and loop["copies"]:  # from global to shared memory, past the registers
            assert loop["shared_loads"]["of_16"], row
        elif rung.wide:
            assert loop["shared_loads"]["of_16"] and loop["global_loads"]["of_16"], row
        if "TM" in row["options"]:
            options = row["options"]
            each = options["BK"] * options["TM"] * options.get("TN", 1)
            assert loop["multiply_adds"] % each == 0, row
