"""Products with weights of 4 and 8 bits: exact against the weights that they stand for."""

import numpy as np
import pytest

from kernels import cupy, lab
from kernels.host import cdiv, e4m3, half
from kernels.primitives import matvec_int4 as int4
from kernels.primitives import weight_only, weight_wgmma
from microscope import TensorMap

FORMATS = "four", "eight"


def given(form, M, N, K, powers=True):
    """X, weights, their scales (powers of 2: then no sum is rounded) and the dense matrix."""
    random = np.random.default_rng(M + N + K)
    W = random.standard_normal((N, K), dtype=np.float32)
    four = form == "four"
    weights, scales = int4.quantise(W) if four else weight_only.quantise_rows(W)
    if powers:
        scales = np.exp2(np.arange(scales.size, dtype=np.float32) % 5 - 3).reshape(scales.shape)
    dense = int4.dequantise(weights, scales) if four else e4m3.floats(weights) * scales[:, None]
    X = random.integers(-8, 9, (M, K)).astype(np.float32) / (4 if powers else 3)
    return half.bfloat16(X), weights, scales, dense.astype(np.float64)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("M, N, K, rows", [(1, 37, 256, 1), (9, 40, 1152, 2), (33, 17, 128, 0)])
def test_it_is_exact_but_for_one_rounding(form, M, N, K, rows):
    X, weights, scales, dense = given(form, M, N, K)
    found = weight_only.linear(X, weights, scales, rows=rows)
    known = half.floats(X).astype(np.float64) @ dense.T
    assert np.array_equal(found, half.bfloat16(known.astype(np.float32)))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("M, N, K, consumers", [(9, 70, 384, 1), (40, 150, 640, 2)])
def test_on_warpgroups_it_is_exact_but_for_one_rounding(form, M, N, K, consumers):
    X, weights, scales, dense = given(form, M, N, K)
    four, BN = form == "four", cdiv(M, 8) * 8
    maps = TensorMap(weights.view(np.uint8), (64, 128), "uint8"), TensorMap(X, (BN, 64), "bfloat16")
    seen = lab.trace(
        weight_wgmma.make_weight_wgmma(four, BN, consumers, 2, 1), cdiv(N, 64 * consumers),
        128 * (1 + consumers), *maps, scales.reshape(N, -1), np.zeros((M, N), np.uint16),
        *map(np.int32, (M, N, K)),
        shared_bytes=weight_wgmma.shared_bytes_of(four, BN, consumers, 2),
    )  # fmt: skip
    assert seen.problems == []
    known = half.floats(X).astype(np.float64) @ dense.T
    assert np.array_equal(seen.outputs["Y"], half.bfloat16(known.astype(np.float32)))


@pytest.mark.parametrize("form", FORMATS)
def test_any_scales_are_right_within_rounding(form):
    X, weights, scales, dense = given(form, 3, 30, 512, powers=False)
    found = half.floats(weight_only.linear(X, weights, scales))
    x = half.floats(X).astype(np.float64)
    bound = 2.0**-8 * abs(x @ dense.T) + 520 * 2.0**-24 * (abs(x) @ abs(dense).T)
    assert np.all(abs(found - x @ dense.T) <= bound)


@pytest.mark.parametrize("form", FORMATS)
def test_every_code_stands_for_its_number(form):
    """A row of W for each: 16 of 4 bits, all numbers of e4m3."""
    codes = np.arange(16) if form == "four" else np.r_[0:127, 128:255]
    weights = np.zeros((len(codes), 128), np.uint8)
    weights[:, 5] = codes
    X = np.zeros((1, 128), np.float32)
    X[0, 5] = 1
    scales = np.ones(len(codes), np.float32)
    known = e4m3.floats(codes)
    if form == "four":
        words = (weights + (np.arange(128) != 5) * 8).reshape(16, 16, 8).astype(np.uint32)
        weights = np.bitwise_or.reduce(words << np.arange(0, 32, 4, dtype=np.uint32), axis=2)
        scales, known = scales[:, None], codes - 8
    found = weight_only.linear(half.bfloat16(X), weights, scales)
    assert np.array_equal(half.floats(found)[0], known)


def test_one_scale_serves_a_whole_matrix():
    X, weights, _, _ = given("eight", 2, 20, 128)
    every = np.full(20, 0.25, np.float32)
    one, each = (weight_only.linear(X, weights, scales) for scales in (0.25, every))
    assert np.array_equal(one, each)


def test_what_is_not_a_number_stays_in_its_row():
    X, weights, scales, _ = given("four", 3, 16, 128)
    X[1, 3], X[2, 0] = half.bfloat16(np.float32([np.nan, np.inf]))
    found = half.floats(weight_only.linear(X, weights, scales))
    assert np.isnan(found[1]).all() and not np.isfinite(found[2]).any()
    assert np.isfinite(found[0]).all()


@pytest.mark.parametrize("form", FORMATS)
def test_every_weight_is_loaded_once_by_16_bytes(form):
    X, weights, scales, _ = given(form, 8, 32, 256)
    four = form == "four"
    seen = lab.trace(
        weight_only.make_weight_only(four, 2, 1), 1, weight_only.THREADS, weights.view(np.uint32),
        scales.reshape(32, -1), X, np.zeros((8, 32), np.uint16), *map(np.int32, (8, 32, 256)),
    )  # fmt: skip
    assert seen.problems == []
    counted = seen.count(array="weights")
    assert counted["lanes"] * 16 == weights.nbytes and counted["sectors"] * 32 == weights.nbytes


def test_it_writes_where_it_is_told_and_takes_any_strides():
    X, weights, scales, _ = given("eight", 2, 20, 128)
    wide = np.zeros((4, 256), np.uint16)
    wide[::2, ::2] = X
    out = cupy.zeros((2, 20), np.uint16)
    on_device = [cupy.asarray(x) for x in (weights, scales, wide)]
    found = weight_only.linear(on_device[2][::2, ::2], *on_device[:2], out=out)
    assert found is out
    assert np.array_equal(cupy.asnumpy(out), weight_only.linear(X, weights, scales))


@pytest.mark.parametrize(
    "change, error, message",
    [
        ({"X": np.zeros((2, 64), np.uint16)}, ValueError, "X has 64 columns and W 128: make"),
        ({"X": np.zeros((65, 128), np.uint16)}, ValueError, "X has 65 rows; 64 at most: mult"),
        ({"X": np.zeros((2, 128), np.float32)}, TypeError, "X holds float32; expected uint16"),
        ({"X": np.zeros((0, 128), np.uint16)}, ValueError, "X has shape .0, 128.; every size"),
        ({"weights": np.zeros((4, 15), np.uint32)}, ValueError, "W has 120 columns: fill it up"),
        ({"weights": np.zeros((4, 16), np.int64)}, TypeError, "weights holds int64; expected"),
        ({"scales": np.ones((4, 2), np.float32)}, ValueError, "scales has shape .4, 2.; weights"),
        ({"scales": np.ones((4, 1))}, TypeError, "scales holds float64; expected float32"),
        ({"out": np.zeros((2, 5), np.uint16)}, ValueError, "out has shape .2, 5.; the result"),
        ({"out": np.zeros((2, 4), np.float32)}, TypeError, "out holds float32; expected uint16"),
        ({"X": cupy.zeros((2, 128), np.uint16)}, TypeError, "weights and scales and out on the"),
    ],
)
def test_what_cannot_be_is_said_in_one_line_and_nothing_written(change, error, message):
    operands = {
        "X": np.zeros((2, 128), np.uint16), "weights": np.zeros((4, 16), np.uint32),
        "scales": np.ones((4, 1), np.float32), "out": np.full((2, 4), 7, np.uint16),
    }  # fmt: skip
    with pytest.raises(error, match=f"^{message}") as raised:
        weight_only.linear(**operands | change)
    assert "\n" not in str(raised.value) and (operands["out"] == 7).all()
