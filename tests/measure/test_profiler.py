"""Profiles of the rungs: launches told apart by marks, figures under our names, nothing lost."""

import json
from pathlib import Path

import pytest

from kernels import LADDER
from kernels.basics import data_sheets
from kernels.measure import ncu, profiler
from kernels.measure.bench import counters as bench
from kernels.measure.traced import versions as versions_traced
from kernels.records import counters

JOBS = list(profiler.jobs(64, small=((16, 24, 8),)))
FAR = list(profiler.jobs_beyond_l2(512))
METRICS = {
    "dram__bytes_read.sum": 512,
    "dram__bytes_write.sum": 256,
    "lts__t_sectors_srcunit_tex_lookup_hit.sum": 300,
    "lts__t_sectors_srcunit_tex_lookup_miss.sum": 100,
    "gpu__time_duration.sum": 2000,
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": 40.0,
    "launch__registers_per_thread": 32,
    "launch__shared_mem_per_block_static": 1024,
    "launch__shared_mem_per_block_dynamic": 2048,
}


def mark(number):
    return ncu.ProfiledLaunch("tile_by_tile_mark", {}, (number + 1, 1, 1))


@pytest.fixture
def profiled(monkeypatch):
    """A stand-in for Nsight Compute: the program's log, and the launches it is to have seen."""

    def install(launches, log=()):
        def profile(command, metrics, folder, marked):
            assert marked and set(metrics) == set(counters.METRICS)
            todo = json.loads(Path(command[-2]).read_text())
            assert [profiler.Job(**job) for job in todo] == JOBS
            Path(command[-1]).write_text("".join(json.dumps(entry) + "\n" for entry in log))
            return launches

        monkeypatch.setattr(ncu, "profile", profile)

    return install


def test_every_rung_is_counted_and_the_small_ones_are_those_that_are_traced():
    versions = [
        (rung.name, engine, options)
        for rung in LADDER.values()
        for engine, options in rung.versions()
        if rung.name in ("naive", "tiled") or options == rung.default(engine)
    ]
    assert {(name, engine) for name, engine, _ in versions} == {
        (rung.name, engine) for rung in LADDER.values() for engine in rung.engines
    }
    large, small = ([job for job in JOBS if job.M == size] for size in (64, 16))
    assert len(large) + len(small) == len(JOBS)
    told = [(job.rung, job.engine, job.options) for job in large]
    assert told == [*versions, ("cublas", "library", {})]
    traced = [(rung.name, "numba", options) for rung, options in versions_traced()]
    assert [(job.rung, job.engine, job.options) for job in small] == traced
    assert all(job.dtype in LADDER[job.rung].dtypes for job in (*JOBS, *FAR) if job.options)


def test_beyond_l2_the_library_and_all_rungs_on_tensor_cores_are_counted():
    assert {(job.M, job.N, job.K) for job in FAR} == {(512,) * 3}
    assert [job.dtype for job in FAR if job.engine == "library"] == ["float32", "float16"]
    ours = [job for job in FAR if job.engine != "library"]
    on_tensor_cores = {rung.name for rung in LADDER.values() if "float32" not in rung.dtypes}
    assert {job.rung for job in ours} == on_tensor_cores | set(profiler.FAR)
    assert {(job.engine, *job.options.values()) for job in ours if job.rung == "tiled"} == {
        (engine, tile) for engine in ("numba", "cpp") for tile in (16, 32)
    }
    for rung in profiler.FAR:
        expected = {(engine, str(LADDER[rung].default(engine))) for engine in LADDER[rung].engines}
        assert expected <= {(job.engine, str(job.options)) for job in ours if job.rung == rung}


def test_rungs_are_counted_where_rows_begin_on_no_16_byte_boundary():
    jobs = list(profiler.jobs_unaligned())
    assert all(job.M % 4 and job.dtype == "float32" for job in jobs)
    assert {"tiled", "vectorized", "async_tiled"} <= {job.rung for job in jobs}
    assert not {"naive", "mma", "emulated"} & {job.rung for job in jobs}
    for job in jobs:
        assert job.options == LADDER[job.rung].default(job.engine)
        assert not LADDER[job.rung].copies(job.M, job.N, job.K), "copies count aligned rows"


def test_without_counters_the_record_gets_no_empty_tables(monkeypatch):
    monkeypatch.setattr(ncu, "missing", lambda: "no ncu here")
    for step in bench.steps():
        with pytest.warns(UserWarning, match="no hardware counters: no ncu here"):
            assert step.measure() == {}


def test_beyond_l2_is_beyond_every_l2_of_the_data_sheets():
    largest = max(sheet.l2_bytes for sheet in data_sheets.gpus().values())
    assert 4 * profiler.BEYOND_L2**2 > largest, "A alone must not fit"


def test_rows_follow_the_marks(profiled):
    launches = []
    for number in range(len(JOBS)):
        launches += [mark(number), ncu.ProfiledLaunch("some kernel", METRICS)]
    profiled(launches)
    rows = profiler.profiles(JOBS)
    assert [(r["rung"], r["engine"], r["options"], r["M"]) for r in rows] == [
        (job.rung, job.engine, job.options, job.M) for job in JOBS
    ]
    for row in rows:
        assert (row["dram_read_bytes"], row["l2_hit_rate"], row["duration"]) == (512, 0.75, 2e-6)
        assert (row["sm_throughput"], row["registers"], row["shared_bytes"]) == (0.4, 32, 3072)


def test_a_rung_that_does_not_launch_is_named_and_the_others_are_kept(profiled):
    launches = [mark(0)]
    for number in range(1, len(JOBS)):
        launches += [mark(number), ncu.ProfiledLaunch("some kernel", METRICS)]
    profiled(launches, [[0, "CUDADriverError: invalid argument"], *([n, ""] for n in (1, 2))])
    with pytest.warns(UserWarning, match=r"not counted: swapped \(numba.*invalid argument"):
        rows = profiler.profiles(JOBS)
    assert len(rows) == len(JOBS) - 1


def test_a_product_of_several_launches_is_one_profile():
    def launch(time, hits, share, stall):
        name = next(iter(counters.STALLS.values()))
        return ncu.ProfiledLaunch("part", {
            "gpu__time_duration.sum": time, "lts__t_sectors_srcunit_tex_lookup_hit.sum": hits,
            "lts__t_sectors_srcunit_tex_lookup_miss.sum": 10,
            "sm__throughput.avg.pct_of_peak_sustained_elapsed": share,
            "launch__registers_per_thread": time, name: stall,
        })  # fmt: skip

    found = counters.figures([launch(30, 10, 80, 2.0), launch(10, 70, 40, 6.0)])
    assert found["l2_hit_rate"] == 0.8
    assert found["sm_throughput"] == 0.7, "each launch weighs as long as it took"
    assert (found["registers"], found["duration"]) == (30, 4e-8)
    assert found["stalls"] == {"long_scoreboard": 3.0}


def test_what_an_old_profiler_does_not_count_is_left_out_and_named():
    found = counters.figures([ncu.ProfiledLaunch("k", METRICS)])
    assert "requests" not in found and "stalls" not in found and "l1_hit_rate" not in found
    lacking = counters.missing(found)
    assert {"requests", "stalls", "l1_hit_rate"} <= set(lacking)
    assert not set(lacking) & set(found)
    assert counters.figures([]) == {}


def test_bytes_at_each_level():
    row = {"l1_wavefronts": 10, "l2_read_bytes": 64, "l2_write_bytes": 32, "dram_read_bytes": 32}
    assert counters.bytes_at(row) == {"L1 and shared": 1280, "L2": 96}
    assert counters.bytes_at(row | {"dram_write_bytes": 8})["DRAM"] == 40


@pytest.mark.gpu
def test_counters_of_a_rung_on_the_gpu():
    if ncu.missing():
        pytest.skip(ncu.missing())
    jobs = [profiler.Job("naive", "numba", {"block": 32}, 64, 64, 64),
            profiler.Job("tiled", "cpp", {"tile": 16}, 64, 64, 64)]  # fmt: skip
    try:
        rows = profiler.profiles(jobs)
    except ncu.ProfilerError as error:
        pytest.skip(str(error))
    assert [row["ffma"] for row in rows] == [64**3, 64**3]
    assert rows[0]["requests"] == 2 * 64**3 // 32
