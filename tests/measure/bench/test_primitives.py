"""The steps that measure sums, scans and products with vectors, without a GPU."""

import numpy as np
import pytest

from kernels import on_gpu, records
from kernels.measure import ncu
from kernels.measure.bench import plan
from kernels.measure.bench import primitives as bench
from kernels.measure.timing import Timing
from kernels.records import counters

SMALL = {
    "sums": lambda: bench.sum_cases((2500, 77)),
    "scans": lambda: bench.scan_cases((2500, 77)),
    "matvecs": lambda: bench.product_cases(((33, 64), (40, 37)), (1, 3, 8)),
    "int4": lambda: bench.int4_cases(((33, 128), (8, 384))),
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
        {"numba"} if table == "int4" else {"numba", "library"}
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


def test_counts_of_all_launches_of_a_case_are_added(monkeypatch):
    monkeypatch.setitem(bench.TABLES, "sums", lambda: bench.sum_cases((70_000,)))
    metric = counters.COUNTS["sectors"]
    launches = [ncu.Launch("k", {metric: 10**i}) for i in range(13)]
    asked = {}

    def profile(command, metrics, **options):
        asked.update(options, command=command, metrics=metrics)
        return launches

    monkeypatch.setattr(ncu, "profile", profile)
    rows = [row for row in bench.recorded("sums")["sums"] if row["engine"] == "numba"]
    assert [row["launches"] for row in rows] == [3, 3, 3, 2, 2]
    assert [row["sectors"] for row in rows] == [
        111, 111 * 10**3, 111 * 10**6, 11 * 10**9, 11 * 10**11,
    ]  # fmt: skip
    assert asked["command"][1:] == ["-m", "kernels.measure.bench.primitives", "sums"]
    assert asked["marked"] and set(asked["metrics"]) == {
        (counters.COUNTS | counters.LARGEST)[name] for name in bench.COUNTED
    }
    launches.pop()
    with pytest.raises(ncu.ProfilerError, match="expected 13 launches, counted 12"):
        bench.recorded("sums")


def test_the_launches_of_a_scan_are_counted():
    for version in bench.scan.VERSIONS.values():
        for n in (1, version.tile, version.tile + 1, version.tile**2 + 1):
            operands = bench.scan.Vector(np.zeros(n, np.float32))
            made = list(version._launches(*operands.contiguous(), operands))
            assert bench._launches(version, n) == len(made)


def test_without_counters_the_times_stand_alone(monkeypatch):
    def refuse(*arguments, **options):
        raise ncu.ProfilerError("not here")

    monkeypatch.setattr(ncu, "profile", refuse)
    monkeypatch.setitem(bench.TABLES, "sums", lambda: bench.sum_cases((100,)))
    with pytest.warns(UserWarning, match="no hardware counters: not here"):
        rows = bench.recorded("sums")["sums"]
    assert len(rows) >= 4 and "sectors" not in rows[0] and np.isfinite(rows[0]["share_of_bound"])
