"""What of the ladder is measured, and what beside it."""

import pytest

from kernels.measure import peers
from kernels.measure.bench import ladder
from kernels.rungs.order import LADDER


def test_every_version_of_a_rung_is_measured():
    assert list(LADDER["tiled"].versions()) == [
        (engine, {"tile": tile}) for engine in ("numba", "cpp") for tile in (8, 16, 32)
    ]


def test_the_ladder_is_measured_at_every_shape_and_number_format():
    names = [step.name for step in ladder.steps()]
    assert len(names) == len(set(names)), "a name is what a run resumes by"
    for dtype in ("", ", float16"):
        for shape in ("1024³", "8192³", "128×8192×8192", "8192×8192×128", "4097×4097×4097"):
            # In 16 bits the smallest is done before the host has asked for the next.
            expected = shape != "1024³" or not dtype
            assert (f"ladder {shape}{dtype}" in names) is expected
    assert "ladder 8192³, bfloat16" in names
    assert "ladder 1024³, bfloat16x3" in names
    assert "ladder 2048³, e4m3" in names and len(names) == 8 + 7 + 2 + 4 + 3


def test_two_measurements_of_one_launch_are_one_row():
    def row(median, n, correct=True):
        seconds = {"median": median, "q1": 0.9 * median, "q3": 1.2 * median, "n": n}
        return {"M": 10, "N": 20, "K": 30, "seconds": seconds, "correct": correct}

    found = ladder.both(row(1e-3, 5), row(2e-3, 7))
    assert found["seconds"] == pytest.approx({"median": 1.5e-3, "q1": 9e-4, "q3": 2.4e-3, "n": 12})
    assert found["gflops"] == pytest.approx(2 * 6000 / 1.5e-3 / 1e9) and found["correct"]
    assert not ladder.both(row(1e-3, 5), row(2e-3, 7, correct=False))["correct"]


def test_other_libraries_are_measured_only_where_they_are_installed(monkeypatch, tmp_path):
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    monkeypatch.setattr(peers.peer_cutile, "FOLDER", tmp_path)
    assert list(peers.others(None, None, None)) == []
