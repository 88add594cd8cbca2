"""What an H200 did with pipelines and mutants, against the interpreter as it is today."""

import json
from pathlib import Path

import numpy as np
import pytest

import microscope
from microscope import trace
from tests.microscope.ptx.async_mutants import MUTANTS
from tests.microscope.ptx.hardware import PIPELINES, SEED, digest
from tests.microscope.ptx.pipelines import pipelines
from tests.microscope.ptx.public_bugs import CASES

RECORD = json.loads(
    (Path(__file__).parents[1] / "counters" / "async_h200.json").read_text(encoding="utf-8")
)
OTHERS = {row["case"]: row for row in RECORD["others"]}
README = (Path(microscope.__file__).parent / "README.md").read_text(encoding="utf-8")


def test_300_pipelines_were_run():
    assert RECORD["pipelines"]["seed"] == SEED
    assert len(RECORD["pipelines"]["gpu"]) == len(pipelines(PIPELINES, SEED)) == 300


@pytest.mark.parametrize("number", range(7, PIPELINES, 37))
def test_a_pipeline_is_what_the_gpu_made_of_it_bit_for_bit(number):
    one = pipelines(PIPELINES, SEED)[number]
    launch, expected = one.case()
    seen = trace(one.made, *launch, shared_bytes=one.made.shared_bytes)
    C = seen.outputs["map_C" if one.kernel == "persistent" else "C"]
    assert not seen.problems
    np.testing.assert_array_equal(C, expected)
    assert digest([C]) == RECORD["pipelines"]["gpu"][number]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m.kernel}-{m.name}".replace(" ", "-"))
def test_what_went_wrong_on_the_gpu_must_be_reported(mutant):
    row = OTHERS[f"{mutant.kernel}: {mutant.name}"]
    assert row["gpu"] in ("right", "wrong", "hangs")
    if row["gpu"] != "right":
        assert mutant.kinds
    assert set(row["reported"]) & set(mutant.kinds) if mutant.kinds else not row["reported"]


def test_racecheck_is_silent_where_a_public_bug_is_reported_here():
    answers = {bug.name: OTHERS[bug.name] for bug in CASES}
    assert {row["racecheck"] for row in answers.values()} == {
        "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"
    }
    for bug in CASES:
        assert bool(answers[bug.name]["reported"]) == (not bug.mended)


def test_the_readme_tells_what_was_recorded_of_public_bugs():
    lines = [line.strip("| ") for line in README.splitlines() if line.startswith("| [")]
    told = [line.split(" | ") for line in lines]
    wrong = [OTHERS[bug.name] for bug in CASES if not bug.mended]
    assert [(line[1], line[2]) for line in told] == [
        (", ".join(row["reported"]), row["gpu"]) for row in wrong
    ]
