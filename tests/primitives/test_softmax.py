"""Softmax of rows: right at any shape, counted as predicted, and safe from overflow."""

import numpy as np
import pytest

from kernels import cupy, lab
from kernels.primitives.softmax import VERSIONS, Registers, error_bound, softmax
from tests.rungs.cases import strided_inputs

SHORT = ((1, 1), (9, 31), (2, 257), (5, 1000), (3, 1024), (300, 3))
SHAPES = ((1, 1), (3, 31), (2, 257), (5, 1000), (2, 4097), (300, 3))


def exact(A):
    A = np.asarray(A, np.float64)
    P = np.exp(A - A.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True)


def rows(M, N, spread=4.0, seed=0):
    return spread * np.random.default_rng(seed).standard_normal((M, N), dtype=np.float32)


@pytest.mark.parametrize("version", VERSIONS)
def test_it_is_right_and_moves_what_its_model_says(version):
    chosen = VERSIONS[version]
    for M, N in SHAPES:
        A, P = rows(M, N, spread=20), np.full((M, N), np.nan, np.float32)
        trace = lab.trace(chosen.kernel, *chosen.launch(M, N), A, P)
        assert trace.problems == []
        assert np.all(abs(trace.outputs["P"] - exact(A)) <= error_bound(A)), (M, N)
        model = chosen.model(M, N)
        for name in "AP":
            seen = trace.count(array=name)
            assert seen["lanes"] == {**model.loads, **model.stores}[name]
            assert (seen["requests"], seen["sectors"]) == (
                model.requests[name], model.sectors[name]
            ), (M, N, name)  # fmt: skip


@pytest.mark.parametrize("M, N", SHORT)
def test_a_short_row_is_loaded_once(M, N):
    chosen, A = Registers(N), rows(M, N, spread=20)
    trace = lab.trace(chosen.kernel, *chosen.launch(M, N), A, np.full((M, N), np.nan, np.float32))
    assert trace.problems == []
    assert np.all(abs(trace.outputs["P"] - exact(A)) <= error_bound(A))
    model = chosen.model(M, N)
    for name in "AP":
        seen = trace.count(array=name)
        assert seen["lanes"] == M * N
        assert (seen["requests"], seen["sectors"]) == (model.requests[name], model.sectors[name])
    assert trace.barriers == {} and trace.count(space="shared")["requests"] == 0


def test_hidden_elements_of_a_short_row_do_no_harm():
    A = rows(2, 300)
    A[0] += 3e4
    A[1, ::2] = -np.inf
    P = softmax(A, version="registers")
    assert np.all(abs(P - exact(A)) <= error_bound(A)) and np.all(P[1, ::2] == 0)


@pytest.mark.parametrize("N", (0, 1025))
def test_a_row_that_does_not_fit_is_refused_in_one_line(N):
    with pytest.raises(ValueError, match=f"^rows of {N} elements do not fit in a warp's registers"):
        Registers(N)


@pytest.mark.parametrize("schedule", ("warps", "warps-reversed"))
@pytest.mark.parametrize("version", VERSIONS)
def test_any_order_of_warps_gives_the_same(version, schedule):
    chosen, A = VERSIONS[version], rows(2, 700)
    P = np.full(A.shape, np.nan, np.float32)
    trace = lab.trace(chosen.kernel, *chosen.launch(2, 700), A, P, schedule=schedule)
    assert trace.problems == []
    assert np.all(abs(trace.outputs["P"] - exact(A)) <= error_bound(A))


@pytest.mark.parametrize("version", VERSIONS)
def test_large_and_hidden_elements_do_no_harm(version):
    A = rows(4, 300)
    A[0] += 3e4  # exp of these would overflow
    A[1] -= 3e4  # and of these vanish
    A[2, ::2] = -np.inf
    A[3, 17] = np.nan
    P = softmax(A, version=version)
    assert np.all(abs(P[:3] - exact(A[:3])) <= error_bound(A[:3]))
    assert np.all(P[2, ::2] == 0)
    assert np.all(np.isnan(P[3]))


@pytest.mark.parametrize("version", VERSIONS)
def test_it_takes_any_strides(version):
    for case, A, _, _ in strided_inputs(17, 23, 37):
        out = np.full((2 * A.shape[0], A.shape[1]), np.nan, np.float32)[::2]
        assert softmax(A, out=out, version=version) is out
        assert np.all(abs(out - exact(A)) <= error_bound(A)), case


def test_the_bound_refuses_a_sum_that_lacks_an_element():
    A = rows(3, 257)
    wrong = np.exp(exact(A) * 0 + A - A.max(axis=1, keepdims=True))
    wrong /= wrong[:, 1:].sum(axis=1, keepdims=True)
    assert np.any(abs(wrong - exact(A)) > error_bound(A))


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        (dict(A=[1]), TypeError,
         "A must be an array, got list: use np.asarray(A, dtype=np.float32)"),
        (dict(A=np.zeros((2, 3))), TypeError,
         "A holds float64; expected float32: use A.astype(np.float32)"),
        (dict(A=np.zeros(3, np.float32)), ValueError, "A has shape (3,); expected 2 dimensions"),
        (dict(A=np.zeros((2, 0), np.float32)), ValueError,
         "A has shape (2, 0); every size must be at least 1"),
        (dict(A=rows(2, 3), version="fast"), ValueError,
         "no softmax 'fast': use one of safe, online"),
        (dict(A=rows(2, 3), out=rows(3, 2)), ValueError,
         "out has shape (3, 2); the result has (2, 3)"),
        (dict(A=rows(2, 3), engine="cpp"), RuntimeError, "engine 'cpp' needs an NVIDIA GPU"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_in_one_line(arguments, error, message):
    with pytest.raises(error) as raised:
        softmax(**arguments)
    assert str(raised.value).startswith(message) and "\n" not in str(raised.value)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_prepared_launch_computes_anew(version):
    A = cupy.asarray(rows(5, 70))
    P = cupy.full((5, 70), np.nan, np.float32)
    launch = VERSIONS[version].launcher(A, P)
    launch()
    A[...] = cupy.asarray(rows(5, 70, seed=1))
    launch()
    A = cupy.asnumpy(A)
    assert np.all(abs(cupy.asnumpy(P) - exact(A)) <= error_bound(A))
