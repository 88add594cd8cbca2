"""The probes of access patterns: every case is right, a wrong one is seen, rows are complete."""

from itertools import chain

import numpy as np
import pytest

from kernels import records
from kernels.backend import on_gpu
from kernels.measure import memory_probes
from kernels.measure.bench import memory
from kernels.patterns import copies

SMALL = {
    "strides": lambda: memory_probes.stride_cases(100, memory_probes.ENGINES),
    "layouts": lambda: chain(memory_probes.layout_cases(256), memory_probes.line_cases(128)),
    "banks": lambda: memory_probes.bank_cases(256),
    "transpose": lambda: memory_probes.transpose_cases(70),
}


@pytest.fixture(autouse=True)
def numba_alone(monkeypatch):
    if not on_gpu:
        monkeypatch.setattr(memory_probes, "ENGINES", ("numba",))


def test_every_table_is_tried():
    assert set(SMALL) == set(memory_probes.TABLES)


@pytest.mark.parametrize("table", SMALL)
def test_every_case_is_right(table):
    seen = set()
    for case in SMALL[table]():
        assert case.right(), case.what
        key = records.key_of({**case.what, "seconds": {}})
        assert key not in seen, "two rows would be taken for one"
        seen.add(key)
    assert len(seen) >= 2


@pytest.mark.parametrize(
    "name, wrong",
    [
        ("strided_load", lambda a, b, stride: None),
        ("strided_store", lambda a, b, stride: b.fill(0)),
        ("shifted", lambda a, b, offset: b.__setitem__(slice(None), a[: b.size])),
    ],
)
def test_a_wrong_kernel_is_recorded_as_wrong(name, wrong, monkeypatch):
    if on_gpu:
        pytest.skip("the interpreter runs the wrong kernel")

    class Launches:
        py_func = wrong

        def __getitem__(self, launched):
            return wrong

    monkeypatch.setattr(copies, name, Launches())
    judged = {
        tuple(case.what.items()): case.right()
        for case in SMALL["strides"]()
        if case.what["what"] == name
    }
    # A copy that forgets to shift is right where there is nothing to shift.
    right = [what for what, found in judged.items() if found]
    assert len(judged) > 5 and right == [what for what in judged if ("offset", 0) in what]


def test_rows_are_measured_against_the_copy_of_the_same_run(monkeypatch):
    def cases():
        for number, case in enumerate(SMALL["transpose"]()):
            if number < 3:
                yield case

    rows = memory_probes.measure("transpose", cases())["transpose"]
    assert [row["what"] for row in rows] == ["copy", "plain_copy", "row_read"]
    assert rows[0]["share_of_copy"] == 1.0
    assert all(row["correct"] and row["bytes"] == 8 * 70 * 70 for row in rows)
    speed = rows[2]["bytes"] / rows[2]["seconds"]["median"]
    assert rows[2]["bytes_per_second"] == pytest.approx(speed, rel=1e-3)


def test_a_bank_row_has_no_bytes():
    rows = memory_probes.measure("banks", iter([next(SMALL["banks"]())]))["banks"]
    assert rows[0]["stride"] == 0 and "bytes" not in rows[0] and rows[0]["correct"]


def test_the_benchmark_has_a_step_for_each_table(monkeypatch):
    monkeypatch.setattr(memory_probes, "recorded", lambda table: {table: []})
    steps = [step for step in memory.steps() if step.name.startswith("memory access")]
    assert [list(step.measure()) for step in steps] == [[table] for table in memory_probes.TABLES]


@pytest.mark.gpu
@pytest.mark.parametrize("table", SMALL)
def test_both_engines_on_the_gpu(table):
    rows = memory_probes.measure(table, SMALL[table]())[table]
    assert all(row["correct"] for row in rows)
    assert {row["engine"] for row in rows} >= {"numba", "cpp"}
    assert all(np.isfinite(row["seconds"]["median"]) for row in rows)
