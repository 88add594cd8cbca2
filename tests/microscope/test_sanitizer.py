"""compute-sanitizer's recorded verdict on the mutants, beside ours."""

import json

import pytest

from tests.microscope import mutants, score

RECORDS = {
    path.stem: json.loads(path.read_text()) for path in sorted(score.FOLDER.glob("sanitizer*.json"))
}
# A store past the end of one shared array lands in the next one: racecheck sees threads collide
# there, the microscope names the store itself.
OURS = {
    "memcheck": ("out of bounds",),
    "racecheck": ("race:", "out of bounds"),
    "synccheck": ("barrier",),
}


@pytest.mark.parametrize("name", RECORDS)
def test_rungs_are_clean(name):
    rows = RECORDS[name]["originals"]
    assert {row["rung"] for row in rows} == set(mutants.FILES)
    for row in rows:
        for tool, verdict in row["tools"].items():
            assert verdict == {"end": "right", "findings": {}}, (row["rung"], tool)


@pytest.mark.parametrize("name", RECORDS)
def test_what_it_reports_we_report(name):
    """Each finding of the sanitizer is a problem of the same sort in the microscope."""
    record = {row["key"]: row["tools"] for row in RECORDS[name]["mutants"]}
    known = [m for m in mutants.mutants() if m.key in record]
    assert len(known) > 0.8 * len(mutants.mutants()), "the rungs have changed: record again"
    for mutant in known:
        reporting = [tool for tool in OURS if record[mutant.key][tool]["findings"]]
        if reporting:
            problems = mutants.judged(mutant).problems
        for tool in reporting:
            assert any(kind in p for p in problems for kind in OURS[tool]), mutant.label


def test_racecheck_hears_of_races_as_races():
    """Where a barrier is missing, both say race: no bounds are involved."""
    rows = [
        row
        for record in RECORDS.values()
        for row in record["mutants"]
        if row["kind"] == "barrier" and row["tools"]["racecheck"]["findings"]
    ]
    found = {m.key: m for m in mutants.mutants()}
    assert rows
    for row in rows:
        mutant = found[row["key"]]
        problems = mutants.judged(mutant).problems
        assert any("race:" in p for p in problems), mutant.label


@pytest.mark.parametrize("name", RECORDS)
def test_every_launch_ended_or_says_why(name):
    for row in RECORDS[name]["mutants"]:
        for verdict in row["tools"].values():
            assert verdict["end"].split()[0] in ("right", "wrong", "error", "hung", "crashed")
