"""``python -m kernels profile``: counted here, or recorded; one line for whatever is in the way."""

import json

import pytest

from kernels import cli, on_gpu, records
from kernels.measure import ncu, profiler, report
from kernels.records import counters
from tests.records import synthetic

PROFILE = {
    "rung": "tiled", "engine": "numba", "options": {"tile": 16}, "dtype": "float32",
    "M": 2048, "N": 2048, "K": 2048,
    **{name: 1000 for name in counters.COUNTS if name in counters.NAMES},
    **{name: 0.5 for name in counters.SHARES},
    "ipc": 1.5, "registers": 32, "shared_bytes": 2048, "duration": 0.002,
    "l1_hit_rate": 0.25, "l2_hit_rate": 0.75,
    "stalls": {name: 3.0 if name == "barrier" else 0.1 for name in counters.STALL_WORDS},
}  # fmt: skip


@pytest.fixture
def recorded(recorded, monkeypatch):
    """A record with profiles of the tiled rung, in both languages and at two sizes."""
    monkeypatch.setattr(report, "FOLDER", recorded / "profiles")
    record = synthetic.record("h200")
    record.tables["profiles"] = [
        records.Row({**PROFILE, "engine": engine, "M": size, "options": {"tile": tile},
                     "date": synthetic.DATE})
        for engine in ("numba", "cpp") for size in (256, 2048) for tile in (8, 16)
    ]  # fmt: skip
    records.write(record)
    return recorded


@pytest.fixture
def counting(recorded, monkeypatch):
    """A machine that can count."""
    monkeypatch.setattr(report, "unable", lambda rung: "")
    about = {"gpu": "NVIDIA Test 1", "driver": "1.0", "date": "2001-01-01 00:00 UTC"}
    monkeypatch.setattr(report, "provenance", lambda: about)

    def install(row):
        def profiles(jobs):
            if isinstance(row, Exception):
                raise row
            job = jobs[0]
            return [{**row, "rung": job.rung, "engine": job.engine, "options": job.options,
                     "M": job.M}]  # fmt: skip

        monkeypatch.setattr(profiler, "profiles", profiles)

    return install


def call(capsys, line):
    code = cli.main(line.split())
    return code, *capsys.readouterr()


def test_a_profile_is_drawn_and_stored(capsys, counting, recorded):
    counting(PROFILE)
    code, out, error = call(capsys, "profile tiled --tile 8 --size 64 --engine cpp")
    assert (code, error) == (0, "")
    assert "Tiled in shared memory, CUDA C++, tile 8, 64×2048×2048" in out
    assert "the other warps, at a barrier" in out and "75 %" in out
    assert "occupancy: 50 % fits, 50 % achieved; 32 registers per thread" in out
    assert "Counted on NVIDIA Test 1" in out and "not counted" not in out
    file = recorded / "profiles" / "tiled-cpp-tile8-64.json"
    stored = json.loads(file.read_text())
    assert stored["provenance"]["gpu"] == "NVIDIA Test 1"
    assert stored["profile"]["stalls"]["barrier"] == 3.0


@pytest.mark.parametrize(
    "error, told",
    [
        ("this machine does not let users read GPU counters (ERR_NVGPUCTRPERM)", "counters (ERR"),
        ("tiled (numba) could not be counted: CUDADriverError: invalid argument", "invalid arg"),
        ("ncu was not done after 600 s: use less", "not done after 600 s"),
    ],
)
def test_where_counting_fails_the_record_is_shown(capsys, counting, error, told):
    counting(ncu.ProfilerError(error))
    code, out, _ = call(capsys, "profile tiled")
    assert code == 0
    first = out.splitlines()[0]
    assert first.startswith("Nothing is counted here: ") and told in first
    assert "Recorded on H200, synthetic" in out


@pytest.mark.parametrize(
    "gpu, tool, told",
    [
        (False, "ncu", "no GPU, "),
        (True, None, "ncu (Nsight Compute) is not on PATH"),
    ],
)
def test_what_is_missing_is_said_in_one_line(capsys, recorded, monkeypatch, gpu, tool, told):
    monkeypatch.setattr(report, "on_gpu", gpu)
    monkeypatch.setattr(ncu.shutil, "which", lambda name: tool)
    code, out, _ = call(capsys, "profile tiled --engine cpp --tile 8")
    assert code == 0
    assert out.startswith(f"Nothing is counted here: {told}")
    assert "Tiled in shared memory, CUDA C++, tile 8, 2048×2048×2048" in out


def test_the_nearest_record_is_shown(recorded):
    record = records.load("h200")

    def found(engine, tile, size):
        job = profiler.Job("tiled", engine, {"tile": tile}, size, size, size)
        row = report.nearest(record, job)
        return row.engine, row.options["tile"], row.M

    assert found("cpp", 8, 256) == ("cpp", 8, 256)
    assert found("cpp", 8, 4096) == ("cpp", 8, 2048), "else the largest"
    assert found("numba", 32, 256)[::2] == ("numba", 256), "else other options"


def test_a_rung_without_a_record_is_one_line(capsys, recorded, monkeypatch):
    monkeypatch.setattr(report, "unable", lambda rung: "no GPU")
    code, _, error = call(capsys, "profile naive")
    assert (code, error.count("\n")) == (2, 1)
    assert "nothing is counted here (no GPU), and no profile of naive is recorded" in error
    assert "recorded are tiled" in error


@pytest.mark.parametrize(
    "line, told",
    [
        ("profile tiled --tile 64", "tile 64 needs 4096 threads per block"),
        ("profile tiled --size 0", "size must be at least 1, got 0"),
        ("profile tiled --engine rust", "'rust' is not one of 'numba', 'cpp'"),
        ("profile naive --tile 8", "naive has no option 'tile'"),
        ("profile tiled --json /dev/null/x.json", "cannot write to the folder /dev/null"),
        ("profile", "Missing argument 'RUNG'"),
    ],
)
def test_bad_input_is_one_line(capsys, recorded, line, told):
    code, _, error = call(capsys, line)
    assert code == 2 and error.count("\n") == 1
    assert told in error


def test_a_recorded_report_can_be_stored(capsys, recorded, monkeypatch):
    monkeypatch.setattr(report, "unable", lambda rung: "no GPU")
    file = recorded / "mine.json"
    code, out, _ = call(capsys, f"profile tiled --json {file}")
    assert code == 0 and "what is recorded is written to" in out
    stored = json.loads(file.read_text())
    assert stored["provenance"]["gpu"].startswith("H200, synthetic")
    assert stored["profile"]["date"] == synthetic.DATE


def test_the_profilers_own_report_is_written_as_it_is(counting, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(profiler, "report", lambda job: f"\n== {job} ==\n  Duration  us  1.00\n")
    file = tmp_path / "tiled.txt"
    assert call(capsys, f"profile tiled --engine cpp --report {file}")[0] == 0
    first, _, *rest = file.read_text(encoding="utf-8").splitlines()
    assert first.endswith("2048×2048×2048, NVIDIA Test 1, driver 1.0, 2001-01-01 00:00 UTC")
    assert rest[-1] == "  Duration  us  1.00"


def test_without_a_gpu_no_report_is_written(recorded, capsys, tmp_path):
    if on_gpu:
        pytest.skip("there is one")
    code, out, err = call(capsys, f"profile tiled --report {tmp_path / 'tiled.txt'}")
    assert code == 2 and "no report without a GPU's counters" in err
    assert not (tmp_path / "tiled.txt").exists()


def test_text_and_counters_are_not_written_at_once(capsys, tmp_path):
    code, _, err = call(capsys, f"profile tiled --report {tmp_path / 'a'} --json {tmp_path / 'b'}")
    assert code == 2 and "give one of them" in err
