"""Attention on Ampere's tensor cores in Numba: right in both formats, and stored nowhere else."""

import math

import numpy as np
import pytest

from kernels import lab
from kernels.host import half
from kernels.measure.bench.attention import UNITS
from kernels.primitives import attention as fused
from kernels.primitives import attention_mma as ampere
from kernels.ptx.mma import FORMATS

CASES = (
    (1, 1, 64, False, "bfloat16"), (2, 150, 64, True, "float16"), (2, 64, 128, True, "bfloat16"),
    (1, 130, 128, False, "float16"),
)  # fmt: skip


def traced(kernel, heads, N, D, dtype, **options):
    random = np.random.default_rng(N)
    arrays = [
        half.cast(2 * random.standard_normal((heads, N, D), dtype=np.float32), dtype) for _ in "QKV"
    ]
    out = np.full((heads * N, D), np.nan, np.float16).view(arrays[0].dtype)
    seen = lab.trace(
        kernel, fused.launch(heads, N, ampere.QUERIES), ampere.THREADS,
        *(array.reshape(-1, D) for array in arrays), out, np.int32(N),
        np.float32(math.log2(math.e) / math.sqrt(D)), shared_bytes=ampere.shared_bytes_of(D),
        **options,
    )  # fmt: skip
    return seen, [half.floats(array) for array in arrays]


@pytest.mark.parametrize("heads, N, D, causal, dtype", CASES)
def test_it_is_right_without_a_conflict_or_another_array(heads, N, D, causal, dtype):
    seen, given = traced(ampere.make_attention_mma(D, causal, dtype), heads, N, D, dtype)
    assert seen.problems == []
    found = half.floats(seen.outputs["O"]).reshape(heads, N, D)
    bound = fused.error_bound(*given, causal, UNITS[dtype])
    assert np.all(abs(found - fused.exact(*given, causal)) <= bound)
    assert seen.count(space="shared")["conflicts"] == 0
    assert {s.array for s in seen.sites if s.space == "global" and s.op == "store"} == {"O"}


@pytest.mark.parametrize("schedule", ("warps", "warps-reversed"))
def test_any_order_of_warps_gives_the_same(schedule):
    kernel = ampere.make_attention_mma(64, True, "bfloat16")
    first, _ = traced(kernel, 1, 70, 64, "bfloat16")
    other, _ = traced(kernel, 1, 70, 64, "bfloat16", schedule=schedule)
    assert other.problems == []
    assert np.array_equal(first.outputs["O"], other.outputs["O"])


def test_a_format_that_mma_lacks_is_said_in_one_line():
    with pytest.raises(
        ValueError, match="^mma has no operands of float32: use " + ", ".join(FORMATS)
    ):
        ampere.make_attention_mma(64, False, "float32")
