"""The supervision of workers, with workers that only pretend."""

import json
import time

import pytest

from tests.microscope.fuzz import __main__ as command
from tests.microscope.fuzz import worker


def script(monkeypatch, *runs):
    """Let each worker in turn say given lines; returns the seeds that they were given."""
    asked = []
    left = list(runs)

    def listen(seeds, deadline):
        asked.append([int(s) for s in seeds])
        yield from left.pop(0)

    monkeypatch.setattr(worker, "listen", listen)
    return asked


def end(seed):
    return f'@end {{"seed": {seed}, "class": "same"}}'


def later():
    return time.monotonic() + 60


def test_rows_come_back(monkeypatch):
    script(monkeypatch, ["@begin 1", end(1), "noise", "@begin 2", end(2)])
    rows = list(worker.supervise([1, 2], later()))
    assert [(r["seed"], r["class"]) for r in rows] == [(1, "same"), (2, "same")]


def test_a_crash_costs_one_program(monkeypatch):
    asked = script(monkeypatch, ["@begin 1", end(1), "@begin 2"], ["@begin 3", end(3)])
    rows = list(worker.supervise([1, 2, 3], later()))
    assert [(r["seed"], r["class"]) for r in rows] == [(1, "same"), (2, "crashes"), (3, "same")]
    assert asked == [[1, 2, 3], [3]]


def test_a_hang_costs_one_program(monkeypatch):
    asked = script(monkeypatch, ["@begin 1", "@hangs"], ["@begin 2", end(2)])
    rows = list(worker.supervise([1, 2], later()))
    assert [(r["seed"], r["class"]) for r in rows] == [(1, "hangs"), (2, "same")]
    assert asked == [[1, 2], [2]]


def test_a_judge_that_broke_down_is_replaced(monkeypatch):
    asked = script(monkeypatch, ["@begin 1", end(1)], ["@begin 2", end(2)])
    rows = list(worker.supervise([1, 2], later()))
    assert [r["seed"] for r in rows] == [1, 2]
    assert asked == [[1, 2], [2]]


def test_nothing_begins_after_the_deadline(monkeypatch):
    script(monkeypatch)
    assert list(worker.supervise([1], time.monotonic() - 1)) == []


def test_a_worker_that_cannot_start_is_an_error(monkeypatch):
    script(monkeypatch, ["No module named numba"])
    with pytest.raises(RuntimeError, match="No module named numba"):
        list(worker.supervise([1], later()))


def test_a_silent_worker_is_ended(monkeypatch):
    monkeypatch.setattr(worker, "SILENCE", 0.01)
    assert list(worker.listen(["1"], later())) == ["@hangs"]


def test_a_worker_ends_with_the_program_at_the_deadline(monkeypatch, tmp_path):
    talker = tmp_path / "talker"
    talker.write_text("#!/bin/sh\necho @begin 1\necho '@end {}'\necho @begin 2\nexec sleep 60\n")
    talker.chmod(0o755)
    monkeypatch.setattr(worker.sys, "executable", str(talker))
    assert list(worker.listen(["1", "2"], time.monotonic()))[-1] == "@end {}"


def test_a_run_that_is_killed_leaves_what_it_knows(monkeypatch, tmp_path):
    def hire(*_):
        yield {"seed": 1, "class": "same"}
        yield {"seed": 2, "class": "differs"}
        raise KeyboardInterrupt

    out = tmp_path / "fuzz.json"
    monkeypatch.setattr(worker, "hire", hire)
    monkeypatch.setattr(command, "PAUSE", 0)
    monkeypatch.setattr(command.sys, "argv", ["fuzz", "--out", str(out)])
    with pytest.raises(KeyboardInterrupt):
        command.main()
    assert json.loads(out.read_text())["counts"] == {"same": 1, "differs": 1}
