"""What of the ladder is measured, and what beside it."""

from dataclasses import replace

import pytest

from kernels.measure import peers
from kernels.measure.bench import ladder
from kernels.measure.bench.case import Case
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


def test_e4m3_is_left_out_where_no_library_multiplies_it(monkeypatch):
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    with pytest.warns(UserWarning, match="e4m3: RuntimeError: .* pip install torch"):
        assert ladder.timings(16, 32, 48, [LADDER["fp8"]], "e4m3") == {"timings": []}


class Broken:
    """Stands for a rung that does not compile, between two that do."""

    name, dtypes = "broken", ("float32",)

    def missing(self, dtype):
        return ""

    def versions(self):
        yield "numba", {}

    def prepare(self, *_, **__):
        raise RuntimeError("ptxas says no\nin many lines")


def test_a_rung_that_fails_is_told_of_and_the_others_are_measured(monkeypatch, tmp_path):
    monkeypatch.setattr(Case, "library", lambda case: lambda: case.C.__setitem__(
        ..., case.right
    ))  # fmt: skip
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    monkeypatch.setattr(peers.peer_cutile, "FOLDER", tmp_path)
    small = replace(LADDER["tiled"], engines=("numba",))
    with pytest.warns(UserWarning, match="not measured: .*broken.*ptxas says no in many lines"):
        rows = ladder.timings(20, 30, 10, [small, Broken(), small])["timings"]
    assert [row["rung"] for row in rows] == ["cublas"] + 6 * ["tiled"]
    assert all(row["correct"] and row["cublas_gflops"] > 0 for row in rows)
    assert rows[0]["cublas_gflops"] == rows[0]["gflops"], "cuBLAS is measured against itself"
    assert len({row["cublas_gflops"] for row in rows}) > 1, "a rung's row has the cuBLAS beside it"
    assert rows[0]["seconds"]["n"] >= 6, "cuBLAS is measured before the rungs and after them"
