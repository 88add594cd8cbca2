"""Numbers of 8 bits: which there are, rounding to them, and products of what was rounded."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import cupy
from kernels.host import e4m3

CODES = np.arange(256, dtype=np.uint8)
FINITE = CODES[(CODES & 0x7F) != e4m3.NAN]
FLOATS = st.floats(width=32, allow_nan=False)


def rounded(value: float) -> int:
    return int(e4m3.rounded(np.array([value], np.float32))[0])


def test_the_numbers_are_those_of_the_format():
    """A sign, 4 bits of exponent with a bias of 7, 3 of mantissa; one NaN for each sign."""
    for code, value in zip(CODES.tolist(), e4m3.floats(CODES).tolist(), strict=True):
        sign, exponent, mantissa = (-1) ** (code >> 7), code >> 3 & 15, code & 7
        if (exponent, mantissa) == (15, 7):
            assert np.isnan(value)
        elif exponent:
            assert value == sign * 2.0 ** (exponent - 7) * (1 + mantissa / 8)
        else:
            assert value == sign * 2.0**-6 * mantissa / 8
    assert e4m3.floats(CODES).max(where=CODES < e4m3.NAN, initial=0) == e4m3.LARGEST == 448


def test_what_is_such_a_number_stays():
    assert np.array_equal(e4m3.rounded(e4m3.floats(FINITE)), FINITE)
    assert np.isnan(e4m3.floats(e4m3.rounded(np.array([np.nan, -np.nan], np.float32)))).all()


@settings(deadline=None)
@given(FLOATS)
def test_rounding_is_to_the_nearest(value):
    found = float(e4m3.floats(np.array([rounded(value)], np.uint8))[0])
    numbers = e4m3.floats(FINITE).astype(np.float64)
    assert abs(found - value) == abs(numbers - value).min() or abs(value) > e4m3.LARGEST
    assert np.signbit(found) == np.signbit(np.float32(value))


@pytest.mark.parametrize(
    "value, code",
    [
        (1 + 1 / 16, 0x38),  # halfway: to the even one
        (1 + 3 / 16, 0x3A),
        (1 + 1 / 16 + 2.0**-20, 0x39),
        (2.0**-10, 0x00),  # half of the smallest
        (-3 * 2.0**-10, 0x82),
        (460.0, 0x7E),  # beyond the largest: there is no infinity
        (-np.inf, 0xFE),
        (-0.0, 0x80),
    ],
)
def test_rounding_of_chosen_numbers(value, code):
    assert rounded(value) == code


def test_arrays_stay_of_their_kind_and_shape():
    matrix = np.arange(24, dtype=np.float32).reshape(4, 6)[::2, ::-1]
    for array in (matrix, cupy.asarray(matrix)):
        codes, scale = e4m3.quantised(array)
        for found in (codes, e4m3.rounded(array), e4m3.floats(codes)):
            assert type(found) is type(array) and found.shape == array.shape
        assert e4m3.floats(codes).max() == 448 and scale == np.float32(17 / 448)


@pytest.mark.parametrize("largest", (1e-30, 1.0, 3e38))
def test_a_scale_makes_any_range_fit(largest):
    numbers = np.random.default_rng(0).uniform(-1, 1, 10_000).astype(np.float32)
    numbers *= np.float32(largest)
    codes, scale = e4m3.quantised(numbers)
    error = abs(e4m3.floats(codes).astype(np.float64) * scale - numbers)
    assert (error <= 1.0001 * abs(numbers) / 16 + scale * 2.0**-10).all()


def test_zeros_have_a_scale_too():
    codes, scale = e4m3.quantised(np.zeros((2, 3), np.float32))
    assert scale == 1 and not codes.any()


def test_a_product_of_rounded_matrices_is_off_by_the_rounding_of_both():
    rng = np.random.default_rng(1)
    A, B = rng.standard_normal((40, 300)), rng.standard_normal((300, 50))
    (codes_A, scale_A), (codes_B, scale_B) = (e4m3.quantised(X.astype(np.float32)) for X in (A, B))
    sums = e4m3.floats(codes_A).astype(np.float64) @ e4m3.floats(codes_B).astype(np.float64)
    off = [abs(X) / 16 + scale * 2.0**-10 for X, scale in ((A, scale_A), (B, scale_B))]
    bound = off[0] @ abs(B) + abs(A) @ off[1] + off[0] @ off[1]
    error = abs(scale_A * scale_B * sums - A @ B)
    assert (error <= bound).all()
    assert error.max() > 0.1, "as if nothing had been rounded"
