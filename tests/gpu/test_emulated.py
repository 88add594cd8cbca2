"""float32 on tensor cores: as exact as plain float32, at the ends of the range, with infinities."""

import numpy as np
import pytest

from kernels import LADDER, cuda, cupy
from kernels.backend import on_gpu
from kernels.host import cpp, half
from kernels.measure import oracle
from kernels.rungs import emulated

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(
        on_gpu and bool(LADDER["emulated"].missing()), reason=LADDER["emulated"].missing()
    ),
]
OPTIONS = [
    {"products": products, "BN": BN} for products in (6, 9) for BN in emulated.Options.stages
]
#: Around the edges of tiles and of rows of 16 bytes, and on either side of the shortest sum.
EDGES = [(1, 1, 1), (1, 300, 31), (300, 1, 32), (128, 192, 64), (129, 193, 65), (127, 127, 33),
         (264, 8, 100), (256, 520, 4096), (1000, 1000, 40)]  # fmt: skip


def matmul(A, B, out=None, **options):
    return LADDER["emulated"].matmul(A, B, out, "cpp", **options)


def worst(C, A, B):
    """The largest error of an element as a share of |A|·|B|.

    By NumPy: CuPy takes numbers below 1.2e-38 for 0 when it converts them.
    """
    A, B, C = (cupy.asnumpy(x).astype(np.float64) for x in (A, B, C))
    return float((abs(C - A @ B) / (abs(A) @ abs(B))).max())


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_products_are_within_the_bound_of_float32(options):
    for seed, (M, N, K) in enumerate(EDGES):
        A, B = (cupy.asarray(x) for x in oracle.inputs(M, N, K, seed))
        C = cupy.asarray(oracle.poisoned(M, N))
        assert matmul(A, B, out=C, **options) is C
        oracle.check(C, A, B)


@pytest.mark.parametrize("products", (6, 9))
@pytest.mark.parametrize("positive", (False, True))
def test_a_long_sum_is_as_exact_as_that_of_plain_float32(products, positive):
    A, B = (cupy.asarray(x) for x in oracle.inputs(512, 512, 8192))
    if positive:
        A, B = abs(A), abs(B)
    plain = LADDER["tiled"].matmul(A, B, engine="cpp")
    assert worst(matmul(A, B, products=products), A, B) < worst(plain, A, B)


@pytest.mark.parametrize("by_col", (0, 1))
def test_the_kernel_writes_the_parts_that_numpy_finds(by_col):
    rng = np.random.default_rng(3)
    bits = rng.integers(0, 2**32, (300, 203), dtype=np.uint64).astype(np.uint32)
    X = bits.view(np.float32)
    X[~np.isfinite(X)] = np.finfo(np.float32).max
    X[7, 11] = np.inf
    odd, parts = cupy.zeros(1 + 300, np.uint8), cupy.full((3, 320, 256), 0xFFFF, np.uint16)
    split = cpp.load("emulated", "split", arch="sm_90a", **emulated.Options().macros)
    numbers = half.int32s(1, 300, 203, 320, 256, 256)
    split((2, 40), (32, 8), (cupy.asarray(X), parts, odd, *numbers, np.int64(320 * 256),
                             np.int32(0), np.int32(by_col)))  # fmt: skip
    X[7, 11] = 0
    expected = np.zeros((3, 320, 256), np.uint16)
    expected[:, :300, :203] = emulated.parts(X)
    assert np.array_equal(cupy.asnumpy(parts), expected)
    assert np.flatnonzero(cupy.asnumpy(odd)).tolist() == [0, 1 + (11 if by_col else 7)]


@pytest.mark.parametrize("products", (6, 9))
def test_infinities_and_nan_are_those_of_plain_float32(products):
    A, B = oracle.inputs(70, 90, 50)
    A[3, 4], A[5, 6], A[9, 7], B[7, 8] = np.inf, np.nan, 0, -np.inf
    with np.errstate(invalid="ignore"):
        right = A.astype(np.float64) @ B.astype(np.float64)
    C = matmul(A, B, products=products)
    assert (
        np.isnan(C[5]).all() and np.isnan(C[9, 8]) and np.isposinf(C[3, 0]) != np.isneginf(C[3, 0])
    )
    assert np.array_equal(np.isnan(C), np.isnan(right))
    infinite = np.isinf(right)
    assert np.array_equal(C[infinite], right[infinite])
    there = np.isfinite(right)
    assert there.sum() > 6000 and np.allclose(C[there], right[there], rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    "products, scale, other", [(6, 1e-30, 1), (6, 1e-37, 1e20), (9, 1e-42, 1e20), (6, 1e36, 1e-3)]
)
def test_tiny_and_huge_numbers_keep_their_digits(products, scale, other):
    A, B = oracle.inputs(100, 130, 256)
    A, B = A * np.float32(scale), B * np.float32(other)
    assert worst(matmul(A, B, products=products), A, B) < 256 * 2.0**-24


def test_the_largest_float32_does_not_become_infinite():
    A = np.full((40, 64), np.finfo(np.float32).max, np.float32)
    B = np.zeros((64, 50), np.float32)
    B[0], B[1] = 1, -0.5
    right = np.full((40, 50), 0.5 * np.finfo(np.float32).max)
    assert np.allclose(matmul(A, B), right, rtol=1e-6)


def test_arrays_of_every_kind_and_stride():
    A, B = oracle.inputs(70, 90, 50)
    C = matmul(A, B)
    assert isinstance(C, np.ndarray) and C.dtype == np.float32
    oracle.check(C, A, B)
    C = matmul(cuda.to_device(A), cuda.to_device(B))
    assert cuda.is_cuda_array(C) and not isinstance(C, cupy.ndarray)
    oracle.check(C, A, B)
    backwards, every_second = A[::-1, ::-1], B[::-1, ::2]
    oracle.check(matmul(backwards, every_second), backwards, every_second)
    wide = cupy.full((71, 97), np.nan, np.float32)
    inside = wide[1:, 3:93]  # starts on no 16-byte boundary
    assert matmul(cupy.asarray(A), cupy.asarray(B), out=inside) is inside
    oracle.check(inside, A, B)
    assert bool(cupy.isnan(wide[0]).all() and cupy.isnan(wide[:, :3]).all())
    assert bool(cupy.isnan(wide[:, 93:]).all()), "something was written beside C"


def test_a_prepared_launch_reads_its_operands_anew_each_time():
    A, B = (cupy.asarray(x) for x in oracle.inputs(200, 264, 72))
    C = cupy.empty((200, 264), np.float32)
    launch = LADDER["emulated"].prepare(A, B, C, "cpp")
    launch()
    oracle.check(C, A, B)
    A[5, 5] = np.inf
    launch()
    assert not bool(cupy.isfinite(C[5]).any())
    A[...] = 2 * B[0, 0]
    launch()
    oracle.check(C, A, B)


def test_what_is_not_float32_is_refused():
    A = np.ones((4, 4), np.float16)
    with pytest.raises(TypeError, match="A holds float16; expected float32"):
        matmul(A, A)
