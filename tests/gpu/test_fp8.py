"""Products of 8-bit numbers on the GPU: exact where they can be, and how far off elsewhere.

What holds for every rung is in test_rungs.py, on whole numbers, which must come out exact.
"""

import numpy as np
import pytest

from kernels import LADDER, cupy
from kernels.backend import on_gpu
from kernels.host import e4m3, half
from kernels.measure import oracle

RUNG = LADDER["fp8"]
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(on_gpu and bool(RUNG.missing()), reason=RUNG.missing()),
]
VERSIONS = [
    {"cluster": cluster, "promote": promote, "stages": stages, "group": group}
    for cluster in (1, 2)
    for promote, stages, group in ((0, 4, 8), (0, 3, 3), (4, 4, 8), (4, 3, 8), (1, 3, 16))
]
#: Around the edges of tiles of 128×256 and 128×192, of rows of 16 bytes, and of pieces of the sum.
EDGES = [(1, 1, 1), (1, 300, 16), (300, 1, 130), (128, 256, 128), (129, 257, 129), (127, 191, 127),
         (256, 192, 512), (257, 193, 513), (264, 520, 4096), (1000, 1000, 1), (517, 389, 8192),
         (2304, 5000, 1040)]  # fmt: skip


def matmul(A, B, out=None, scale=1.0, **options):
    return RUNG.scaled(scale).matmul(A, B, out, "cpp", **options)


def exact(A, B):
    return half.floats(A).astype(np.float64) @ half.floats(B).astype(np.float64)


@pytest.mark.parametrize("options", VERSIONS, ids=str)
@pytest.mark.parametrize("out_dtype", ("float32", "float16", "bfloat16"))
def test_whole_numbers_are_exact_to_the_last_bit(options, out_dtype):
    for seed, (M, N, K) in enumerate(EDGES):
        A, B = oracle.operands(M, N, K, seed, "e4m3")
        C = cupy.asarray(oracle.poisoned(M, N, out_dtype))
        assert matmul(A, B, C, **options) is C
        wanted = half.cast(exact(A, B).astype(np.float32), out_dtype)
        assert int((half.floats(C) != half.floats(wanted)).sum()) == 0, (M, N, K)


@pytest.mark.parametrize("options", VERSIONS, ids=str)
def test_a_large_product_is_the_same_every_time(options):
    A, B = oracle.operands(4096, 2048, 3008, dtype="e4m3")
    wanted = exact(A, B)
    C = cupy.asarray(oracle.poisoned(4096, 2048))
    launch = RUNG.prepare(A, B, C, "cpp", **options)
    for _ in range(10):
        C.fill(np.nan)
        launch()
        assert int((C != wanted).sum()) == 0


def test_sums_are_multiplied_by_the_scale():
    A, B = oracle.operands(130, 70, 80, dtype="e4m3")
    for promote in (0, 4):
        C = matmul(A, B, scale=0.375, promote=promote)
        assert int((C != 0.375 * exact(A, B)).sum()) == 0


def test_a_quantised_product_is_that_of_the_numbers_it_was_made_of():
    rng = np.random.default_rng(5)
    A, B = (
        cupy.asarray(rng.normal(0, 1e-3, s).astype(np.float32)) for s in ((300, 520), (520, 200))
    )
    (codes_A, scale_A), (codes_B, scale_B) = e4m3.quantised(A), e4m3.quantised(B)
    C = matmul(codes_A, codes_B, scale=scale_A * scale_B, promote=4)
    wanted = A.astype(np.float64) @ B.astype(np.float64)
    # Each factor is off by a sixteenth at most, and their errors average out.
    assert float(abs(C - wanted).max()) < 0.3 * float(abs(wanted).std())


def test_promoted_sums_are_more_accurate():
    """Where all products are positive, each loses what is below the last bit of the sum.

    With 14 bits that is less than 1/32 of the numbers from 1/4 to 1 here, while sums are below 512.
    """
    rng = np.random.default_rng(6)
    A, B = (
        e4m3.rounded(cupy.asarray(rng.uniform(0.5, 1, s).astype(np.float32)))
        for s in ((256, 8192), (8192, 256))
    )
    wanted = exact(A, B)
    errors = [
        float((abs(matmul(A, B, promote=promote) - wanted) / wanted).max()) for promote in (0, 4)
    ]
    assert errors[1] < min(0.06, errors[0] / 2)


def test_nan_spreads_along_its_row_and_nowhere_else():
    A, B = oracle.operands(200, 96, 256, dtype="e4m3")
    A[77, 5] = e4m3.NAN
    wrong = cupy.isnan(matmul(A, B))
    assert bool(wrong[77].all()) and int(wrong.sum()) == 96


def test_nothing_is_written_beyond_the_edges():
    A, B = oracle.operands(200, 264, 72, dtype="e4m3")
    around = cupy.full((200 + 256, 264), cupy.nan, cupy.float32)
    C = around[128 : 128 + 200]
    matmul(A, B, C)
    assert int((C != exact(A, B)).sum()) == 0
    assert bool(cupy.isnan(around[:128]).all() and cupy.isnan(around[328:]).all())


def test_arrays_of_the_host_come_back_there():
    A, B = oracle.inputs(70, 90, 50, dtype="e4m3")
    C = matmul(A[::-1], B[:, ::3])
    assert type(C) is np.ndarray and np.array_equal(C, exact(A[::-1], B[:, ::3]))
