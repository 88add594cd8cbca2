"""Launches, models and refusals of the rungs on tensor cores; none of it needs a GPU."""

from types import SimpleNamespace

import numpy as np
import pytest

from kernels import LADDER, lab
from kernels.backend import on_gpu
from kernels.backend.device import Device
from kernels.host import cdiv, half, tma
from kernels.measure import oracle
from kernels.rungs import mma

SIZES = (1, 8, 127, 128, 129, 1000, 4097)
#: Options that rungs in Numba run with in the interpreter, beside their defaults.
OTHERS = {
    "mma": (
        {"BN": 128, "WN": 32, "stages": 3},
        {"BM": 64, "BN": 64, "BK": 32, "WM": 32, "WN": 32, "stages": 2},
    ),
    "specialized": ({"BN": 128},),
    "persistent": ({"cluster": 1, "group": 4},),
    "stream_k": ({"BN": 256, "cluster": 2}, {"BN": 256, "cluster": 1}),
}


@pytest.mark.parametrize("M", SIZES)
@pytest.mark.parametrize("N", SIZES)
def test_launches_cover_c(M, N):
    for name, BM, BN, threads in (
        ("mma_sm75", 128, 128, 256),
        ("mma", 128, 256, 256),
        ("wgmma", 128, 128, 128),
        ("specialized", 128, 256, 384),
    ):
        (across, down), block = LADDER[name].launch(M, N)
        assert block == (threads,)
        assert (across - 1) * BN < N <= across * BN and (down - 1) * BM < M <= down * BM


#: (rung, number format, options): the defaults, and others that change the order of things.
IN_NUMBA = [
    (name, dtype, options)
    for name, rung in LADDER.items()
    if "numba" in rung.engines and rung.dtypes[0] == "float16"
    for dtype in rung.dtypes
    for options in ({}, *OTHERS.get(name, ()))
]


@pytest.mark.skipif(on_gpu, reason="is about the interpreter")
@pytest.mark.parametrize("name, dtype, options", IN_NUMBA, ids=str)
def test_without_a_gpu_they_run_in_the_interpreter(name, dtype, options):
    """One element; edges, and rows that are copied; steps of K that come after the first."""
    for M, N, K in ((1, 1, 1), (130, 68, 70)):
        A, B = oracle.inputs(M, N, K, dtype=dtype)
        C = LADDER[name].matmul(A, B, **options)
        lab.check(C, A, B)
        rounded = np.zeros((M, N), A.dtype)
        assert LADDER[name].matmul(A, B, out=rounded, **options) is rounded
        assert np.array_equal(rounded, half.cast(C, dtype))


@pytest.mark.skipif(on_gpu, reason="is about the interpreter")
@pytest.mark.parametrize("name", dict.fromkeys(name for name, *_ in IN_NUMBA))
def test_traces_of_them_are_free_of_problems(name):
    rung = LADDER[name]
    A, B = oracle.inputs(128, 64, 96, dtype=rung.dtypes[-1])
    product, options = rung.operands(A, B, None, "numba"), rung.Options()
    launch, arguments = rung.launch(128, 64), rung.numba_arguments(product, options)
    asked = options.shared_bytes if rung.dynamic_shared else 0
    seen = lab.trace(rung.kernel(), *launch, *arguments, shared_bytes=asked)
    assert not seen.problems, seen.problems
    (C,) = (array for name, array in seen.outputs.items() if name in ("C", "map_C"))
    lab.check(C, A, B)


@pytest.mark.skipif(on_gpu, reason="counts the SMs of an H200")
@pytest.mark.parametrize("cluster", (1, 2))
@pytest.mark.parametrize("n", (1000, 2048, 4096, 8192))
def test_persistent_blocks_need_no_more_rounds_than_all_sms(n, cluster):
    (blocks,), block = LADDER["persistent"].launch(n, n, cluster=cluster)
    assert block == (384,) and blocks % cluster == 0 and 0 < blocks <= 132
    tiles = cdiv(n, 128 * cluster) * cdiv(n, 256)
    rounds = cdiv(tiles, 132 // cluster)
    assert cdiv(tiles, blocks // cluster) == rounds
    assert cdiv(tiles, blocks // cluster - 1) > rounds, "one cluster less would do"


@pytest.mark.skipif(on_gpu, reason="counts the SMs of an H200")
@pytest.mark.parametrize("cluster", (1, 2))
def test_one_tile_is_one_persistent_cluster(cluster):
    assert LADDER["persistent"].launch(1, 1, cluster=cluster) == ((cluster,), (384,))


@pytest.mark.skipif(on_gpu, reason="counts the SMs of an H200")
def test_128_of_132_sms_take_the_tiles_of_8192():
    assert LADDER["persistent"].launch(8192, 8192)[0] == (128,)


def test_a_tensor_map_of_one_row_does_not_ask_how_far_the_next_would_be(monkeypatch):
    row = np.zeros((4, 20), np.float16)[:1, :16]
    assert row.flags.c_contiguous and row.strides[0] == 40
    monkeypatch.setattr(tma, "on_gpu", True)
    monkeypatch.setattr(tma, "encoded", lambda address, shape, apart, *_: np.array(apart))
    array = SimpleNamespace(
        data=SimpleNamespace(ptr=0), shape=row.shape, strides=row.strides, itemsize=row.itemsize
    )
    assert tma.tensor_map(array, 128, 64, "float16").tolist() == [32]


def test_a_tensor_map_of_matrices_says_how_far_the_next_row_and_the_next_matrix_are(monkeypatch):
    asked = []

    def encoded(_, rank, address, *sizes_and_modes):
        asked[:] = rank, address, *([int(n) for n in sizes] for sizes in sizes_and_modes[:3])
        return driver.CUresult.CUDA_SUCCESS, SimpleNamespace(opaque=[0] * 16)

    driver = pytest.importorskip("cuda.bindings.driver")
    monkeypatch.setattr(tma, "on_gpu", True)
    monkeypatch.setattr(driver, "cuTensorMapEncodeTiled", encoded)
    array = SimpleNamespace(
        data=SimpleNamespace(ptr=256), shape=(3, 333, 128), strides=(256 * 333, 256, 2), itemsize=2
    )
    tma.tensor_map(array, 100, 64, "bfloat16")
    assert asked == [3, 256, [128, 333, 3], [256, 256 * 333], [64, 100, 1]]


def test_models_count_what_tiles_load():
    M, N, K = 512, 1024, 256
    for name, down, across in (
        ("mma_sm75", 4, 8),
        ("mma", 4, 4),
        ("wgmma", 4, 8),
        ("specialized", 4, 4),
        ("persistent", 2, 4),
    ):
        predicted = LADDER[name].model(M, N, K)
        assert predicted.flops == 2 * M * N * K
        assert predicted.loads == {"A": M * K * across, "B": K * N * down}
        assert predicted.bytes_requested == 2 * (M * K * across + K * N * down) + 4 * M * N
        assert predicted.bytes_compulsory == 2 * (M * K + K * N) + 4 * M * N


def test_sharing_in_a_cluster_halves_the_loads_of_b():
    model = LADDER["persistent"].model
    alone, shared = (model(512, 512, 512, cluster=c).loads for c in (1, 2))
    assert shared["A"] == alone["A"] and shared["B"] * 2 == alone["B"]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"BM": 0}, "BM must be at least 1, got 0"),
        ({"stages": 2.5}, "stages must be a whole number, got 2.5"),
        ({"WM": 24}, "WM=24 is not a multiple of 16: use 32 or 64"),
        ({"BK": 48}, "the kernel is not written for BK=48: use 32 or 64"),
        ({"BM": 96}, "BM=96 is not a multiple of WM=64"),
        ({"BK": 16}, "the kernel is not written for BK=16: use 32 or 64"),
        ({"BN": 96, "WN": 32}, "BN=96 is not a multiple of 64: use 64, 128 or 256"),
        ({"stages": 1}, "stages=1 leaves no tile to load ahead: use 2 or more"),
        ({"WM": 16, "WN": 16}, "needs 4096 threads; a block of this GPU has 1024"),
        ({"BM": 128, "BN": 128, "WM": 128, "WN": 128}, "needs 664 registers per thread"),
        ({"BM": 64, "BK": 32, "WM": 32, "WN": 32}, "4096 elements at once, of which the 64×32"),
        ({"BM": 192}, "3072 elements at once, of which the 64×256 tile of B is not a multiple"),
    ],
)
def test_options_of_mma_that_cannot_be_are_one_line(options, message):
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        LADDER["mma"].launch(64, 64, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: LADDER["specialized"].launch(64, 64, BN=64), "for BN=64: use 128 or 256"),
        (lambda: LADDER["specialized"].cpp_kernel(BN=512), "for BN=512: use 128 or 256"),
        (lambda: LADDER["persistent"].launch(64, 64, cluster=3), "for cluster=3: use 1 or 2"),
        (lambda: LADDER["persistent"].launch(64, 64, group=0), "group must be at least 1"),
        (lambda: LADDER["persistent"].launch(64, 64, group=33), "group must be at most 32, got 33"),
        (lambda: LADDER["wgmma"].launch(0, 64), "M must be at least 1"),
        (lambda: LADDER["mma_sm75"].model(1, 1, 0), "K must be at least 1"),
    ],
)
def test_bad_options_and_sizes_are_one_line(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_too_much_shared_memory_is_one_line(monkeypatch):
    small = Device("a GPU", (8, 6), sms=82, shared_per_block_optin=99 * 1024)
    monkeypatch.setattr(mma, "device", lambda: small)
    assert LADDER["mma"].launch(64, 64)[1] == (256,)  # the default fits
    assert LADDER["mma"].footprint() == {
        "threads": 256,
        "registers": 216,
        "shared_bytes": 98304,
        "tile": (128, 256, 64),
    }
    with pytest.raises(ValueError, match="needs 147456 bytes of shared memory; .* 101376: use few"):
        LADDER["mma"].launch(64, 64, stages=3)


def test_as_many_stages_as_fit_but_no_more_than_four(monkeypatch):
    for kib, stages in ((99, 2), (163, 3), (227, 4), (1000, 4)):
        gpu = Device("a GPU", (8, 0), sms=1, shared_per_block_optin=kib * 1024)
        monkeypatch.setattr(mma, "device", lambda gpu=gpu: gpu)
        assert mma.Options().depth == mma.Options().macros["STAGES"] == stages
