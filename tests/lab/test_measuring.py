"""Without a GPU, a kernel gets a rung's recorded speed only where it loads as that rung does."""

import pytest

from kernels import LADDER, cuda, float32, lab, on_gpu
from kernels.lab.measuring import PageLink
from kernels.measure.oracle import inputs, poisoned
from kernels.rungs.webgpu import ladder

pytestmark = pytest.mark.skipif(on_gpu, reason="on a GPU, the kernel is timed")
M, N, K = 64, 128, 32
ARRAYS = (*inputs(M, N, K), poisoned(M, N))
T = 16


@cuda.jit
def unordered(A, B, C):
    sA = cuda.shared.array((T, T), float32)
    sB = cuda.shared.array((T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for k0 in range(0, A.shape[1], T):
        sA[ty, tx] = A[row, k0 + tx]
        sB[ty, tx] = B[k0 + ty, col]
        cuda.syncthreads()
        for k in range(T):
            acc += sA[ty, k] * sB[k, tx]
    C[row, col] = acc


@cuda.jit
def nothing(A, B, C):
    pass


def said(capsys, kernel, launch, like="tiled", **options):
    race = lab.measure(kernel, *launch, ARRAYS, like=like, **options)
    assert isinstance(race, PageLink)
    return " ".join(capsys.readouterr().out.split())


def launch(tile):
    return (N // tile, M // tile), (tile, tile)


@pytest.mark.parametrize("tile", [8, 16, 32])
def test_a_kernel_that_loads_as_a_rung_gets_its_recorded_speed(capsys, tile):
    speed = lab.records.load().timing("tiled", tile=tile).speed
    told = said(capsys, LADDER["tiled"].kernel(tile=tile), launch(tile), tile=tile)
    assert f"makes {2 / tile:.3g} load requests to global memory and 2 to shared memory" in told
    assert f"Recorded for that: {speed} at 4096³" in told


def test_another_kernel_is_told_apart(capsys):
    told = said(capsys, LADDER["naive"].kernel(), LADDER["naive"].launch(M, N), tile=16)
    assert "makes 2 load requests to global memory and 0 to shared memory" in told
    assert "makes 0.125 and 2. So they're two kernels" in told


@pytest.mark.parametrize(
    "kernel, options, told",
    [
        (nothing, {"tile": 16}, "C is wrong"),
        (unordered, {"tile": 16}, "complaint"),
        (LADDER["tiled"].kernel(tile=16), {"tile": 64}, "no speed of"),
        (LADDER["tiled"].kernel(tile=16), {"tile": 12}, "no speed of"),
    ],
)
def test_what_has_no_speed_says_why(capsys, kernel, options, told):
    assert told in said(capsys, kernel, launch(T), **options)


def test_a_kernel_that_did_not_run_says_why(capsys):
    told = said(capsys, LADDER["tiled"].kernel(tile=16), ((2, 2), (64, 64)), tile=16)
    assert "did not run: a block of 64 × 64 is 4096 threads; the limit is 1024" in told


def test_the_link_names_a_rung_and_a_choice_of_the_page():
    assert {"tile": 16} in ladder.SHADERS["tiled"].choices
    race = PageLink("tiled", {"tile": 16})
    assert race.address.startswith("../your-gpu.html?rung=tiled&tile=16#")
    assert "&amp;tile=16#" in race._repr_html_()
    assert "Tiled in shared memory" in repr(race)
