"""The CUDA C++ program: it builds for every generation without a GPU, and refuses bad arguments.

It needs nvcc. Where there is a GPU, too, its products are checked and its failures provoked.
"""

import re
import shutil
import subprocess

import pytest

from kernels.basics.files import ROOT

PROGRAM = ROOT / "kernels" / "program"
GENERATIONS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90")
RIGHT, WRONG, UNUSABLE, FAILED = range(4)

pytestmark = pytest.mark.skipif(not shutil.which("nvcc"), reason="nvcc is not on PATH")


def build(folder, *more):
    """Compile the program with warnings as errors; return its path."""
    path = folder / "matmul"
    subprocess.run(
        ["nvcc", "-std=c++17", "-O1", "-Xcompiler=-Wall,-Wextra,-Werror", "-Werror=all-warnings",
         *more, PROGRAM / "matmul.cu", "-o", path],
        check=True,
    )  # fmt: skip
    return path


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    codes = [f"-gencode=arch=compute_{name[3:]},code={name}" for name in GENERATIONS]
    return build(tmp_path_factory.mktemp("program"), *codes)


def run(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    "words, said",
    [
        (["0"], "M is '0', not a whole number from 1"),
        (["64", "-3"], "N is '-3'"),
        (["64", "64", "1e3"], "K is '1e3'"),
        (["99999999999"], "M is '99999999999'"),
        (["1", "2", "3", "4"], "'4' is a fourth size"),
        (["--tile", "12"], "--tile is 12, and must be 8, 16 or 32"),
        (["--tile"], "--tile needs a value"),
        (["--repeats", "0"], "--repeats is '0'"),
        (["--seed", "-1"], "--seed is '-1'"),
        (["--size", "3"], "there is no option --size"),
        (["--tile", "8", "1000000"], "M up to 524280"),
    ],
)
def test_arguments_it_cannot_use_are_refused_in_one_line(program, words, said):
    done = run(program, *words)
    assert done.returncode == UNUSABLE
    assert said in done.stderr and done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_it_says_what_it_takes(program):
    done = run(program, "--help")
    assert done.returncode == RIGHT
    assert "--tile 8|16|32" in done.stdout and "Exit codes" in done.stdout


def test_without_a_gpu_it_names_the_call_that_failed(program):
    done = subprocess.run(
        [program], capture_output=True, text=True, env={"CUDA_VISIBLE_DEVICES": ""}
    )
    assert done.returncode == FAILED
    assert re.fullmatch(r"matmul: cudaError\w+: .+ \(matmul\.cu:\d+\)\n", done.stderr)


def test_make_says_which_tool_is_missing(tmp_path):
    for tool in ("make", "sh", "cmake"):
        (tmp_path / tool).symlink_to(shutil.which(tool) or shutil.which("true"))
    done = subprocess.run(
        [shutil.which("make"), "cuda"], cwd=ROOT, env={"PATH": str(tmp_path)},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode
    assert "make cuda needs nvcc, which isn't on PATH" in done.stderr


def test_cmake_builds_it(tmp_path):
    if not shutil.which("cmake"):
        pytest.skip("cmake is not on PATH")
    subprocess.run(
        ["cmake", "-S", PROGRAM, "-B", tmp_path, "-DCMAKE_CUDA_ARCHITECTURES=75"],
        check=True, capture_output=True,
    )  # fmt: skip
    subprocess.run(["cmake", "--build", tmp_path], check=True, capture_output=True)
    assert run(tmp_path / "matmul", "--help").returncode == RIGHT


@pytest.fixture(scope="module")
def beside_the_library(tmp_path_factory):
    """The program built with cuBLAS for the GPU at hand."""
    return build(tmp_path_factory.mktemp("library"), "-arch=native", "-DWITH_CUBLAS", "-lcublas")


@pytest.mark.gpu
@pytest.mark.parametrize("tile", (8, 16, 32))
@pytest.mark.parametrize("sizes", [(1, 1, 1), (33, 65, 17), (200, 136, 168), (1000, 31, 2000)])
def test_products_are_right(beside_the_library, tile, sizes):
    done = run(beside_the_library, "--tile", str(tile), "--repeats", "1", *map(str, sizes))
    assert done.returncode == RIGHT, done.stdout + done.stderr
    assert "C is right" in done.stdout and "differ from cuBLAS" in done.stdout


@pytest.mark.gpu
def test_matrices_that_do_not_fit_are_refused(beside_the_library):
    done = run(beside_the_library, "400000")
    assert done.returncode == UNUSABLE
    assert "MB are free" in done.stderr


@pytest.mark.gpu
def test_a_wrong_kernel_is_noticed(tmp_path):
    """The program's own check: a kernel that is wrong ends it with 1."""
    copy = tmp_path / "kernels"
    shutil.copytree(PROGRAM, copy / "program")
    (copy / "rungs").mkdir()
    text = (PROGRAM.parent / "rungs" / "tiled.cu").read_text(encoding="utf-8")
    wrong = text.replace("acc += sA[ty][k] * sB[k][tx]", "acc += sA[ty][k] * sB[tx][k]")
    assert wrong != text
    (copy / "rungs" / "tiled.cu").write_text(wrong, encoding="utf-8")
    subprocess.run(
        [
            "nvcc",
            "-std=c++17",
            "-arch=native",
            copy / "program" / "matmul.cu",
            "-o",
            copy / "matmul",
        ],
        check=True,
    )
    done = run(copy / "matmul", "256")
    assert done.returncode == WRONG
    assert "C is WRONG" in done.stdout
