"""Hopper's gradients of attention, in the interpreter: masks, fragments and rings are right."""

import math
from pathlib import Path

import numpy as np
import pytest

from kernels.host import cdiv, half
from kernels.primitives import attention_backward_wgmma as hopper
from microscope import TensorMap, trace
from tests.microscope.cases import from_source

UNITS = {"bfloat16": 2.0**-8, "float16": 2.0**-11}


def exact(Q, K, V, dO, causal: bool):
    """O, the logarithms of its sums, dQ, dK and dV in float64; heads of Q may share those of K."""
    (heads, M, D), (kv_heads, N, _) = Q.shape, K.shape
    k, v = (x.repeat(heads // kv_heads, 0) for x in (K, V))
    S = Q @ k.transpose(0, 2, 1) / math.sqrt(D)
    S = np.where(np.tri(M, N, N - M, dtype=bool), S, -np.inf) if causal else S
    largest = S.max(axis=2, keepdims=True)
    P = np.exp(S - largest)
    total = P.sum(axis=2, keepdims=True)
    P /= total
    dP = dO @ v.transpose(0, 2, 1)
    dS = P * (dP - (P * dP).sum(axis=2, keepdims=True)) / math.sqrt(D)
    shared = kv_heads, -1, N, D
    dK, dV = ((x.transpose(0, 2, 1) @ y).reshape(shared).sum(1) for x, y in ((dS, Q), (P, dO)))
    return P @ v, (largest + np.log(total))[..., 0], dS @ k, dK, dV


def traced(module, heads, M, N, D, causal, dtype, shared=1):
    """What the interpreter reports, and whether gradients are as near as 16 bits allow."""
    random = np.random.default_rng(heads + M)
    shapes = (heads, M, D), *[(heads // shared, N, D)] * 2, (heads, M, D)
    given = [half.cast(random.standard_normal(shape, np.float32), dtype) for shape in shapes]
    known = [half.floats(x).astype(np.float64) for x in given]
    out, sums, *expected = exact(*known, causal)
    O = half.cast(out.astype(np.float32), dtype)  # noqa: E741
    Q, K, V, dO = given
    maps = [TensorMap(x, (1, hopper.ROWS, 64), dtype) for x in (Q, K, V, dO)]
    numbers = *map(np.int32, (M, N, shared)), np.float32(1 / math.sqrt(D))
    lse, delta = sums.astype(np.float32).reshape(-1), np.full(heads * M, np.nan, np.float32)
    problems, found = [], []
    for of_keys, own, count, order, like in (
        (False, heads, M, (0, 3, 1, 2), Q), (True, heads // shared, N, (1, 2, 0, 3), K)
    ):  # fmt: skip
        results = [np.zeros((own * count, D), like.dtype) for _ in "12"]
        seen = trace(
            module.make_gradients_wgmma(D, causal, dtype, of_keys),
            (own, cdiv(count, hopper.ROWS)), hopper.THREADS, *(maps[i] for i in order), dO, O, lse,
            delta, *results, *numbers, shared_bytes=hopper.shared_bytes_of(D),
        )  # fmt: skip
        problems += seen.problems
        delta = seen.outputs["delta"] if not of_keys else delta
        found += [seen.outputs[name] for name in ("first", "second")[: 1 + of_keys]]
    right = all(
        abs(half.floats(one).reshape(other.shape) - other).max()
        < 2 * UNITS[dtype] * abs(other).max()
        for one, other in zip(found, expected, strict=True)
    )
    return problems, right


@pytest.mark.parametrize(
    "heads, M, N, D, causal, dtype, shared",
    [
        (1, 130, 130, 64, True, "bfloat16", 1),
        (2, 70, 70, 64, False, "float16", 1),
        (1, 65, 65, 128, True, "float16", 1),
        (4, 65, 140, 64, True, "bfloat16", 2),
    ],
)
def test_they_are_right_and_sound(heads, M, N, D, causal, dtype, shared):
    assert traced(hopper, heads, M, N, D, causal, dtype, shared) == ([], True)


@pytest.mark.parametrize(
    "before, after",
    [
        ("add_tile(of_V, p, at + TILE)", "add_tile(of_V, q, at + TILE)"),
        ("query = row + i % 4 // 2 * 8", "query = row"),  # the mask of the lower eight rows
        ("near[(slot ^ 1) * THREADS + tid] = after", "near[slot * THREADS + tid] = after"),
        ("ptx.wgmma_wait_group(1, s, SCORES)", "pass"),
        ("ptx.mbarrier_wait_parity(full + 8 * slot, parity)", "pass"),
    ],
)
def test_a_slip_of_the_pen_is_seen(before, after):
    source = Path(hopper.__file__).read_text(encoding="utf-8")
    assert source.count(before) == 1
    module = from_source(source.replace(before, after), "attention_backward_slip")
    problems, right = traced(module, 1, 140, 140, 64, True, "bfloat16")
    assert problems or not right
