"""Products of 4-bit weights: exact against the weights that they stand for."""

import numpy as np
import pytest

from kernels import lab
from kernels.primitives import matvec_int4 as int4


def operands(N, K, seed=0):
    random = np.random.default_rng(seed + N + K)
    return random.standard_normal((N, K), dtype=np.float32), random.integers(-8, 9, K)


@pytest.mark.parametrize("N, K", [(1, 128), (37, 384), (8, 1152)])
@pytest.mark.parametrize("rows", (1, 4))
def test_it_is_exact_where_the_scales_are_powers_of_two(N, K, rows):
    """Then every product is a multiple of 1/8 and no sum is rounded, in any order."""
    packed, _ = int4.quantise(operands(N, K)[0])
    scales = np.exp2(np.arange(N * K // 128, dtype=np.float32) % 5 - 3).reshape(N, -1)
    x = operands(N, K)[1].astype(np.float32)
    known = int4.dequantise(packed, scales).astype(np.float64) @ x
    assert np.array_equal(int4.matvec_int4(packed, scales, x, rows=rows), known)


def test_any_scales_are_right_within_rounding():
    W, x = operands(33, 512)
    packed, scales = int4.quantise(W)
    x = (x / 3).astype(np.float32)
    stood_for = int4.dequantise(packed, scales).astype(np.float64)
    d = 512 + 2
    bound = d * 2.0**-24 * (abs(stood_for) @ abs(x.astype(np.float64)))
    assert np.all(abs(int4.matvec_int4(packed, scales, x) - stood_for @ x) <= bound)


def test_a_weight_is_off_by_half_a_step_at_most():
    W, _ = operands(5, 256)
    packed, scales = int4.quantise(W)
    assert packed.dtype == np.uint32 and packed.shape == (5, 32) and scales.shape == (5, 2)
    off = abs(int4.dequantise(packed, scales) - W).reshape(5, 2, 128)
    assert np.all(off <= scales[:, :, None] * (0.5 + 1e-6))
    assert off.max() > 0.3 * scales.max(), "the bound is near"


def test_a_group_of_zeros_stays_zero():
    packed, scales = int4.quantise(np.zeros((2, 128), np.float32))
    assert not int4.dequantise(packed, scales).any()


def test_the_first_weight_has_the_lowest_bits():
    W = np.zeros((1, 128), np.float32)
    W[0, 0], W[0, 1] = 7, -7
    packed, scales = int4.quantise(W)
    assert packed[0, 0] == 0x88888800 | 0x1F and scales[0, 0] == 1


def test_each_word_is_loaded_once_and_x_once_for_all_rows_of_a_warp():
    W, x = operands(32, 512)
    packed, scales = int4.quantise(W)
    loads = {}
    for rows in (1, 4):
        seen = lab.trace(
            int4.make_int4(rows), 32 // 8 // rows, 256, packed, scales,
            x.astype(np.float32).reshape(1, -1), np.full(32, np.nan, np.float32),
        )  # fmt: skip
        assert seen.problems == []
        loads[rows] = seen.count(array="X")["requests"]
        assert seen.count(array="packed")["lanes"] == packed.size
    assert loads[1] == 4 * loads[4]


@pytest.mark.parametrize("K", (0, 64, 200))
def test_columns_that_are_no_whole_groups_are_refused(K):
    with pytest.raises(
        ValueError, match=f"^W has {K} columns: fill it up with zeros to a multiple"
    ):
        int4.quantise(np.zeros((2, K), np.float32))


@pytest.mark.parametrize(
    "change, error, message",
    [
        ({"x": np.zeros(64, np.float32)}, ValueError, "^packed is 2×16: scales must be 2×1 and x"),
        ({"scales": np.zeros((2, 2), np.float32)}, ValueError, "^packed is 2×16: scales must be"),
        ({"packed": np.zeros((2, 16), np.int32)}, TypeError, "^packed holds int32; expected"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(change, error, message):
    given = {
        "packed": np.zeros((2, 16), np.uint32), "scales": np.zeros((2, 1), np.float32),
        "x": np.zeros(128, np.float32),
    }  # fmt: skip
    with pytest.raises(error, match=message):
        int4.matvec_int4(**given | change)
