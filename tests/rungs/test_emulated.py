"""float32 as three of bfloat16: the parts, the launch and the model, none of it on a GPU."""

import numpy as np
import pytest

from kernels import LADDER, lab
from kernels.backend import on_gpu
from kernels.host import half
from kernels.measure import oracle
from kernels.rungs import emulated

RUNG = LADDER["emulated"]
LARGEST = np.finfo(np.float32).max


def added(parts):
    return sum(half.floats(part).astype(np.float64) / 256**p for p, part in enumerate(parts))


def test_three_parts_are_any_finite_number():
    bits = np.random.default_rng(0).integers(0, 2**32, 500_000, dtype=np.uint64).astype(np.uint32)
    X = bits.view(np.float32)
    X = X[np.isfinite(X)]
    assert (abs(X) < 1.2e-38).any() and (abs(X) > 3e38).any()
    assert np.array_equal(added(emulated.parts(X)), X.astype(np.float64))


@pytest.mark.parametrize(
    "value", [0.0, 1.0, -np.pi, 1e-45, 1.17549e-38, 1e-30, 3.3961e38, LARGEST, -LARGEST]
)
def test_three_parts_are_numbers_at_the_ends_of_the_range(value):
    X = np.array([value], np.float32)
    parts = emulated.parts(X)
    assert all(part.dtype == np.uint16 and np.isfinite(half.floats(part)).all() for part in parts)
    assert added(parts)[0] == X[0]


def test_a_number_of_eight_bits_needs_one_part():
    first, second, third = emulated.parts(np.array([1.0, -0.5, 255.0, 0.0], np.float32))
    assert not second.any() and not third.any()
    assert np.array_equal(half.floats(first), [1.0, -0.5, 255.0, 0.0])


def test_the_later_parts_shrink_by_two_to_the_eight():
    X = np.random.default_rng(1).standard_normal(100_000, dtype=np.float32)
    first, second, third = (abs(half.floats(part)) for part in emulated.parts(X))
    assert (second <= first).all() and (third <= 2 * abs(X)).all()


@pytest.mark.skipif(on_gpu, reason="counts the SMs of an H200")
@pytest.mark.parametrize(
    "M, N, BN, blocks",
    [(1, 1, 192, 2), (256, 384, 128, 6), (257, 193, 128, 8), (4096, 4096, 192, 118)],
)
def test_clusters_stay_for_as_many_rounds_as_all_sms_would_need(M, N, BN, blocks):
    assert RUNG.launch(M, N, BN=BN) == ((blocks,), (384,))


@pytest.mark.skipif(on_gpu, reason="counts the SMs of an H200")
@pytest.mark.parametrize("n, BN", [(1024, 128), (4096, 128), (8192, 192)])
def test_the_width_of_a_tile_is_that_which_is_done_sooner(n, BN):
    assert emulated.Options().fitted(n, n).BN == BN
    assert RUNG.launch(n, n) == RUNG.launch(n, n, BN=BN)
    assert all(emulated.Options(BN=BN).fitted(n, n).BN == BN for BN in (128, 192))


def test_the_model_counts_a_sweep_for_each_product():
    six, nine = (RUNG.model(512, 1152, 256, products=products, BN=192) for products in (6, 9))
    assert six.flops == nine.flops == 2 * 512 * 1152 * 256
    assert six.loads == {"A": 6 * 6 * 512 * 256, "B": 6 * 2 * 256 * 1152}
    assert nine.loads["A"] * 2 == six.loads["A"] * 3
    narrow = RUNG.model(512, 1152, 256, BN=128)
    assert narrow.loads["A"] * 2 == six.loads["A"] * 3 and narrow.loads["B"] == six.loads["B"]


@pytest.mark.parametrize("BN", (128, 192))
def test_a_block_has_the_shared_memory_that_it_asks_for(BN):
    assert emulated.Options(BN=BN).shared_bytes <= 227 * 1024 - 1024  # and some for the barriers


@pytest.mark.parametrize("products", (3, 0, "6", 6.0))
def test_other_numbers_of_products_are_refused(products):
    with pytest.raises((TypeError, ValueError), match="products.*: use 6 or 9$"):
        RUNG.launch(100, 100, products=products)


@pytest.mark.parametrize("BN", (64, 256, -1, False))
def test_other_widths_are_refused(BN):
    with pytest.raises((TypeError, ValueError), match="BN.*: use 0, 128 or 192$"):
        RUNG.launch(100, 100, BN=BN)


@pytest.mark.skipif(on_gpu, reason="is about the interpreter")
@pytest.mark.parametrize("options", ({}, {"products": 9}, {"BN": 128}), ids=str)
def test_without_a_gpu_the_interpreter_is_as_exact_as_float32(options):
    """One element, edges, and sums of more than one piece of K."""
    for M, N, K in ((1, 1, 1), (33, 44, 40), (40, 130, 290)):
        A, B = oracle.inputs(M, N, K)
        C = oracle.poisoned(M, N)
        assert RUNG.matmul(A, B, out=C, **options) is C
        lab.check(C, A, B)


@pytest.mark.skipif(on_gpu, reason="is about the interpreter")
def test_infinities_and_nan_are_those_of_plain_float32():
    A, B = oracle.inputs(20, 30, 40)
    A[3, 4], A[5, 6], A[9, 7], B[7, 8] = np.inf, np.nan, 0, -np.inf
    with np.errstate(invalid="ignore"):
        right = A.astype(np.float64) @ B.astype(np.float64)
    C = RUNG.matmul(A, B)
    odd = ~np.isfinite(right)
    assert odd.any() and np.array_equal(C[odd], right[odd].astype(np.float32), equal_nan=True)
    assert np.allclose(C[~odd], right[~odd], rtol=0, atol=1e-4)


@pytest.mark.skipif(on_gpu, reason="is about the interpreter")
@pytest.mark.parametrize("by_col", (0, 1))
def test_the_kernel_writes_the_parts_that_numpy_finds(by_col):
    X = np.random.default_rng(3).integers(0, 2**32, (30, 41), np.uint32).view(np.float32)
    X[~np.isfinite(X)] = LARGEST
    X[7, 11] = np.inf
    odd, parts = np.zeros(1 + 41, np.uint8), np.full((3, 32, 64), 0xFFFF, np.uint16)
    emulated.split[(1, 2), (32, 8)](X, parts, odd, 1, 32, 64, 64, 32 * 64, by_col)
    X[7, 11] = 0
    expected = np.zeros((3, 32, 64), np.uint16)
    expected[:, :30, :41] = emulated.parts(X)
    assert np.array_equal(parts, expected)
    assert np.flatnonzero(odd).tolist() == [0, 1 + (11 if by_col else 7)]


@pytest.mark.skipif(on_gpu, reason="says that there is no GPU")
def test_without_a_gpu_it_says_what_to_use():
    A = np.ones((4, 4), np.float32)
    with pytest.raises(RuntimeError, match="needs an NVIDIA GPU .*: use engine='numba'"):
        RUNG.matmul(A, A, engine="cpp")
