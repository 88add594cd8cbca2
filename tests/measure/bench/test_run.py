"""A run of steps: its record, what it resumes with, and what it measures again."""

import pytest

from kernels import records
from kernels.measure.bench import run
from kernels.measure.bench.step import Step

ABOUT = {"gpu": "NVIDIA Test 1", "driver": "1.0", "date": "2001-01-01 00:00 UTC"}


class Machine:
    """Three steps that count how often they were measured, and one that can be interrupted."""

    def __init__(self, stop=False):
        self.measured, self.stop = [], stop

    def step(self, name):
        def measure():
            if self.stop and name == "b":
                raise KeyboardInterrupt
            self.measured.append(name)
            return {"timings": [{"rung": name, "engine": "numba", "gflops": 1.0}]}

        return Step(name, measure)

    def run(self, tmp_path, about=ABOUT, names="abc"):
        return run.run(
            [self.step(name) for name in names],
            about=about, facts={"sms": 3}, kept=tmp_path / "kept.json", folder=tmp_path / "records",
        )  # fmt: skip


def test_a_run_writes_a_record(tmp_path):
    record = records.read(Machine().run(tmp_path))
    assert (record.name, record.device) == ("test-1", {"sms": 3})
    assert [row.rung for row in record.tables["timings"]] == ["a", "b", "c"]
    assert {row.date for row in record.tables["timings"]} == {ABOUT["date"]}


def test_a_run_is_not_repeated_because_what_followed_it_failed(tmp_path):
    path = Machine().run(tmp_path)
    again = Machine()
    assert again.run(tmp_path) == path
    assert again.measured == []
    assert {row.date for row in records.read(path).tables["timings"]} == {ABOUT["date"]}


def test_an_interrupted_run_resumes_with_the_next_step(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        Machine(stop=True).run(tmp_path)
    assert not (tmp_path / "records").exists()
    machine = Machine()
    record = records.read(machine.run(tmp_path, {**ABOUT, "date": "2001-01-01 09:00 UTC"}))
    assert machine.measured == ["b", "c"]
    assert record.provenance["date"] == ABOUT["date"], "the run began then"


def test_figures_that_depend_on_a_changed_file_are_measured_again_and_no_others(
    tmp_path, monkeypatch
):
    keys = {"before": "1", "after": "1"}
    monkeypatch.setattr(run.sources, "key", lambda module: keys[module])
    machine = Machine()

    def measured():
        machine.measured = []
        steps = [machine.step(name) for name in "ab"]
        steps[0].measure.__module__, steps[1].measure.__module__ = "before", "after"
        kept, folder = tmp_path / "kept.json", tmp_path / "records"
        run.run(steps, about=ABOUT, facts={}, kept=kept, folder=folder)
        return machine.measured

    assert measured() == ["a", "b"]
    assert measured() == []
    keys["after"] = "2"
    assert measured() == ["b"]


def test_a_second_run_keeps_what_it_did_not_measure(tmp_path):
    Machine().run(tmp_path)
    (tmp_path / "kept.json").unlink()
    record = records.read(Machine().run(tmp_path, {**ABOUT, "date": "2002-02-02 00:00 UTC"}, "cd"))
    assert [row.rung for row in record.tables["timings"]] == ["a", "b", "c", "d"]
    assert record.earlier == [ABOUT]
