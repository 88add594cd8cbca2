"""Hopper's attention in Python, in the interpreter: masks, fragments, rings, turns are right."""

import math
from pathlib import Path

import numpy as np
import pytest

from kernels.host import cdiv, half
from kernels.primitives import attention_wgmma as hopper
from kernels.primitives.attention import error_bound, exact
from microscope import TensorMap, trace
from tests.microscope.cases import from_source

UNITS = {"bfloat16": 2.0**-8, "float16": 2.0**-11}


def inputs(heads, N, D, dtype, seed=0):
    """Q, K and V of normal numbers, each heads × N × D."""
    random = np.random.default_rng(seed)
    return [half.cast(random.standard_normal((heads, N, D), np.float32), dtype) for _ in "QKV"]


# ------------------------------------------------------------------------------ in Python


def traced(
    kernel, heads: int, N: int, D: int, causal: bool, dtype: str, M=0, shared=1, splits=1,
    consumers=2, blocks=2, stages=hopper.STAGES,
):  # fmt: skip
    """What the interpreter reports, and whether the result is as near as rounding allows."""
    Q, K, V = inputs(heads, N, D, dtype)
    given = Q[:, -(M or N) :].copy(), *(x[: heads // shared] for x in (K, V))
    M, queries = given[0].shape[1], 64 * consumers
    boxes = queries, hopper.KEYS, hopper.KEYS
    maps = [TensorMap(x, (1, rows, 64), dtype) for x, rows in zip(given, boxes, strict=True)]
    rows, span = heads * splits * M, cdiv(cdiv(N, splits), hopper.KEYS) * hopper.KEYS
    out, lse = (
        np.zeros((rows, D), Q.dtype if splits == 1 else np.float32),
        np.zeros(rows, np.float32),
    )
    if splits == 1:
        out = TensorMap(out.reshape(heads, M, D), (1, 16, 64), dtype)
    scale = np.float32(math.log2(math.e) / math.sqrt(D))
    seen = trace(
        kernel, blocks, 128 * (1 + consumers), *maps, out, lse,
        *map(np.int32, (M, N, shared, heads * splits, splits, span)), scale,
        shared_bytes=hopper.shared_bytes_of(D, consumers, stages=stages),
    )  # fmt: skip
    known = [half.floats(x) for x in given]
    outputs = seen.outputs
    if splits > 1:
        merged = np.zeros((heads * M, D), Q.dtype), np.zeros(heads * M, np.float32)
        outputs = trace(
            hopper.make_merge(dtype), heads * M, D, outputs["O"], outputs["lse"], *merged,
            *map(np.int32, (M, splits)),
        ).outputs  # fmt: skip
    found = half.floats(outputs["O"]).reshape(heads, M, D)
    bound = error_bound(*known, causal, unit=UNITS[dtype])
    right = np.all(abs(found - exact(*known, causal)) <= bound)
    sums = log_sums(*known[:2], causal)
    right &= np.allclose(outputs["lse"].reshape(heads, M), sums, rtol=0, atol=1e-4)
    return seen.problems, bool(right)


def log_sums(Q, K, causal: bool) -> np.ndarray:
    """The logarithm of the sum of exponentials of each query's scores."""
    K = K.astype(np.float64).repeat(len(Q) // len(K), axis=0)
    scores = Q.astype(np.float64) @ K.transpose(0, 2, 1) / math.sqrt(Q.shape[2])
    M, N = scores.shape[1:]
    scores = np.where(np.tri(M, N, N - M) if causal else True, scores, -np.inf)
    largest = scores.max(axis=2, keepdims=True)
    return (largest + np.log(np.exp(scores - largest).sum(axis=2, keepdims=True)))[..., 0]


@pytest.mark.parametrize(
    "heads, N, D, causal, dtype, consumers, blocks",
    [
        (1, 129, 128, True, "bfloat16", 2, 2),
        (2, 260, 128, False, "bfloat16", 2, 1),
        (2, 65, 64, False, "float16", 1, 3),
        (1, 300, 64, True, "float16", 1, 2),
    ],
)
def test_in_python_it_is_right_and_sound(heads, N, D, causal, dtype, consumers, blocks):
    """Blocks take one job each, or several."""
    kernel = hopper.make_attention_wgmma(D, causal, dtype, consumers=consumers)
    found = traced(kernel, heads, N, D, causal, dtype, consumers=consumers, blocks=blocks)
    assert found == ([], True)


def test_one_slot_for_keys_is_enough():
    kernel = hopper.make_attention_wgmma(128, False, consumers=1, stages=1)
    assert traced(kernel, 1, 300, 128, False, "bfloat16", consumers=1, stages=1) == ([], True)


@pytest.mark.parametrize("M, N, causal", [(1, 200, True), (130, 259, True), (70, 130, False)])
def test_keys_may_be_shared_and_more_than_queries(M, N, causal):
    kernel = hopper.make_attention_wgmma(64, causal, oblique=causal)
    assert traced(kernel, 2, N, 64, causal, "bfloat16", M, shared=2) == ([], True)


@pytest.mark.parametrize("M, causal, dtype", [(3, False, "bfloat16"), (70, True, "float16")])
def test_parts_of_the_keys_are_merged(M, causal, dtype):
    """Under a mask a query may see none of a part's keys."""
    kernel = hopper.make_attention_wgmma(64, causal, dtype, oblique=causal, parted=True)
    assert traced(kernel, 2, 300, 64, causal, dtype, M, shared=2, splits=3) == ([], True)


def test_keys_are_cut_where_there_are_fewer_blocks_than_multiprocessors():
    assert hopper.splits_of(8, 32768, 132) == (16, 2048)
    assert hopper.splits_of(200, 32768, 132) == (1, 32768)
    assert hopper.splits_of(1, 600, 132) == (1, 640)
    for blocks, N in ((1, 5000), (3, 8191), (60, 4097)):
        splits, span = hopper.splits_of(blocks, N, 132)
        assert (splits - 1) * span < N <= splits * span and splits * blocks <= 132


def test_without_overlap_it_is_right_and_sound():
    apart = hopper.make_attention_wgmma(64, True, "bfloat16", overlap=False)
    assert traced(apart, 1, 140, 64, True, "bfloat16") == ([], True)


@pytest.mark.parametrize(
    "before, after",
    [
        ("multiply_values(o, p[key // 16], v, 1)", "multiply_values(o, p[0], v, 1)"),
        ("query + i % 4 // 2 * 8", "query"),  # the mask of the lower eight rows
        ("ptx.mbarrier_wait_parity(full_V + 8 * slot, parity)", "pass"),
        ("ptx.wgmma_wait_group(PENDING, s, SCORES)", "pass"),
    ],
)
def test_a_slip_of_the_pen_in_python_is_seen(before, after):
    source = Path(hopper.__file__).read_text(encoding="utf-8")
    assert source.count(before) == 1
    module = from_source(source.replace(before, after), "attention_wgmma_slip")
    problems, right = traced(module.make_attention_wgmma(64, True), 1, 140, 64, True, "bfloat16")
    assert problems or not right
