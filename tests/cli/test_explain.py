"""``explain``: the budget on the command line, and one line for every bad input."""

import pytest

from kernels import cli
from kernels.budget import here
from kernels.engine import on_gpu

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
    assert "  wavefronts of L1 and shared memory  2 wavefronts" in out
    assert "77 % explained" in out and "It waits for L1 and shared memory" in out
    assert "Predicted: 2." in out and "Recorded: 2." in out


@recorded
def test_sizes_with_blanks_and_crosses(capsys):
    _, blanks, _ = call(capsys, "tiled", "--size", "128", "8192", "4096")
    _, crosses, _ = call(capsys, "tiled", "--size", "128x8192x4096")
    assert blanks == crosses and "128×8192×4096" in blanks and "Recorded" not in blanks


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
        ("mma --engine numba", "mma is not written in numba: use cpp"),
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
