"""Progress is kept in one file, never lost, never written over what cannot be read."""

import datetime
import json

import pytest

from kernels.basics.application import application_folder
from kernels.lab import exercises
from kernels.lab.exercises import checking, keeping

SOLVED = exercises.EXERCISES["axpy"].solution_text
WRONG = SOLVED.replace("alpha * x[i]", "x[i]")


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setattr(keeping, "_kept", {})
    monkeypatch.setattr(checking, "GIVEN", type(checking.GIVEN)())
    where = tmp_path / "learner" / "progress.json"
    monkeypatch.setenv("KERNELS_EXERCISES", str(where))
    return where


def test_a_solved_exercise_is_kept(file):
    assert exercises.progress().solved == 0
    exercises.check("axpy", WRONG)
    exercises.check("axpy", SOLVED)
    kept = json.loads(file.read_text())["exercises"]["axpy"]
    assert kept == {"tries": 1, "solved": datetime.date.today().isoformat()}
    now = exercises.progress()
    assert now.solved == 1 and now.total == len(exercises.EXERCISES)
    assert "solved " + kept["solved"] + ", 1 failed try" in str(now)
    assert "scale and add two vectors" in now._repr_html_()
    assert list(file.parent.iterdir()) == [file], "no temporary file stays behind"


def test_solving_again_keeps_the_first_day(file):
    file.parent.mkdir()
    day = {"format": 1, "exercises": {"axpy": {"tries": 2, "solved": "2026-01-02"}}}
    file.write_text(json.dumps(day))
    exercises.check("axpy", SOLVED)
    assert json.loads(file.read_text()) == day


def test_judging_and_looking_keep_nothing(file):
    exercises.judge("axpy", SOLVED)
    exercises.check("axpy", exercises.EXERCISES["axpy"].start_text)
    exercises.check("square-minded", exercises.EXERCISES["square-minded"].start_text)
    exercises.check("axpy", None)
    exercises.progress()
    assert not file.exists()


NONE = "is no progress of this course"
FORGED = {
    "not JSON": ("{", "cannot be read"),
    "binary": ("\x00\x01", "cannot be read"),
    "a list": ("[]", NONE),
    "another format": ('{"format": 99, "exercises": {}}', NONE),
    "no exercises": ('{"format": 1}', NONE),
    "an unknown exercise": (
        '{"format": 1, "exercises": {"moon": {"tries": 0, "solved": ""}}}', NONE),
    "no entry": ('{"format": 1, "exercises": {"axpy": 3}}', NONE),
    "a day that is none": (
        '{"format": 1, "exercises": {"axpy": {"tries": 0, "solved": "yesterday"}}}', NONE),
}  # fmt: skip


@pytest.mark.parametrize("what", FORGED)
def test_a_broken_file_is_told_and_left_alone(what, file):
    text, told = FORGED[what]
    file.parent.mkdir()
    file.write_text(text)
    result = exercises.check("axpy", SOLVED)
    assert result.right and told in result.note and "stays as it is" in result.note
    assert file.read_text() == text
    now = exercises.progress()
    assert told in str(now) and told in now._repr_html_().replace("&#x27;", "'")
    assert now.solved == 1, "what is solved now is kept for this Python"


def test_a_place_that_cannot_be_written_is_told(file, tmp_path):
    (tmp_path / "learner").write_text("a file where a folder should be")
    result = exercises.check("axpy", SOLVED)
    assert result.right and str(file) in result.note and "be" in result.note


def test_off_keeps_nothing_beyond_this_python(monkeypatch):
    monkeypatch.setattr(keeping, "_kept", {})
    monkeypatch.setenv("KERNELS_EXERCISES", "off")
    assert keeping.path() is None
    exercises.check("axpy", SOLVED)
    assert exercises.progress().solved == 1


def test_progress_lies_in_the_folder_of_the_course(monkeypatch):
    monkeypatch.delenv("KERNELS_EXERCISES")
    assert keeping.path() == application_folder() / "progress.json"
