"""Products with a vector, and with a few: right for all shapes, counted as predicted."""

import numpy as np
import pytest

from kernels import cupy, lab, on_gpu
from kernels.primitives.matvec import MOST_VECTORS, VERSIONS, Thin, matvec, thin
from tests.primitives.test_reduction import U

SIZES = (1, 2, 3, 7, 8, 9, 31, 33, 128, 130, 260)
THIN = (1, 2, 3, 4, 7, 16)


def operands(N, K, M=None, seed=0):
    rng = np.random.default_rng([seed, N, K, M or 0])
    W = rng.standard_normal((N, K), dtype=np.float32)
    return W, rng.standard_normal((M, K) if M else K, dtype=np.float32)


def off(got, depth, W, X) -> float:
    """The largest error of an element, as a share of its bound."""
    W, X = W.astype(np.float64), X.astype(np.float64)
    bound = depth * U / (1 - depth * U) * (abs(X) @ abs(W).T)
    return float((abs(got - X @ W.T) / bound).max())


@pytest.mark.parametrize("version", VERSIONS)
def test_a_product_is_within_its_bound_for_all_shapes(version):
    for N, K in ((N, K) for N in (1, 2, 7, 9, 33, 257) for K in SIZES):
        W, x = operands(N, K)
        y = np.full(N, np.nan, np.float32)
        assert matvec(W, x, out=y, version=version) is y
        assert off(y, VERSIONS[version].depth(K), W, x) <= 1, (N, K)


@pytest.mark.parametrize("M", THIN)
def test_a_staged_product_is_that_of_each_warp_for_itself(M):
    for N, K in ((1, 1), (33, 5), (37, 513), (70, 1028)):
        W, X = operands(N, K, M)
        assert np.array_equal(thin(W, X, staged=True), thin(W, X)), (N, K)


def test_a_staged_product_loads_x_once_per_block():
    (N, K, M), loads = (64, 1024, 8), {}
    W, X = operands(N, K, M)
    for staged in (False, True):
        chosen, Y = Thin(M, staged), np.full((M, N), np.nan, np.float32)
        seen = lab.trace(chosen.kernel, *chosen.launch(N), W, X, Y)
        assert seen.problems == []
        loads[staged] = seen.count(array="X")["lanes"]
        assert seen.count(array="X")["sectors"] == chosen.model(N, K).sectors["x"]
    assert loads[False] == 8 * loads[True]


@pytest.mark.parametrize("M", THIN)
def test_a_thin_product_is_within_its_bound(M):
    for N, K in ((1, 1), (1, 130), (33, 5), (37, 128), (70, 260)):
        W, X = operands(N, K, M)
        Y = np.full((M, N), np.nan, np.float32)
        assert thin(W, X, out=Y) is Y
        assert off(Y, Thin(M).depth(K), W, X) <= 1, (N, K)


def test_the_bound_of_a_warp_tells_it_from_a_loop():
    """A product beside which each of the others is rounded away, if they come one by one."""
    W, x = np.full((1, 5000), U, np.float32), np.ones(5000, np.float32)
    W[0, 0] = 1
    results = {version: matvec(W, x, version=version) for version in VERSIONS}
    for version in ("per_warp", "vectorized"):
        assert off(results[version], VERSIONS[version].depth(5000), W, x) <= 1
        assert off(results["per_thread"], VERSIONS[version].depth(5000), W, x) > 1


@pytest.mark.parametrize("N, K", ((1, 1), (8, 32), (33, 70), (70, 128), (40, 260), (257, 12)))
@pytest.mark.parametrize("version", VERSIONS)
def test_a_product_moves_what_its_model_says(version, N, K):
    chosen, (W, x) = VERSIONS[version], operands(N, K)
    y = np.full(N, np.nan, np.float32)
    trace = lab.trace(
        chosen.kernel, *chosen.launch(N), W, x.reshape(1, -1) if chosen.vector == 4 else x, y
    )
    assert trace.problems == []
    assert off(trace.outputs["y"], chosen.depth(K), W, x) <= 1
    check_counts(trace, chosen.model(N, K), {"W": "W", "x": "X" if chosen.vector == 4 else "x",
                                             "y": "y"}, chosen.vector)  # fmt: skip


@pytest.mark.parametrize("N, K", ((1, 4), (37, 128), (64, 260), (9, 7)))
@pytest.mark.parametrize("M", THIN)
def test_a_thin_product_moves_what_its_model_says(M, N, K):
    W, X = operands(N, K, M)
    trace = lab.trace(Thin(M).kernel, *Thin(M).launch(N), W, X, np.full((M, N), np.nan, np.float32))
    assert trace.problems == []
    assert off(trace.outputs["Y"], Thin(M).depth(K), W, X) <= 1
    check_counts(trace, Thin(M).model(N, K), {"W": "W", "x": "X", "y": "Y"}, 4)


def check_counts(trace, model, names, vector):
    """Compare what the tracer counted with the model, where the model predicts it."""
    for ours, name in names.items():
        seen, access = trace.count(array=name), (model.reads | model.writes)[ours]
        if access.requests is None:
            continue
        assert seen["lanes"] * (1 if ours == "y" else vector) == access.elements, name
        assert (seen["requests"], seen["sectors"]) == (access.requests, access.sectors), name


def test_a_warp_per_row_reads_an_eighth_of_the_sectors():
    W, x = operands(64, 256)
    sectors = {
        version: VERSIONS[version].model(64, 256).sectors["W"]
        for version in ("per_thread", "per_warp")
    }
    assert sectors == {"per_thread": 64 * 256, "per_warp": 64 * 256 // 8}
    # And the tracer agrees, by the test above; W itself is loaded once by either.
    assert VERSIONS["per_thread"].model(64, 256).loads["W"] == W.size


@pytest.mark.parametrize("version", VERSIONS)
def test_a_product_of_any_strides(version):
    W, x = operands(33, 70)
    want = matvec(W, x, version=version)
    wide = np.full((66, 210), np.nan, np.float32)
    wide[::2, ::3] = W
    for case in (np.asfortranarray(W), wide[::2, ::3], W[::-1].copy()[::-1]):
        out = np.full(66, np.nan, np.float32)[::2]
        assert matvec(case, x, out=out, version=version) is out
        assert np.array_equal(out, want)
        assert np.array_equal(thin(case, x[None]), thin(W, x[None]))
    assert np.array_equal(matvec(W, np.repeat(x, 2)[::2], version=version), want)


def test_a_product_stays_where_its_matrix_is():
    W, x = operands(5, 8)
    assert type(matvec(W, x)) is np.ndarray
    on_device = matvec(cupy.asarray(W), cupy.asarray(x))
    assert isinstance(on_device, cupy.ndarray)
    y, Y = cupy.full(5, np.nan, np.float32), cupy.full((1, 5), np.nan, np.float32)
    VERSIONS["vectorized"].launcher(cupy.asarray(W), cupy.asarray(x), y)()
    Thin(1).launcher(cupy.asarray(W), cupy.asarray(x[None]), Y)()
    assert np.array_equal(cupy.asnumpy(y), cupy.asnumpy(on_device))
    assert np.array_equal(cupy.asnumpy(Y[0]), cupy.asnumpy(on_device))


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda W, x: matvec(W, x, version="fast"), ValueError,
         "^no product 'fast': use one of per_thread, per_warp, vectorized$"),
        (lambda W, x: matvec(W, x[:7]), ValueError,
         "^W is 5×8 and x has 7 elements: x must have as many as W has columns$"),
        (lambda W, x: matvec(W, x[None]), ValueError, r"^x has shape \(1, 8\); expected 1 dim"),
        (lambda W, x: matvec(W[:0], x), ValueError, r"^W has shape \(0, 8\); every size must be"),
        (lambda W, x: matvec(W.astype(np.float16), x), TypeError, "^W holds float16; expected fl"),
        (lambda W, x: thin(W, x[None, :7]), ValueError,
         "^W is 5×8 and X is 1×7: X must have as many columns as W$"),
        (lambda W, x: thin(W, np.ones((MOST_VECTORS + 1, 8), np.float32)), ValueError,
         r"^X has 17 rows; the thin product takes 16 at most: use kernels.matmul\(X, W.T\)$"),
        (lambda W, x: VERSIONS["per_warp"].launcher(W, x, x), TypeError, "^W is a ndarray; expe"),
        (lambda W, x: matvec(W, x, engine="cuda"), ValueError, "^unknown engine 'cuda': use 'num"),
    ],
)  # fmt: skip
def test_what_a_product_refuses(call, error, message):
    with pytest.raises(error, match=message):
        call(*operands(5, 8))


@pytest.mark.skipif(on_gpu, reason="the C++ twins run on this machine's GPU")
def test_without_a_gpu_the_twin_says_so():
    W, x = operands(5, 8)
    for call in (lambda: matvec(W, x, engine="cpp"), lambda: thin(W, x[None], engine="cpp")):
        with pytest.raises(RuntimeError, match=r"^engine 'cpp' needs an NVIDIA GPU \(.*use eng"):
            call()
