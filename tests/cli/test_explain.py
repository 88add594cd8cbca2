"""``explain``: the budget on the command line, and one line for every bad input."""

from dataclasses import replace

import pytest

from kernels import cli
from kernels.backend import on_gpu
from kernels.basics import data_sheets
from kernels.budget import calibrate, here, product, versions
from kernels.rungs.order import LADDER

KERNEL = """
from kernels import cuda, float32

@cuda.jit
def mine(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc

@cuda.jit
def copy(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = A[row, 0]
"""
recorded = pytest.mark.skipif(on_gpu, reason="the words are of the recorded H200")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "my_kernel.py"
    path.write_text(KERNEL)
    return path


def call(capsys, *arguments):
    code = cli.main(["explain", *arguments])
    return code, *capsys.readouterr()


@recorded
def test_a_rung(capsys):
    code, out, _ = call(capsys, "naive", "--engine", "cpp")
    assert code == 0
    assert out.startswith("Naive, CUDA C++ block=32, 2048×2048×2048, H200 SXM\n")
    assert "  L1 and shared memory  2 wavefronts" in out
    assert "77 % explained" in out and "It has its highest ceiling in L1 and shared memory" in out
    assert "Predicted: 2." in out and "Recorded: 2." in out


@recorded
def test_sizes_with_blanks_and_crosses(capsys):
    _, blanks, _ = call(capsys, "tiled", "--size", "128", "8192", "4096")
    _, crosses, _ = call(capsys, "tiled", "--size", "128x8192x4096")
    assert blanks == crosses and "128×8192×4096" in blanks and "Recorded" not in blanks


def test_a_record_by_its_own_profiles_and_by_anothers(capsys):
    code, out, _ = call(capsys, "--record", "h100-80gb-hbm3")
    first, heads, *lines = out.splitlines()
    assert code == 0 and first == "Predicted beside recorded on the h100-80gb-hbm3"
    assert heads.split()[:3] == ["times", "within", "20"]
    told = {line.split()[0]: int(line.split()[1]) for line in lines}
    assert told["all"] == sum(told.values()) - told["all"] >= 370
    _, other, _ = call(capsys, "--record", "h100-80gb-hbm3", "--counts", "h200")
    assert "by the profiles of the h200 alone" in other and other.splitlines()[2:] != lines


@pytest.mark.parametrize(
    "arguments, told",
    [
        ((), "name a rung or FILE.py:KERNEL"),
        (("tiled", "--record", "h200"), "--record GPU stands alone"),
        (("--counts", "h200"), "--record GPU stands alone"),
        (("--record", "t4"), "no record of GPU 't4'"),
    ],
)
def test_a_record_stands_alone(capsys, arguments, told):
    code, _, err = call(capsys, *arguments)
    assert code and told in err and err.count("\n") == 1


@recorded
def test_options_that_nobody_profiled(capsys):
    _, out, _ = call(capsys, "swapped", "--block", "8")
    assert "Counts: profile of other options." in out and "  9 wavefronts" in out


@recorded
def test_a_kernel_of_the_reader(capsys, file):
    code, out, _ = call(capsys, f"{file}:mine", "--size", "64", "64", "128")
    assert code == 0 and out.startswith("mine, 64×64×128")
    assert "3.02 wavefronts" in out  # two rows of A and one of B, and C once
    assert "traced, one block of 16×16×1." in out and "At best" in out


@pytest.mark.parametrize(
    "line, told",
    [
        ("tield", "no rung 'tield': did you mean 'tiled'?"),
        ("tiled --size 0", "size must be at least 1, got 0"),
        ("tiled --size 3 4", "size '3x4' has 2 parts: use N or MxNxK"),
        ("tiled --block 8", "tiled has no option 'block': it takes tile=8|16|32"),
        ("tiled --tile 64", "tile 64 needs 4096 threads per block"),
        ("tiled --grid 4,4", "--grid is for a kernel in a file"),
        ("FILE", "names no kernel: use FILE.py:KERNEL"),
        ("FILE:mnie", "no kernel 'mnie' in"),
        ("FILE:copy --size 32", "copy did no float32 multiply-add"),
        ("FILE:mine --size 9999", "size 9999 is too large to trace: use 4096 or less"),
        ("FILE:mine --tile 8", "a kernel in a file has no --engine and no options of a rung"),
        ("tiled.py:tiled", "no file 'tiled.py': did you mean the rung tiled?"),
    ],
)
def test_bad_input_is_one_line(capsys, file, line, told):
    code, out, error = call(capsys, *line.replace("FILE", str(file)).split())
    assert (code, out) == (2, "")
    assert error.startswith("error: ") and told in error and error.count("\n") == 1


def test_a_language_that_a_rung_is_not_written_in(capsys, monkeypatch):
    monkeypatch.setitem(LADDER, "naive", replace(LADDER["naive"], make=None, engines=("cpp",)))
    code, _, error = call(capsys, "naive", "--engine", "numba")
    assert (code, error) == (2, "error: naive is not written in numba: use cpp\n")


def test_a_file_that_does_not_run(capsys, tmp_path):
    path = tmp_path / "broken.py"
    path.write_text("import nothing_of_this_name")
    code, _, error = call(capsys, f"{path}:mine")
    assert code == 2 and "broken.py does not run: ModuleNotFoundError" in error


def test_a_calibration_of_half_a_file_or_another_gpu(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNELS_TUNED", str(tmp_path))
    assert here.calibrated("NVIDIA Q1") is None
    found = here.Measured("NVIDIA Q1", 4e-6, 800.0, 1e12, {"date": "today"})
    file = here.write(found)
    assert file.parent == tmp_path and here.calibrated("NVIDIA Q1") == found
    file.write_text(file.read_text().replace("NVIDIA Q1", "NVIDIA Q2"))
    with pytest.raises(here.CalibrationError, match="is of a NVIDIA Q2, this is a NVIDIA Q1"):
        here.calibrated("NVIDIA Q1")
    file.write_text("{")
    with pytest.raises(here.CalibrationError, match="holds no calibration"):
        here.calibrated("NVIDIA Q1")


@pytest.mark.skipif(on_gpu, reason="there is a GPU to calibrate")
def test_calibrating_needs_a_gpu(capsys):
    assert cli.main(["calibrate"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: calibrating needs an NVIDIA GPU") and error.count("\n") == 1
    with pytest.raises(RuntimeError, match="needs an NVIDIA GPU"):
        calibrate.calibrate({})


def test_a_calibration_takes_its_three_numbers_from_the_probes(monkeypatch):
    class Here:
        name, l2_bytes = "NVIDIA Q1", 3 * 2**20

    rings = [
        {"space": "shared", "bytes": 16384, "cycles": 23.0},
        *({"space": "global", "bytes": 2**n, "cycles": 10.0 * n} for n in (12, 20, 21, 29)),
    ]
    seconds = {"cold": 5e-6, "warm": 4e-6}
    monkeypatch.setattr(calibrate, "on_gpu", True)
    monkeypatch.setattr(calibrate, "device", lambda: Here)
    monkeypatch.setattr(calibrate.probes, "latency", lambda most: rings)
    monkeypatch.setattr(calibrate.probes, "copy_bandwidth", lambda n: {"bytes_per_second": 2e11})
    monkeypatch.setattr(
        calibrate.vectors, "vector_row",
        lambda engine, n, block, cache: {"seconds": {"median": seconds[cache]}},
    )  # fmt: skip
    found = calibrate.calibrate({"date": "today"})
    # A ring of 1 MiB lies in a third of L2, one of 2 MiB does not; the largest is beyond it.
    assert (found.launch, found.latency, found.bandwidth) == (4e-6, 200 + 290, 2e11)
    assert (found.gpu, found.provenance) == ("NVIDIA Q1", {"date": "today"})


def test_a_gpu_without_a_record_has_its_calibration_and_the_counts_of_another(
    tmp_path, monkeypatch
):
    class Here:
        name, compute_capability, sms, clock = "NVIDIA Q1", (8, 6), 20, 1.5e9
        warp_size, max_threads_per_sm, max_blocks_per_sm = 32, 1536, 16
        registers_per_sm, shared_per_sm = 65536, 102400
        shared_per_block, shared_per_block_optin = 49152, 101376
        l2_bytes, memory_bytes, bandwidth_peak = 3 * 2**20, 8e9, 3e11
        fp32_peak = 2 * 128 * 20 * 1.5e9

    monkeypatch.setenv("KERNELS_TUNED", str(tmp_path))
    monkeypatch.setattr(here, "on_gpu", True)
    monkeypatch.setattr(here, "device", lambda: Here)
    driver = here.setting()
    assert driver.machine.source.startswith("the driver") and driver.machine.gpu.sms == 20
    here.write(here.Measured("NVIDIA Q1", 7e-6, 500.0, 2e11, {}))
    now = here.setting()
    assert (now.machine.launch, now.machine.source) == (7e-6, "calibration of this GPU")
    rung = LADDER["tiled"]
    known = versions.version(
        rung, "numba", {"tile": 16}, now.record, (512, 512, 512), machine_of=now.machine
    )
    assert known.row is None and known.pace.source.startswith("profile on the")
    assert known.resident == 6  # 1536 threads, 256 in a block
    told = product.time(rung.Options(tile=16), known.pace, now.machine, known.resident, (512,) * 3)
    # 20 SMs of the same width at 1.5 GHz: about ten times as long as on the H200.
    assert told.seconds == pytest.approx(10 * 512**3 * 2 / 8e12, rel=0.4)


@recorded
def test_matrices_that_no_memory_holds(capsys):
    code, _, error = call(capsys, "tiled", "--size", "1000000")
    assert (code, error) == (
        2,
        "error: A, B and C of 1000000×1000000×1000000 take 12.0 TB, the H200 SXM has 141 GB: use "
        "smaller sizes\n",
    )


def test_a_kernel_that_takes_something_else(capsys, tmp_path):
    path = tmp_path / "other.py"
    path.write_text(KERNEL.replace("copy(A, B, C)", "copy(A, C)"))
    code, _, error = call(capsys, f"{path}:copy")
    assert code and error == "error: copy takes A, C: explain calls it with A, B and C alone\n"


@recorded
def test_copies_of_rows_are_told(capsys):
    _, out, _ = call(capsys, "persistent", "--size", "4097")
    assert "copies to aligned rows" in out and "561 blocks in 5 rounds" in out
    _, out, _ = call(capsys, "tiled", "--size", "1")
    assert "copies" not in out and " 1 block in 1 round" in out


def test_what_a_gpu_cannot_run_is_refused(capsys, monkeypatch):
    setting = here.setting()
    t4 = replace(setting.machine, gpu=data_sheets.gpu("t4"))
    monkeypatch.setattr(here, "setting", lambda: replace(setting, machine=t4))
    code, _, error = call(capsys, "wgmma")
    assert code and error.startswith("error: wgmma needs sm_90") and error.count("\n") == 1
    code, out, _ = call(capsys, "mma_sm75")
    assert code == 0 and "Tesla T4" in out
