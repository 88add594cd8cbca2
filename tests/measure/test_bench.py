"""The benchmark's bookkeeping: steps, resuming, merging. The measuring itself needs a GPU."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from kernels import records
from kernels.engine import on_gpu
from kernels.host import cpp, half
from kernels.measure import bench, oracle, peers, probes
from kernels.rungs.order import LADDER

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

        return bench.Step(name, measure)

    def run(self, tmp_path, about=ABOUT, names="abc"):
        return bench.run(
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


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        Machine(stop=True).run(tmp_path)
    assert not (tmp_path / "records").exists()
    machine = Machine()
    record = records.read(machine.run(tmp_path, {**ABOUT, "date": "2001-01-01 09:00 UTC"}))
    assert machine.measured == ["b", "c"]
    assert record.provenance["date"] == ABOUT["date"], "the run began then"


def test_figures_of_another_driver_are_measured_again(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        Machine(stop=True).run(tmp_path)
    machine = Machine()
    machine.run(tmp_path, {**ABOUT, "driver": "2.0"})
    assert machine.measured == ["a", "b", "c"]


def test_figures_of_a_kernel_that_was_changed_since_are_measured_again(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "KERNELS", (tmp_path,))
    (tmp_path / "tiled.cu").write_text("before")
    with pytest.raises(KeyboardInterrupt):
        Machine(stop=True).run(tmp_path / "runs")
    (tmp_path / "tiled.cu").write_text("after")
    machine = Machine()
    machine.run(tmp_path / "runs")
    assert machine.measured == ["a", "b", "c"]


@pytest.mark.parametrize("text", ["", "{", '{"same": 1}'])
def test_a_spoilt_intermediate_file_costs_only_time(tmp_path, text):
    (tmp_path / "kept.json").write_text(text)
    machine = Machine()
    machine.run(tmp_path)
    assert machine.measured == ["a", "b", "c"]


def test_a_second_run_keeps_what_it_did_not_measure(tmp_path):
    Machine().run(tmp_path)
    (tmp_path / "kept.json").unlink()
    record = records.read(Machine().run(tmp_path, {**ABOUT, "date": "2002-02-02 00:00 UTC"}, "cd"))
    assert [row.rung for row in record.tables["timings"]] == ["a", "b", "c", "d"]
    assert record.earlier == [ABOUT]


def test_every_version_of_a_rung_is_measured():
    assert list(LADDER["tiled"].versions()) == [
        (engine, {"tile": tile}) for engine in ("numba", "cpp") for tile in (8, 16, 32)
    ]


def test_the_ladder_is_measured_at_every_shape_and_number_format():
    names = [step.name for step in bench.ladder_steps()]
    assert len(names) == len(set(names)), "a name is what a run resumes by"
    for dtype in ("", ", float16"):
        for shape in ("1024³", "8192³", "128×8192×8192", "8192×8192×128", "4097×4097×4097"):
            # In 16 bits the smallest is done before the host has asked for the next.
            expected = shape != "1024³" or not dtype
            assert (f"ladder {shape}{dtype}" in names) is expected
    assert "ladder 8192³, bfloat16" in names
    assert "ladder 1024³, bfloat16x3" in names and len(names) == 8 + 7 + 2 + 4


def test_what_is_measured_is_checked_against_float64_and_its_error_kept():
    case = bench.Case(33, 17, 129)
    C = oracle.inputs(33, 17, 129)
    right = case.measure(lambda: np.matmul(*C, out=case.C), limit=0.01)
    assert right["correct"] and 0 < right["max_error"] < 1e-4
    assert 0 < right["max_relative_error"] < 129 * 2**-24
    assert (right["M"], right["N"], right["K"], right["dtype"]) == (33, 17, 129, "float32")
    assert right["seconds"]["n"] >= 3 and right["gflops"] > 0
    for wrong in (lambda: None, lambda: case.C.fill(0)):
        row = case.measure(wrong, limit=0.01)
        assert not row["correct"] and "max_error" not in row


def test_float32_taken_apart_is_judged_as_float32():
    case = bench.Case(33, 17, 129, half.PARTS)
    assert case.A.dtype == np.float32
    row = case.measure(lambda: np.matmul(case.A, case.B, out=case.C), limit=0.01)
    assert row["correct"] and row["dtype"] == half.PARTS
    rounded = [half.floats(half.bfloat16(matrix)) for matrix in (case.A, case.B)]
    assert not case.measure(lambda: np.matmul(*rounded, out=case.C), limit=0.01)["correct"]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_16_bit_products_are_checked_against_what_the_inputs_were_rounded_to(dtype):
    case = bench.Case(33, 17, 65, dtype)
    A, B = (half.floats(matrix) for matrix in (case.A, case.B))
    row = case.measure(lambda: np.matmul(A, B, out=case.C), limit=0.01)
    assert row["correct"] and row["dtype"] == dtype
    exact = oracle.inputs(33, 17, 65)
    assert not case.measure(lambda: np.matmul(*exact, out=case.C), limit=0.01)["correct"]


def test_a_numba_version_is_measured_as_it_is_launched():
    case = bench.Case(20, 36, 24)
    for name in ("tiled", "swizzled"):
        for options in LADDER[name].chosen("numba"):
            launch = case.launch(LADDER[name], "numba", options)
            assert case.measure(launch, limit=0.01)["correct"]


def test_two_measurements_of_one_launch_are_one_row():
    def row(median, n, correct=True):
        seconds = {"median": median, "q1": 0.9 * median, "q3": 1.2 * median, "n": n}
        return {"M": 10, "N": 20, "K": 30, "seconds": seconds, "correct": correct}

    found = bench.both(row(1e-3, 5), row(2e-3, 7))
    assert found["seconds"] == pytest.approx({"median": 1.5e-3, "q1": 9e-4, "q3": 2.4e-3, "n": 12})
    assert found["gflops"] == pytest.approx(2 * 6000 / 1.5e-3 / 1e9) and found["correct"]
    assert not bench.both(row(1e-3, 5), row(2e-3, 7, correct=False))["correct"]


@pytest.mark.parametrize("name", bench.GUARDED)
def test_guards_can_be_struck_out_of_the_twins(name):
    text, struck = bench.GUARD.subn(" true ", cpp.source(name))
    assert struck >= 2
    kept = re.findall(r"\w+ < (?:M|N|K|rows|cols)\b", text)
    assert set(kept) <= {"k < K", "k0 < K"}, "the loops' ends, and nothing else"


@pytest.mark.parametrize("name", bench.GUARDED)
def test_there_is_room_for_what_loads_ahead_without_guards(name):
    matrix = np.arange(12, dtype=np.float32).reshape(3, 4)
    roomy = bench.with_room(matrix)
    np.testing.assert_array_equal(roomy, matrix)
    assert roomy.flags.c_contiguous
    ahead = roomy.base.shape[0] - roomy.shape[0]
    assert ahead >= LADDER[name].default("cpp").get("BK", 32), "a tile beyond the last"


def test_other_libraries_are_measured_only_where_they_are_installed(monkeypatch):
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    assert list(peers.launches(None, None, None)) == []


class Broken:
    """Stands for a rung that does not compile, between two that do."""

    name, dtypes = "broken", ("float32",)

    def missing(self, dtype):
        return ""

    def versions(self):
        yield "numba", {}

    def prepare(self, *_, **__):
        raise RuntimeError("ptxas says no\nin many lines")


def test_a_rung_that_fails_is_told_of_and_the_others_are_measured(monkeypatch):
    monkeypatch.setattr(bench.Case, "library", lambda case: lambda: case.C.__setitem__(
        ..., case.right
    ))  # fmt: skip
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    small = replace(LADDER["tiled"], engines=("numba",))
    with pytest.warns(UserWarning, match="not measured: .*broken.*ptxas says no in many lines"):
        rows = bench.timings(20, 30, 10, [small, Broken(), small])["timings"]
    assert [row["rung"] for row in rows] == ["cublas"] + 6 * ["tiled"]
    assert all(row["correct"] and row["cublas_gflops"] > 0 for row in rows)
    assert rows[0]["cublas_gflops"] == rows[0]["gflops"], "cuBLAS is measured against itself"
    assert len({row["cublas_gflops"] for row in rows}) > 1, "a rung's row has the cuBLAS beside it"
    assert rows[0]["seconds"]["n"] >= 6, "cuBLAS is measured before the rungs and after them"


def test_occupancy_follows_from_what_the_compiler_used(monkeypatch):
    class H200:
        name = "NVIDIA H200"

    monkeypatch.setattr(bench, "device", lambda: H200)
    used = {"registers": 32, "shared_bytes": 8192, "local_bytes": 0}
    assert bench.residency(1024, used) == {"blocks_per_sm": 2, "occupancy": 1.0}
    H200.name = "GTX of another maker"
    assert bench.residency(1024, used) == {}


@pytest.mark.skipif(on_gpu, reason="there is a GPU")
def test_without_a_gpu_there_is_nothing_to_record():
    with pytest.raises(RuntimeError, match="recording needs an NVIDIA GPU, but"):
        bench.provenance()


def test_a_ring_visits_every_node_once():
    for nodes in (1, 2, 37, 1000):
        following = probes.ring(nodes)
        seen, place = set(), 0
        for _ in range(nodes):
            seen.add(place)
            place = int(following[place])
        assert (len(seen), place) == (nodes, 0)


@pytest.mark.parametrize("what", ["python loops", "numba", "numpy matmul"])
def test_cpu_products_name_the_size_that_ran(what):
    row = probes.cpu_product(what, 17)
    assert (row["M"], row["N"], row["K"]) == (17, 17, 17)
    assert row["gflops"] == pytest.approx(2 * 17**3 / row["seconds"]["median"] / 1e9, rel=1e-3)
    assert row["seconds"]["q1"] <= row["seconds"]["median"] <= row["seconds"]["q3"]
    assert row["cores"] == (probes.cores() if what == "numpy matmul" else 1)


def test_an_unknown_cpu_product_is_named():
    with pytest.raises(ValueError, match="no CPU product 'mkl': use one of python loops"):
        probes.cpu_product("mkl")


def test_python_and_numba_loops_are_right():
    rng = np.random.default_rng(1)
    A, B = rng.standard_normal((3, 5)), rng.standard_normal((5, 7))
    assert np.allclose(probes.python_matmul(A.tolist(), B.tolist()), A @ B)
    C = np.empty((3, 7), np.float32)
    A, B = A.astype(np.float32), B.astype(np.float32)
    probes._numba_matmul(parallel=False)(A, B, C)
    assert np.allclose(C, A @ B, atol=1e-6)


def test_numpy_vector_add_rows():
    rows = probes.cpu_vector_add([1000, 3001])
    assert [row["n"] for row in rows] == [1000, 3001]
    assert all(row["bytes_per_second"] > 0 for row in rows)


@pytest.mark.gpu
def test_small_steps_on_the_gpu(tmp_path):
    for dtype in ("float32", "float16", "bfloat16"):
        rows = bench.timings(70, 45, 33, list(LADDER.values()), dtype)["timings"]
        here = [r for r in LADDER.values() if dtype in r.dtypes and not r.missing(dtype)]
        versions = [row for row in rows if row["engine"] != "library"]
        assert len(versions) == sum(len(list(rung.versions())) for rung in here)
        assert all(row["correct"] and row["gflops"] > 0 for row in rows)
        assert {row["dtype"] for row in rows} == {dtype}
    used = bench.resources()["resources"]
    assert all(row["registers"] > 0 for row in used)
    assert [row for row in used if row["local_bytes"] > 64] == []
    assert all(row["correct"] for row in bench.guards(256)["guard"])
    tiled = [row for row in used if row["rung"] == "tiled"]
    assert all(row["shared_bytes"] == 8 * row["options"]["tile"] ** 2 for row in tiled)
    added = bench.vector_lengths([1000, 4099])["vector_add"]
    assert all(row["correct"] for row in added) and len(added) == 8
    assert json.dumps(bench.provenance())
    assert {"fp32_peak", "l2_bytes"} <= bench.device_facts().keys()


@pytest.mark.gpu
def test_latency_grows_with_distance():
    rows = {(row["space"], row["bytes"]): row for row in probes.latency(2**28)}
    near, shared = rows["registers", 4], rows["shared", 16384]
    first, last = rows["global", 2**14], rows["global", 2**28]
    assert near["cycles"] < shared["cycles"] <= 1.2 * first["cycles"] < last["cycles"]
    assert 3 <= near["cycles"] <= 8


@pytest.mark.gpu
def test_transfers_and_launches_take_time():
    rows = [row for kind in ("pinned", "pageable") for row in probes.transfers(kind, [1000, 2**22])]
    assert len(rows) == 8 and all(row["bytes_per_second"] > 0 for row in rows)
    launches = {(row["engine"], row["arguments"]) for row in probes.launch_overhead()}
    assert launches == {(engine, n) for engine in ("numba", "cpp") for n in (0, 1, 3)}
