"""16-bit numbers: rounding to bfloat16, operands of tensor cores, and the oracle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.backend import on_gpu
from kernels.host import half
from kernels.measure import oracle

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


def one(value: float) -> np.ndarray:
    return np.array([value], np.float32)


@settings(deadline=None)
@given(FLOATS)
def test_bfloat16_is_the_nearest_of_its_numbers(value):
    bits = half.bfloat16(one(value))
    assert bits.dtype == np.uint16
    rounded = float(half.floats(bits)[0])
    below, above = (float(half.floats(bits + np.uint16(d))[0]) for d in (0xFFFF, 1))
    # Neighbours in bits are neighbours in size, save across zero and infinity.
    if np.isfinite([below, rounded, above]).all() and bits[0] & 0x7FFF:
        assert abs(rounded - value) <= min(abs(below - value), abs(above - value))


@settings(deadline=None)
@given(st.integers(0, 0xFFFF))
def test_what_is_bfloat16_already_stays(bits):
    array = np.array([bits], np.uint16)
    value = half.floats(array)
    if np.isnan(value[0]):
        assert np.isnan(half.floats(half.bfloat16(value))[0])
    else:
        assert half.bfloat16(value)[0] == bits


@pytest.mark.parametrize(
    "value, expected",
    [
        (1 + 2**-8, 1.0),  # halfway: to the even one
        (1 + 3 * 2**-8, 1 + 2**-6),
        (1 + 2**-8 + 2**-20, 1 + 2**-7),
        (3.4e38, np.inf),
        (-np.inf, -np.inf),
        (-0.0, -0.0),
        (1e-45, 0.0),
    ],
)
def test_bfloat16_of_chosen_numbers(value, expected):
    rounded = half.floats(half.bfloat16(one(value)))[0]
    assert rounded == expected and np.signbit(rounded) == np.signbit(expected)


def test_nan_stays_nan_whatever_its_bits():
    bits = np.array([0x7F800001, 0x7FFFFFFF, 0xFFFFFFFF], np.uint32)
    assert np.isnan(half.floats(half.bfloat16(bits.view(np.float32)))).all()


def test_strided_arrays_are_converted_too():
    matrix = np.arange(24, dtype=np.float32).reshape(4, 6)[::2, ::-3].T
    assert np.array_equal(half.floats(half.bfloat16(matrix)), matrix)


# ------------------------------------------------------------------------------------ operands

F16 = np.ones((4, 4), np.float16)
BF16 = half.bfloat16(F16.astype(np.float32))


@pytest.mark.parametrize(
    "A, B, out, error, message",
    [
        (F16.astype(np.float32), F16, None, TypeError, "A holds float32; expected float16"),
        (F16, F16.astype(np.int8), None, TypeError, "B holds int8; expected float16"),
        (F16, BF16, None, TypeError, "A holds float16 and B bfloat16: make them the same"),
        ([1], F16, None, TypeError, "A must be an array, got list"),
        (F16[0], F16, None, ValueError, r"A has shape \(4,\); expected 2 dimensions"),
        (F16[:0], F16, None, ValueError, "every size must be at least 1"),
    ],
)
def test_bad_operands_are_one_line(A, B, out, error, message):
    with pytest.raises(error, match=message) as caught:
        half.HalfProduct(A, B, out)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(on_gpu, reason="is about machines without a GPU")
def test_without_a_gpu_there_is_a_way_out():
    with pytest.raises(RuntimeError, match="'cpp' needs an NVIDIA GPU .* such as wgmma"):
        half.HalfProduct(F16, F16, engine="cpp")


def test_sizes_beyond_32_bits_are_refused():
    assert half.int32s(7, 8) == (7, 8)
    with pytest.raises(ValueError, match="size 2147483647 is beyond the 32-bit int"):
        half.int32s(7, 2**31 - 1)


# -------------------------------------------------------------------------------------- oracle


@pytest.mark.parametrize("dtype", ("float16", "bfloat16"))
def test_the_oracle_takes_a_right_product_in_both_formats_of_c(dtype):
    A, B = oracle.inputs(45, 70, 53, dtype=dtype)
    exact = half.floats(A).astype(np.float64) @ half.floats(B).astype(np.float64)
    for C in (exact.astype(np.float32), half.cast(exact.astype(np.float32), dtype)):
        verdict = oracle.check(C, A, B)
        assert repr(verdict).endswith(f"within the {dtype} tolerance for K = 53")
    assert 0.5 < verdict.worst < 1  # rounding C to 16 bits takes most of what is allowed


@pytest.mark.parametrize("dtype", ("float16", "bfloat16"))
def test_the_oracle_sees_sums_kept_in_16_bits(dtype):
    A, B = (half.floats(x) for x in oracle.inputs(20, 30, 64, dtype=dtype))
    C = np.zeros((20, 30), np.float32)
    for k in range(64):
        C = half.floats(half.cast(C + np.outer(A[:, k], B[k]), dtype))
    with pytest.raises(oracle.WrongResult, match="small errors"):
        oracle.check(C, half.cast(A, dtype), half.cast(B, dtype))


@pytest.mark.parametrize("dtype", ("float16", "bfloat16"))
def test_the_oracle_sees_a_c_rounded_to_16_bits_that_should_not_be(dtype):
    A, B = oracle.inputs(20, 30, 64, dtype=dtype)
    C = half.floats(half.cast(half.floats(A) @ half.floats(B), dtype))
    with pytest.raises(oracle.WrongResult):
        oracle.check(C, A, B)


@pytest.mark.parametrize("dtype", ("float16", "bfloat16"))
def test_poison_is_found_in_16_bits(dtype):
    A, B = oracle.inputs(20, 30, 64, dtype=dtype)
    C = half.cast(half.floats(A) @ half.floats(B), dtype)
    C[-1] = oracle.poisoned(1, 30, dtype)
    with pytest.raises(oracle.WrongResult, match=r"unwritten rows \(NaN\): 19"):
        oracle.check(C, A, B)


@pytest.mark.parametrize("dtype, chunk", [(np.float16, 8), (np.uint8, 16)])
def test_copied_rows_fill_whole_lines(dtype, chunk):
    wide = half.aligned(np.ones((3, 5 * chunk + 1), dtype))
    assert wide.strides[0] % 128 == 0 and wide.shape[1] < 5 * chunk + 1 + 128
    assert wide[:, : 5 * chunk + 1].all() and not wide[:, 5 * chunk + 1 :].any()
    assert half.width_of_copy(5 * chunk, chunk) == 5 * chunk, "such rows stay where they are"
