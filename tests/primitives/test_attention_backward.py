"""Gradients of attention: those of float64, which agree with finite differences."""

import numpy as np
import pytest

from kernels import lab
from kernels.primitives import attention as forward
from kernels.primitives import attention_backward as backward
from kernels.primitives.attention_backward import exact, gradients


def inputs(heads, N, D):
    random = np.random.default_rng(N + D)
    return [random.standard_normal((heads, N, D), dtype=np.float32) for _ in range(4)]


@pytest.mark.parametrize("causal", (False, True))
def test_the_formula_agrees_with_finite_differences(causal):
    """The loss is Σ dO∘O: its gradient is what the formula returns."""
    *arrays, dO = (x.astype(np.float64) for x in inputs(1, 7, 16))
    found, step = exact(*arrays, dO, causal), 1e-6
    for which in range(3):
        for place in np.ndindex(1, 7, 16):
            losses = []
            for sign in (1, -1):
                moved = [x.copy() for x in arrays]
                moved[which][place] += sign * step
                losses.append((dO * forward.exact(*moved, causal)).sum())
            slope = (losses[0] - losses[1]) / (2 * step)
            assert abs(slope - found[which][place]) < 1e-7, (which, place)


@pytest.mark.parametrize(
    "heads, N, D, causal",
    [(1, 1, 16, True), (2, 45, 40, False), (2, 70, 64, True), (1, 33, 128, False)],
)
def test_the_kernels_find_the_gradients(heads, N, D, causal):
    arrays = inputs(heads, N, D)
    known = exact(*arrays, causal)
    assert np.all(abs(gradients(*arrays, causal) - known) <= 1e-5 * abs(known).max())


@pytest.mark.parametrize("causal", (False, True))
def test_nothing_of_the_size_of_the_scores_is_touched(causal):
    heads, N, D = 1, 64, 16
    Q, K, V, dO = inputs(heads, N, D)
    S = (Q.astype(float) @ K.transpose(0, 2, 1)) / 4
    S = np.where(np.tri(N, dtype=bool), S, -np.inf) if causal else S
    lse = np.log(np.exp(S).sum(axis=2)).astype(np.float32)
    delta = (dO * forward.exact(Q, K, V, causal)).sum(axis=2).astype(np.float32)
    known = exact(Q, K, V, dO, causal)
    for make, names, own in (
        (backward.make_backward_queries, ("dQ",), "Q"),
        (backward.make_backward_keys, ("dK", "dV"), "K"),
    ):
        results = [np.full(Q.shape, np.nan, np.float32) for _ in names]
        seen = lab.trace(
            make(D, causal), forward.launch(heads, N, backward.OWN), (32, backward.OWN),
            Q, K, V, dO, lse, delta, *results, np.float32(0.25),
        )  # fmt: skip
        assert seen.problems == []
        for name in names:
            assert np.allclose(seen.outputs[name], known["QKV".index(name[1])], rtol=0, atol=1e-4)
        assert seen.work.bytes_unique == 4 * N * ((4 + len(names)) * D + 2)
        assert seen.count(array=own)["lanes"] == N * D  # a block's own rows, once


def test_shared_rows_cause_no_conflicts():
    Q, K, V, dO = inputs(1, 32, 64)
    lse = delta = np.zeros((1, 32), np.float32)
    seen = lab.trace(
        backward.make_backward_queries(64, False), (4, 1), (32, backward.OWN),
        Q, K, V, dO, lse, delta, np.full(Q.shape, np.nan, np.float32), np.float32(0.125),
    )  # fmt: skip
    assert seen.count(space="shared")["conflicts"] == 0


@pytest.mark.parametrize(
    "change, error, message",
    [
        ({"dO": np.zeros((1, 4, 17), np.float32)}, ValueError,
         "^Q is 1×4×16 of float32, K 1×4×16 of float32, V 1×4×16 of float32 and dO 1×4×17 of"),
        ({"dO": np.zeros((4, 16), np.float32)}, ValueError, "^dO has shape"),
        (dict.fromkeys("QKV", np.zeros((1, 4, 64), np.float16)), TypeError,
         "^Q holds float16; gradients are of float32: convert it$"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_in_one_line(change, error, message):
    given = dict(zip(("Q", "K", "V", "dO"), inputs(1, 4, 16), strict=True)) | change
    with pytest.raises(error, match=message):
        gradients(**given)
