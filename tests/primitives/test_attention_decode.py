"""Decoding: split keys merge into the same result, and each is loaded once for a group."""

import numpy as np
import pytest

from kernels import cupy, lab
from kernels.primitives.attention_decode import WARPS, attend, make_decode, truth


def inputs(heads, kv_heads, N, D, spread=1.0):
    random = np.random.default_rng(N + D)
    shapes = (heads, D), (kv_heads, N, D), (kv_heads, N, D)
    return [spread * random.standard_normal(shape, dtype=np.float32) for shape in shapes]


@pytest.mark.parametrize("heads, kv_heads, N, D", [(1, 1, 1, 1), (8, 1, 77, 100), (6, 3, 200, 128)])
@pytest.mark.parametrize("splits", (1, 3, 16))
def test_any_number_of_splits_gives_the_result(heads, kv_heads, N, D, splits):
    Q, K, V = inputs(heads, kv_heads, N, D)
    found = attend(Q, K, V, splits=min(splits, N))
    assert np.allclose(found, truth(Q, K, V), rtol=0, atol=2e-6)


def test_scores_that_would_overflow_do_no_harm():
    Q, K, V = inputs(4, 2, 90, 64, spread=30)
    assert np.allclose(attend(Q, K, V, splits=5), truth(Q, K, V), rtol=0, atol=1e-2)


def test_a_group_loads_its_keys_once():
    N, D, splits, span = 100, 64, 4, 25
    counts = {}
    for group in (1, 4):
        Q, K, V = inputs(group, 1, N, D)
        results = np.full((group, splits, D), np.nan, np.float32)
        summary = np.full((group, splits, 2), np.nan, np.float32)
        seen = lab.trace(
            make_decode(D, group), (splits, 1), (32, WARPS), Q, K[0], V[0], results, summary,
            N, span, np.float32(1 / 8),
        )  # fmt: skip
        assert seen.problems == []
        counts[group] = [seen.count(array=name)["bytes_requested"] for name in ("K", "V")]
    assert counts[1] == counts[4] == [4 * N * D, 4 * N * D]


def test_it_stays_where_its_arrays_are():
    Q, K, V = map(cupy.asarray, inputs(4, 2, 30, 32))
    out = cupy.full((4, 32), np.nan, np.float32)
    assert attend(Q, K, V, out, splits=2) is out
    assert np.allclose(cupy.asnumpy(out), truth(*map(cupy.asnumpy, (Q, K, V))), rtol=0, atol=2e-6)


@pytest.mark.parametrize(
    "heads, kv_heads, D, splits, message",
    [
        (4, 3, 8, 1, "^4 heads of Q cannot share 3 of K and V: use a divisor of 4 that leaves at"),
        (9, 1, 8, 1, "^9 heads of Q cannot share 1 of K and V: use a divisor of 9 that leaves at"),
        (1, 1, 129, 1, "^head size 129 is not supported: split a head; 128 at most$"),
        (1, 1, 8, 0, "^splits is 0: use 1 to 5, the number of keys$"),
        (1, 1, 8, 6, "^splits is 6: use 1 to 5, the number of keys$"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(heads, kv_heads, D, splits, message):
    with pytest.raises(ValueError, match=message):
        attend(*inputs(heads, kv_heads, 5, D), splits=splits)


def test_keys_and_values_must_be_alike():
    Q, K, V = inputs(2, 1, 5, 8)
    with pytest.raises(ValueError, match="^Q is 2×8, K 1×4×8 and V 1×5×8: K and V must be alike"):
        attend(Q, K[:, :4], V)
