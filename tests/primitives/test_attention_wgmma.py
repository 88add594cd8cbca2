"""Hopper's attention in Python, in the interpreter: masks, fragments, rings, turns are right."""

import math
from pathlib import Path

import numpy as np
import pytest

from kernels.host import half
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


def traced(kernel, heads: int, N: int, D: int, causal: bool, dtype: str):
    """What the interpreter reports, and whether the result is as near as rounding allows."""
    given = inputs(heads, N, D, dtype)
    maps = [TensorMap(x, (1, hopper.KEYS, 64), dtype) for x in given]
    out = np.zeros((heads * N, D), given[0].dtype)
    scale = np.float32(math.log2(math.e) / math.sqrt(D))
    seen = trace(
        kernel, (-(-N // hopper.QUERIES), heads), hopper.THREADS, *maps, out, np.int32(N), scale,
        shared_bytes=hopper.shared_bytes_of(D),
    )  # fmt: skip
    known = [half.floats(x) for x in given]
    found = half.floats(seen.outputs["O"]).reshape(heads, N, D)
    bound = error_bound(*known, causal, unit=UNITS[dtype])
    return seen.problems, bool(np.all(abs(found - exact(*known, causal)) <= bound))


@pytest.mark.parametrize(
    "heads, N, D, causal, dtype",
    [(1, 129, 128, True, "bfloat16"), (2, 65, 64, False, "float16"), (1, 300, 64, True, "float16")],
)
def test_in_python_it_is_right_and_sound(heads, N, D, causal, dtype):
    kernel = hopper.make_attention_wgmma(D, causal, dtype)
    assert traced(kernel, heads, N, D, causal, dtype) == ([], True)


def test_without_overlap_it_is_right_and_sound():
    apart = hopper.make_attention_wgmma(64, True, "bfloat16", overlap=False)
    assert traced(apart, 1, 140, 64, True, "bfloat16") == ([], True)


@pytest.mark.parametrize(
    "before, after",
    [
        ("multiply_values(o, p[key // 16], v, 1)", "multiply_values(o, p[0], v, 1)"),
        ("query + i % 4 // 2 * 8", "query"),  # the mask of the lower eight rows
        ("ptx.mbarrier_wait_parity(full_K + 8 * slot, parity)", "pass"),
        ("ptx.wgmma_wait_group(PENDING, s, SCORES)", "pass"),
    ],
)
def test_a_slip_of_the_pen_in_python_is_seen(before, after):
    source = Path(hopper.__file__).read_text(encoding="utf-8")
    assert source.count(before) == 1
    module = from_source(source.replace(before, after), "attention_wgmma_slip")
    problems, right = traced(module.make_attention_wgmma(64, True), 1, 140, 64, True, "bfloat16")
    assert problems or not right
