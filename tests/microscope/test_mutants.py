"""Every mutant of every rung is caught; the rungs themselves raise no alarm."""

from collections import Counter

import numpy as np
import pytest

from kernels.lab import trace
from tests.microscope import mutants
from tests.microscope.mutants import SCHEDULES, judge, judged, original, trials

# What nobody can tell apart from the original: (rung, kind, before, after) and the reason.
EQUIVALENT = {
    ("tiled", "index", "K", "(K + 1)"): "at most one more tile, all of zeros",
    (
        "tiled",
        "zero-fill",
        "float32(0)",
        "float32(1)",
    ): "beyond K each factor of a product is filled: one zero of the two is enough",
}

MUTANTS = mutants.mutants()
BARRIER_KINDS = {"race: read after write", "race: write after read"}


@pytest.mark.parametrize("rung", mutants.FILES)
def test_rungs_raise_no_alarm(rung):
    verdict = judge(rung, original(rung))
    assert not verdict.caught, verdict


@pytest.mark.parametrize("rung", mutants.FILES)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_rungs_are_right_in_every_order(rung, schedule):
    for trial in trials(rung):
        seen = trace(original(rung), trial.grid, trial.block, *trial.arguments, schedule=schedule)
        assert np.array_equal(list(seen.outputs.values())[-1], trial.expected)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m.rung}-{m.number}")
def test_mutant_is_caught(mutant):
    verdict = judged(mutant)
    reason = EQUIVALENT.get((mutant.rung, mutant.kind, mutant.before, mutant.after))
    if reason:
        assert not verdict.caught, f"not equivalent: {mutant.label}: {verdict}"
    else:
        assert verdict.caught, mutant.label


def test_barriers_are_caught_as_races():
    """A missing barrier is named a race, whatever the result of the run."""
    barriers = [m for m in MUTANTS if m.kind == "barrier"]
    assert len(barriers) == 2
    named = [BARRIER_KINDS & set(judged(m).problems) for m in barriers]
    assert named == [{"race: read after write"}, {"race: write after read"}]


def test_no_rung_lacks_mutants():
    made = Counter((m.rung, m.kind) for m in MUTANTS)
    for rung in ("vector_add", "naive", "swapped", "tiled"):
        assert made[rung, "guard"] and made[rung, "index"]
    assert made["tiled", "zero-fill"] == 4
    assert made["tiled", "initial value"] == made["naive", "initial value"] == 1
