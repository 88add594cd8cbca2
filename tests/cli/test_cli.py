"""The command line: what it prints, and one line for every bad input."""

import json
import os
import subprocess
import sys

import pytest

from kernels import cli, records
from kernels.backend import on_gpu
from kernels.basics import data_sheets
from kernels.basics.files import ROOT
from kernels.budget import limits
from kernels.cli import recording
from kernels.host import half
from kernels.measure.anywhere import trace_rung
from kernels.measure.bench import ladder, plan, run, short
from kernels.rungs.order import LADDER
from tests.records import synthetic

pytestmark = pytest.mark.usefixtures("recorded")
without_gpu = pytest.mark.skipif(on_gpu, reason="there is a GPU")


def call(capsys, line):
    code = cli.main(line.split())
    return code, *capsys.readouterr()


@pytest.mark.parametrize(
    "line, told",
    [
        ("run tiled 64 --tile 64", "tile 64 needs 4096 threads per block; this GPU allows 1024"),
        ("run tiled 64 --tile 0", "tile must be at least 1, got 0: use 8, 16 or 32"),
        ("run tiled 64 --tile x", "tile 'x' is not a whole number: use 8, 16 or 32"),
        ("run tiled 0", "size must be at least 1, got 0: use a whole number"),
        ("run tiled -5", "size -5 is negative: use a whole number of at least 1"),
        ("run tiled 8 -k -5", "size must be at least 1, got -5: use a whole number"),
        ("run tiled many", "size 'many' is not a whole number: use a whole number of at least 1"),
        ("run tiled 1.5", "size '1.5' is not a whole number: use a whole number of at least 1"),
        ("run tiled 64 65", "extra argument (65): see `python -m kernels run --help`"),
        ("run", "Missing argument 'RUNG': see `python -m kernels run --help`"),
        ("run tiled", "give SIZE, or all of -m, -n and -k"),
        ("run tiled -m 3 -n 4", "give SIZE, or all of -m, -n and -k"),
        ("run tield 64", "no rung 'tield': did you mean 'tiled'? There are swapped, naive"),
        ("run qqq 64", "no rung 'qqq': There are swapped, naive"),
        ("run naive 64 --tile 8", "naive has no option 'tile': it takes block=8|16|32"),
        ("run tiled 64 --engine rust", "'rust' is not one of 'numba', 'cpp'"),
        ("run tiled 64 --ttile 8", "No such option '--ttile'. Did you mean '--tile'?"),
        ("trace tiled none", "size 'none' is not a whole number"),
        ("trace tiled 100000", "size 100000 is too large to trace: use 4096 or less"),
        ("compare --sizes 64,,100", "size '' is not a whole number"),
        ("run summa 64", "summa is for several GPUs: add --gpus, such as --gpus 2"),
        ("run tiled 64 --pieces 2", "--pieces is for several GPUs: add --gpus"),
        ("run tiled 64 --gpus 2", "no algorithm 'tiled': there are replicated, rows, ring"),
        ("run rows 64 --gpus 2x2", "rows puts GPUs in one row, not 2x2: use 4, or summa"),
        ("run rows 1 --gpus 2", "M = 1 is too small for 2 parts: use fewer GPUs"),
        ("run rows 64 --gpus two", "'two' is no number of GPUs: use a number such as 4, or 2x2"),
        ("run rows 64 --gpus 2 --local x", "nothing multiplies as 'x': use cublas, swapped"),
        ("run rows 64 --gpus 2 --local mma", "mma takes float16 and bfloat16, not float32"),
        ("run rows 64 --gpus 2 --local tiled", "--local tiled needs a process for each GPU"),
        ("compare --gpus 0", "'0' is no number of GPUs"),
        ("compare --gpus 2 --dtype e4m3", "--dtype e4m3 is for one GPU: leave out --gpus"),
        ("compare --dtype int8", "'int8' is not one of 'float32', 'float16'"),
        ("compare --sizes 64,-3", "size must be at least 1, got -3: use a whole number"),
        ("compare --sizes 33 --json /dev/null/x.json", "cannot write to the folder /dev/null"),
        ("bench --short --gpus 2", "--short measures one GPU: leave out --gpus"),
        pytest.param("bench --short", "recording needs an NVIDIA GPU", marks=without_gpu),
        ("dance", "Did you mean 'trace'?: see `python -m kernels --help`"),
        pytest.param("run tiled 64 --engine cpp", "engine 'cpp' needs an NVIDIA GPU",
                     marks=without_gpu),
        pytest.param("bench", "recording needs an NVIDIA GPU", marks=without_gpu),
        pytest.param("compare --sizes 3000", "size 3000 is too large for the CPU interpreter to "
                     "count, and not one of 1024, 2048, 4096, 8192, recorded: use 192 or less",
                     marks=without_gpu),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(capsys, line, told):
    code, _, error = call(capsys, line)
    assert code == 2
    assert error.startswith("error: ") and error.count("\n") == 1
    assert told in error


def test_no_traceback_reaches_the_shell():
    done = subprocess.run(
        [sys.executable, "-m", "kernels", "run", "tiled", "33", "--tile", "64"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize("line", ["--debug info", "info --debug"])
def test_a_defect_says_that_it_is_one_and_shows_where_on_request(capsys, monkeypatch, line):
    monkeypatch.setattr(cli.app.cli.commands["info"], "callback", lambda: {}["no such key"])
    code, _, error = call(capsys, "info")
    assert (code, error) == (
        1, "error: KeyError: 'no such key' (a defect of the course: "
        "`python -m kernels --debug ...` shows where)\n",
    )  # fmt: skip
    code, _, error = call(capsys, line)
    assert code == 1 and error.startswith("Traceback") and '{}["no such key"]' in error


@pytest.mark.parametrize("line", ["pages --debug --nothing", "--debug pages --nothing"])
def test_what_authors_do_is_a_program_of_its_own(capfd, line):
    """It gets the line as it is, --debug included; its exit code is the command's."""
    assert call(capfd, "pages --nothing") == (
        2, "", "error: No such option '--nothing': see `python -m kernels pages --help`\n",
    )  # fmt: skip
    code, _, error = call(capfd, line)
    assert code == 2 and "No such option '--nothing'" in error


def test_a_foreseen_error_shows_where_on_request_too(capsys):
    code, _, error = call(capsys, "run tiled 0 --debug")
    *trace, last = error.splitlines()
    assert code == 2 and trace[0].startswith("Traceback") and last.startswith("error: size must be")


@pytest.mark.parametrize("backend", ["banana", pytest.param("gpu", marks=without_gpu)])
def test_a_backend_that_is_not_there_is_one_line(backend):
    done = subprocess.run(
        [sys.executable, "-m", "kernels", "info"], cwd=ROOT, capture_output=True, text=True,
        env={**os.environ, "KERNELS_BACKEND": backend},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("error: KERNELS_BACKEND=")


@pytest.mark.parametrize("line", ["--help", ""])
def test_help_is_no_error(capsys, line):
    code, out, error = call(capsys, line)
    assert (code, error) == (0, "")
    assert all(name in out for name in ("info", "run", "compare", "trace", "bench", "record"))


def test_info_names_device_versions_and_records(capsys):
    code, out, _ = call(capsys, "info")
    assert code == 0
    assert "numpy" in out and "1024 threads" in out
    assert out.rstrip().endswith("recorded  h200")


@without_gpu
def test_run_on_the_cpu_checks_and_shows_the_record(capsys):
    code, out, _ = call(capsys, "run tiled -m 33 -n 17 -k 5 --tile 8")
    assert code == 0
    assert "A 33×5, B 5×17, C 33×17: 5,610 FLOP" in out
    assert "grid (3, 5), block (8, 8): 64 threads per block" in out
    assert "512 bytes per block" in out
    assert "no GPU: " in out and "CPU interpreter's time" in out
    assert "right: all 33 × 17 elements" in out
    assert "at 8192³, 8.0 % of cuBLAS. Recorded on H200, synthetic" in out


@without_gpu
def test_a_size_beyond_the_interpreter_is_not_run(capsys):
    code, out, _ = call(capsys, "run tiled 4096 --tile 32")
    assert code == 0
    assert "not run: the CPU interpreter takes minutes at this size" in out
    assert "640 GFLOP/s at 4096³, 16 % of cuBLAS." in out


def test_trace_counts_requests(capsys):
    code, out, _ = call(capsys, "trace tiled 32 --tile 16")
    assert code == 0
    assert "load A[row, k0 + tx]" in out and "No problem found." in out


@without_gpu
def test_trace_takes_kernels_on_tensor_cores(capsys):
    code, out, _ = call(capsys, "trace wgmma 64")
    assert code == 0
    assert "tensor bfloat16" in out and "No problem found." in out


@without_gpu
def test_trace_counts_the_kernel_that_matmul_runs(capsys):
    code, out, _ = call(capsys, "trace vectorized 64")
    seen = trace_rung(LADDER["vectorized"], 64, 64, 64)
    assert code == 0 and f"load {seen.sites[0].expr}" in out
    assert out == str(seen.table()) + "\n"


def test_trace_of_a_large_size_is_one_block(capsys):
    code, out, _ = call(capsys, "trace naive 256")
    assert code == 0
    assert "Block (0, 0) alone: sizes up to 192 are traced whole." in out


@without_gpu
def test_compare_on_the_cpu_counts_and_writes_json(capsys, tmp_path):
    file = tmp_path / "ladder.json"
    code, out, _ = call(capsys, f"compare --sizes 33,40 --json {file}")
    assert code == 0
    written = json.loads(file.read_text(encoding="utf-8"))
    assert written["provenance"]["gpu"] is None
    rows = {(row["rung"], row["M"]): row for row in written["timings"]}
    rungs = [name for name, rung in LADDER.items() if rung.in_microscope]
    assert rows.keys() == {(name, size) for name in rungs for size in (33, 40)}
    assert all(row["correct"] for row in rows.values())
    assert "nothing is measured here" in out
    # The tiled kernel (T = 16) asks 16 times less often, whole tiles at the edges included.
    assert rows["naive", 40]["requests"] > 8 * rows["tiled", 40]["requests"]


def test_the_short_benchmark_compares_and_offers_a_file(capsys, tmp_path, monkeypatch):
    """A T4, 20 times as slow as the recorded H200 in every rung; its L1 has half the width."""
    monkeypatch.delenv("KERNELS_RECORDS")
    measured = records.load("h200")

    def timings(rung):
        rows = []
        for engine in rung.engines:
            found = measured.rows(
                "timings", rung=rung.name, engine=engine, options=rung.default(engine), M=2048,
                dtype=rung.dtypes[0],
            )  # fmt: skip
            rows += [{**row, "seconds": synthetic.spread(20 * row.median), "clock": 1.5e9}
                     for row in found]  # fmt: skip
        return {"timings": rows}

    about = {"gpu": "Tesla T4", "date": "2031-01-01 00:00 UTC"}
    for name, value in (("provenance", lambda: about), ("device_facts", dict)):
        monkeypatch.setattr(recording, name, value)
    monkeypatch.setattr(short, "timings", timings)
    shared = {"level": "shared", "bytes_per_second": 3.7e12, "seconds": synthetic.spread(1.0)}
    monkeypatch.setattr(short.levels, "levels", lambda: [shared])
    monkeypatch.setattr(run, "KEPT", tmp_path / "bench.json")
    monkeypatch.chdir(tmp_path)
    code, out, _ = call(capsys, "bench --short --only 2048")
    assert code == 0 and "Tesla T4 | H200 SXM: 2048³" in out and "template=4-record.yml" in out
    assert "t4-short.json" in out and not (tmp_path / "bench-short.json").exists()
    naive = next(line for line in out.splitlines() if line.startswith("Naive  ") and "C++" in line)
    row = records.read(tmp_path / "t4-short.json").row(
        "timings", rung="naive", engine="cpp", M=2048
    )
    cycles = row.median * 1.5e9 * 40 / (2048**3 / 32)
    assert f"{cycles:.3g} | 2.6 " in naive and f"{100 * 2 / cycles:.0f} % | 77 %" in naive
    code, out, _ = call(capsys, "bench --short")
    found = records.read(tmp_path / "t4-short.json")
    assert limits.wavefront_rate(data_sheets.gpu("t4"), found.row("levels").bytes_per_second) == 0.5
    naive = next(line for line in out.splitlines() if line.startswith("Naive  ") and "C++" in line)
    assert f"{100 * 4 / cycles:.0f} % | 77 %" in naive, "an SM of it delivers half as many"


def test_a_part_of_the_benchmark_is_measured_into_the_record(capsys, tmp_path, monkeypatch):
    def rows(M, N, K, worth, dtype):
        found = {"gflops": 7.0, "cublas_gflops": 14.0, "seconds": synthetic.spread(1.0)}
        what = {"rung": "cutile", "engine": "library", "options": {}, "dtype": dtype}
        return {"timings": [{**what, "M": M, "N": N, "K": K, **found}]}

    about = {"gpu": "NVIDIA H200", "date": "2031-01-01 00:00 UTC"}
    for name, value in (("provenance", lambda: about), ("device_facts", dict)):
        monkeypatch.setattr(recording, name, value)
    monkeypatch.setattr(plan, "MODULES", (ladder,))
    monkeypatch.setattr(ladder, "timings", rows)
    monkeypatch.setattr(run, "KEPT", tmp_path / "bench.json")
    run.KEPT.write_text("an interrupted run of all steps")
    assert cli.main(["bench", "--only", "ladder 4096", "--folder", str(tmp_path)]) == 0
    assert "recorded in" in capsys.readouterr().out
    new = records.read(tmp_path / "h200.json").rows("timings", rung="cutile")
    assert {(row.M, row.dtype) for row in new} == {
        (4096, dtype) for dtype in ("float32", "float16", "bfloat16", half.PARTS, half.E4M3)
    }
    assert run.KEPT.exists() and not (tmp_path / "bench-part.json").exists()
    assert call(capsys, "bench --only chess")[2] == (
        "error: no step of the benchmark has 'chess' in its name:"
        " there are ladder 1024³, ladder 2048³, ladder 4096³, …\n"
    )


@without_gpu
def test_compare_on_the_cpu_shows_what_is_recorded_of_large_sizes(capsys, tmp_path):
    file = tmp_path / "ladder.json"
    code, out, _ = call(capsys, f"compare --sizes 2048,4096 --json {file}")
    assert code == 0
    assert "recorded GFLOP/s" in out and "640 (16 %)" in out
    assert "Recorded on H200, synthetic" in out
    written = json.loads(file.read_text(encoding="utf-8"))
    assert written["timings"] == []
    assert {row["M"] for row in written["recorded"]["timings"]} == {2048, 4096}


@pytest.mark.gpu
def test_run_on_the_gpu_prints_speed_and_verdict(capsys):
    for engine in ("numba", "cpp"):
        code, out, _ = call(capsys, f"run tiled -m 300 -n 200 -k 100 --tile 32 --engine {engine}")
        assert code == 0
        assert "8,192 bytes per block" in out and "of cuBLAS" in out
        assert "right: all 300 × 200 elements" in out


@pytest.mark.gpu
def test_matrices_beyond_the_memory_are_one_line(capsys):
    code, _, error = call(capsys, "run tiled 400000")
    assert code == 2
    assert "the arrays need 1920.00 GB; this GPU has" in error


@pytest.mark.gpu
def test_compare_on_the_gpu(capsys, tmp_path):
    file = tmp_path / "ladder.json"
    code, out, _ = call(capsys, f"compare --sizes 256 --json {file}")
    assert code == 0 and "WRONG" not in out
    rows = json.loads(file.read_text(encoding="utf-8"))["timings"]
    assert rows[0]["rung"] == "cublas" and all(row["correct"] for row in rows)


@without_gpu
@pytest.mark.parametrize("line", ["run summa 96 --gpus 2x2", "run rows 70 --gpus 3 --pieces 2"])
def test_without_gpus_a_product_on_several_is_simulated(capsys, line):
    code, told, _ = call(capsys, line)
    assert code == 0
    assert "simulated  no GPU" in told
    assert "right: all" in told


@without_gpu
def test_algorithms_are_compared_by_what_they_move(capsys):
    code, told, _ = call(capsys, "compare --gpus 2")
    assert code == 0
    assert "nothing is measured here" in told
    assert "537 MB" in told


@without_gpu
def test_a_record_of_several_gpus_needs_them(capsys):
    code, _, told = call(capsys, "bench --gpus 2")
    assert code == 2
    assert "2x1 needs 2 GPUs, and this machine has none" in told
