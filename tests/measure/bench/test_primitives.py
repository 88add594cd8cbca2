"""The steps that measure sums, scans and products with vectors, without a GPU."""

import pytest

from kernels import on_gpu, records
from kernels.measure.bench import plan
from kernels.measure.bench import primitives as bench
from kernels.measure.timing import Timing

SMALL = {
    "sums": lambda: bench.sum_cases((2500, 77)),
    "scans": lambda: bench.scan_cases((2500, 77)),
    "matvecs": lambda: bench.product_cases(((33, 64), (40, 37)), (1, 3, 8)),
    "int4": lambda: bench.int4_cases(((33, 128), (8, 384))),
    "weights": lambda: bench.weight_cases(((40, 128),)),
}


@pytest.fixture(autouse=True)
def at_hand(monkeypatch):
    """Launch once, in place of a timing; without a GPU, Numba alone."""

    def launched(launch):
        launch()
        return Timing(0.5, 0.4, 0.6, 3, True)

    monkeypatch.setattr(bench, "time_launch", launched)
    monkeypatch.setattr(bench.probes, "copy_bandwidth", lambda: {"bytes_per_second": 1e5})
    if not on_gpu:
        monkeypatch.setattr(bench, "ENGINES", ("numba",))


def test_the_benchmark_has_a_step_for_each_table(monkeypatch):
    assert bench in plan.MODULES and set(SMALL) == set(bench.TABLES)
    monkeypatch.setattr(bench, "recorded", lambda table: {table: []})
    assert [list(step.measure()) for step in bench.steps()] == [[t] for t in bench.TABLES]


@pytest.mark.parametrize("table", SMALL)
def test_every_row_is_right_and_of_its_own(table):
    rows = bench.measure(SMALL[table](), 1e5)
    assert all(row["correct"] and 0 <= row["share_of_bound"] <= 1 for row in rows)
    assert len({records.key_of(row) for row in rows}) == len(rows) >= 4
    for row in rows:
        assert row["bytes_per_second"] == row["bytes"] / 0.5
        assert row["share_of_copy"] == round(row["bytes"] / 0.5 / 1e5, 4)
    assert {row["engine"] for row in rows} >= (
        {"numba"} if table in ("int4", "weights") else {"numba", "library"}
    )


@pytest.mark.parametrize("table", SMALL)
def test_a_result_that_is_not_there_or_is_off_is_found(table):
    for case in SMALL[table]():
        assert not case.error(lambda: None) <= 1, "nothing was written"
        assert case.error(case.launch) <= 1
    first = next(SMALL[table]())
    rows = bench.measure(
        iter([bench.Primitive(first.what, first.nbytes, lambda: None, first.error)]), 1.0
    )
    assert rows[0]["correct"] is False
