"""The steps that measure softmax and attention: their rows, shares and checks, without a GPU."""

import pytest

from kernels import on_gpu, records
from kernels.measure.bench import attention as bench
from kernels.measure.bench import plan
from kernels.measure.timing import Timing
from kernels.primitives import attention as fused


@pytest.fixture(autouse=True)
def timed(monkeypatch):
    """Launch once, in place of a timing."""

    def launched(launch):
        launch()
        return Timing(0.5, 0.4, 0.6, 3, True)

    monkeypatch.setattr(bench, "time_launch", launched)
    monkeypatch.setattr(bench.probes, "timing", lambda found: {"median": 0.5, "n": 3})
    monkeypatch.setattr(bench.ncu, "add_counts", lambda rows, *_, **__: rows)


def test_the_benchmark_has_all_steps():
    assert bench in plan.MODULES
    assert [step.name for step in bench.steps()] == [
        "softmax", "attention", "attention in steps", "decoding", "gradients",
    ]  # fmt: skip


def test_a_row_says_what_ran_how_fast_and_whether_it_was_right():
    (row,) = bench.ours(2, 40, 16, "float32", True, ({},))
    assert row["correct"] and row["engine"] == "numba" and row["kernel"] == "Numba"
    (half,) = bench.ours(1, 40, 64, "bfloat16", True, ({},), "numba")
    assert half["correct"] and (half["engine"], half["kernel"]) == ("numba", "Numba, wgmma")
    assert row["flops"] == 4 * 2 * 40 * 40 * 16 / 2 / 0.5
    assert (row["heads"], row["N"], row["D"], row["causal"]) == (2, 40, 16, True)


def test_a_wrong_result_is_found_in_the_first_and_in_the_last_head():
    arrays = bench.given(3, 20, 16, "float32")
    right = fused.attention(*arrays)
    known = bench.truth(arrays, "float32", False)
    assert bench.is_right(right, known)
    assert not bench.is_right(right, bench.truth(arrays, "float32", True))
    for head in (0, -1):
        wrong = right.copy()
        wrong[head, 7, 3] += 1e-3
        assert not bench.is_right(wrong, known)


@pytest.mark.skipif(on_gpu, reason="a GPU measures them at their own size")
def test_each_step_of_attention_is_timed_once_and_right():
    rows = bench.climbs((1, 130, 64))["attention_steps"]
    mine = [row for row in rows if row["engine"] == "numba"]
    assert [row["kernel"] for row in mine] == [
        "Numba, mma", "Numba, wgmma", "Numba, wgmma, overlap", "Numba, wgmma, overlap, ping-pong",
    ]  # fmt: skip
    assert all(row["correct"] for row in mine)


def test_decoding_counts_the_bytes_of_the_shared_heads(monkeypatch):
    monkeypatch.setattr(bench.probes, "copy_bandwidth", lambda: {"bytes_per_second": 1e5})
    rows = bench.caches(((4, 4, 30, 32), (4, 2, 30, 32)), (1, 3))["decoding"]
    assert [row["bytes"] for row in rows] == [4 * 2 * 4 * 30 * 32] * 2 + [4 * 2 * 2 * 30 * 32] * 2
    assert all(row["correct"] for row in rows)
    assert len({records.key_of(row) for row in rows}) == 4


def test_each_launch_of_the_gradients_is_checked_and_timed():
    rows = bench.backwards(2, 40, 16)["gradients"]
    assert [row["kernel"] for row in rows] == 2 * list(bench.PRODUCTS)
    assert all(row["correct"] for row in rows)
    assert rows[3]["flops"] == 4 * 2 * 2 * 40 * 40 * 16 / 0.5
    assert len({records.key_of(row) for row in rows}) == 8
