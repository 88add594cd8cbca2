"""The benchmark of several GPUs, on GPUs that are none: its rows, and what it reads."""

import warnings

import pytest

from kernels.distributed import copies, machine
from kernels.distributed.algorithms import schedule
from kernels.distributed.grid import Grid
from kernels.measure.distributed import ladder, links, problem, run
from kernels.records.record import key_of
from tests.distributed.fake_gpus import Fakes

TOPOLOGY = """\
\t\x1b[4mGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m
GPU0\t X \tNV18\t0-31\t0\t\tN/A
GPU1\tNV18\t X \t0-31\t0\t\tN/A

Legend:

  X    = Self
"""
CARRIED = """\
GPU 0: NVIDIA H200 (UUID: GPU-0)
\t Link 0: Data Tx: 100 KiB
\t Link 0: Data Rx: 200 KiB
\t Link 1: Data Tx: 1 KiB
\t Link 1: Data Rx: 2 KiB
GPU 1: NVIDIA H200 (UUID: GPU-1)
\t Link 0: Data Tx: 300 KiB
\t Link 0: Data Rx: 400 KiB
"""


@pytest.fixture
def two_gpus(monkeypatch):
    fakes = Fakes(2)
    for module in (copies, machine):
        monkeypatch.setattr(module, "cupy", fakes)
    monkeypatch.setattr(machine, "on_gpu", True)
    monkeypatch.setattr(copies, "gemm", fakes.gemm)
    monkeypatch.setattr(problem, "gemm", lambda *arrays: lambda: None)
    monkeypatch.setattr(ladder, "LIMIT", 0.01)
    monkeypatch.setattr(ladder, "REPEATS", 2)
    monkeypatch.setattr(ladder, "MOST", 2)
    monkeypatch.setattr(ladder, "TRANSPORT", "mailbox")
    monkeypatch.setattr(ladder, "LOCAL", dict.fromkeys(ladder.DTYPES, "cublas"))
    return fakes


@pytest.mark.parametrize("dtype", ladder.DTYPES)
def test_every_version_is_right_and_has_a_key_of_its_own(two_gpus, monkeypatch, dtype):
    size = 24
    monkeypatch.setattr(ladder, "COMPARED", (size,))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        rows = ladder.timings(size, size, size, dtype, 2)["timings"]
    # Neither CuPy nor PyTorch is here.
    told = [str(w.message) for w in said]
    assert all("cupyx" in text or "PyTorch" in text for text in told), told
    assert not [row for row in rows if not row["correct"]]
    assert len({key_of(row) for row in rows}) == len(rows) - 1  # the rung here is cuBLAS, too
    assert {row["engine"] for row in rows} == {"library", "copies", "mailbox"}
    for row in rows:
        assert row["seconds"]["median"] > 0
        assert row["rung"] != "rows" or sum(row["received"]) == size * size * (
            4 if dtype == "float32" else 2
        )


def test_a_shape_need_not_divide(two_gpus):
    rows = ladder.timings(17, 23, 29, "float32", 2)["timings"]
    assert all(row["correct"] for row in rows)


def test_what_this_machine_cannot_hold_is_one_line(two_gpus):
    with pytest.raises(RuntimeError, match="3x1 needs 3 GPUs, and this machine has 2: use 2"):
        machine.check_gpus(Grid(3))
    with pytest.raises(MemoryError, match="rank 0 needs .* use smaller sizes, or more GPUs"):
        machine.check_memory(schedule("rows", *[2**20] * 3, Grid(2)), 4, 4)


def test_links_are_read_as_the_driver_prints_them():
    assert machine.topology(TOPOLOGY) == {(0, 1): "NV18", (1, 0): "NV18"}
    assert links.parsed(CARRIED) == {0: (101 * 1024, 202 * 1024), 1: (300 * 1024, 400 * 1024)}
    assert machine.topology("") == {} == links.parsed("")


def test_a_part_of_the_benchmark_is_chosen_by_name():
    chosen = run.run.named(run.steps(2), "coll")
    assert [step.name for step in chosen] == ["collectives"]
    assert run.kept("coll") != run.kept() == run.KEPT
    with pytest.raises(ValueError, match="no step of the benchmark has 'chess' in its name"):
        run.run.named(run.steps(2), "chess")
