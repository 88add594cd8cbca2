"""Softmax and fused attention on the GPU: both languages, all formats, odd lengths, strides."""

import math

import numpy as np
import pytest

from kernels import cupy
from kernels.backend.device import device
from kernels.host import half
from kernels.primitives import attention as fused
from kernels.primitives import attention_backward as backward
from kernels.primitives import attention_decode as decoding
from kernels.primitives import attention_mma as ampere
from kernels.primitives import softmax
from tests.gpu.test_rungs import on_device
from tests.primitives.test_attention_wgmma import UNITS, inputs
from tests.primitives.test_softmax import SHAPES, SHORT, exact, rows

pytestmark = pytest.mark.gpu
ENGINES = ("numba", "cpp")
TILES = (
    {}, {"wgmma": 0}, {"tall": 1}, {"tall": 1, "warps": 8}, {"tall": 1, "keys": 128},
    {"tall": 1, "warps": 8, "keys": 128},
)  # fmt: skip
LENGTHS = (1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129, 500, 1025)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("version", softmax.VERSIONS)
def test_softmax_of_all_shapes(version, engine):
    for M, N in (*SHAPES, (70_000, 5), (7, 100_003)):
        A = rows(M, N)
        found = softmax.softmax(on_device(A), engine=engine, version=version)
        assert np.all(abs(cupy.asnumpy(found) - exact(A)) <= softmax.error_bound(A)), (M, N)
    A = rows(64, 66)[::2, ::-1]
    found = softmax.softmax(on_device(A), engine=engine, version=version)
    assert np.all(abs(cupy.asnumpy(found) - exact(A)) <= softmax.error_bound(A))


@pytest.mark.parametrize("engine", ENGINES)
def test_softmax_of_short_rows(engine):
    for M, N in (*SHORT, (70_000, 5), (4099, 512)):
        A = rows(M, N)
        found = softmax.softmax(on_device(A), engine=engine, version="registers")
        assert np.all(abs(cupy.asnumpy(found) - exact(A)) <= softmax.error_bound(A)), (M, N)


def check(given, causal, engine, unit=0.0, **tiles):
    found = fused.attention(*map(on_device, given), causal=causal, engine=engine, **tiles)
    known = [half.floats(x) for x in given]
    off = abs(half.floats(cupy.asnumpy(found)) - fused.exact(*known, causal))
    bound = fused.error_bound(*known, causal, unit=unit)
    assert np.all(off <= bound), (given[0].shape, causal, tiles)


@pytest.mark.parametrize("causal", (False, True))
@pytest.mark.parametrize("D", (16, 40, 64, 127, 128))
def test_attention_in_numba(D, causal):
    for N in LENGTHS:
        check(inputs(2, N, D, "float32"), causal, "numba")


@pytest.mark.parametrize("tiles", TILES, ids=str)
@pytest.mark.parametrize("dtype", UNITS)
@pytest.mark.parametrize("causal", (False, True))
@pytest.mark.parametrize("D", (64, 128))
def test_attention_on_tensor_cores(D, causal, dtype, tiles):
    if device().compute_capability < fused.NEEDS:
        pytest.skip("needs tensor cores from Ampere on")
    for N in LENGTHS:
        check(inputs(2, N, D, dtype), causal, "cpp", UNITS[dtype], **tiles)
    # Hopper's kernel takes heads in groups of four.
    check(inputs(7, 300, D, dtype), causal, "cpp", UNITS[dtype], **tiles)
    # An odd address, strides, and many heads.
    Q, K, V = inputs(3, 130, D, dtype)
    check([x[1:, ::2] for x in (Q, K, V)], causal, "cpp", UNITS[dtype], **tiles)
    shifted = cupy.empty(Q.size + 1, Q.dtype)[1:].reshape(Q.shape)
    known = [half.floats(x) for x in (Q, K, V)]
    fused.attention(*map(cupy.asarray, (Q, K, V)), out=shifted, causal=causal, engine="cpp")
    off = abs(half.floats(cupy.asnumpy(shifted)) - fused.exact(*known, causal))
    assert np.all(off <= fused.error_bound(*known, causal, unit=UNITS[dtype]))


@pytest.mark.parametrize("causal", (False, True))
def test_heads_of_queries_share_one_of_keys(causal):
    Q, K, V = inputs(6, 130, 64, "float32")
    check((Q, K[:2], V[:2]), causal, "numba")


@pytest.mark.parametrize("dtype", UNITS)
@pytest.mark.parametrize("D, causal", [(64, False), (128, True)])
def test_attention_in_numba_with_mma(D, causal, dtype):
    if device().compute_capability < fused.NEEDS:
        pytest.skip("needs tensor cores from Ampere on")
    kernel, heads = ampere.make_attention_mma(D, causal, dtype), 3
    for N in LENGTHS:
        given = inputs(heads, N, D, dtype)
        Q, K, V = (cupy.asarray(x).reshape(-1, D) for x in given)
        out, scale = cupy.zeros_like(Q), np.float32(math.log2(math.e) / math.sqrt(D))
        grid = fused.launch(heads, N, ampere.QUERIES)
        stream, shared = 0, ampere.shared_bytes_of(D)
        kernel[grid, ampere.THREADS, stream, shared](Q, K, V, out, np.int32(N), scale)
        known = [half.floats(x) for x in given]
        off = abs(
            half.floats(cupy.asnumpy(out)).reshape(given[0].shape) - fused.exact(*known, causal)
        )
        assert np.all(off <= fused.error_bound(*known, causal, unit=UNITS[dtype])), N


@pytest.mark.parametrize("splits", (1, 5, 64))
def test_decoding(splits):
    random = np.random.default_rng(splits)
    for heads, kv_heads, N, D in ((8, 1, 77, 100), (32, 8, 4097, 128)):
        shapes = (heads, D), (kv_heads, N, D), (kv_heads, N, D)
        given = [random.standard_normal(shape, dtype=np.float32) for shape in shapes]
        found = decoding.attend(*map(cupy.asarray, given), splits=splits)
        assert np.allclose(cupy.asnumpy(found), decoding.truth(*given), rtol=0, atol=5e-6)


@pytest.mark.parametrize("causal", (False, True))
def test_gradients(causal):
    for heads, N, D in ((1, 1, 16), (3, 300, 128), (2, 513, 64)):
        Q, K, V = inputs(heads, N, D, "float32")
        given = Q, K, V, Q
        known = backward.exact(*given, causal)
        found = cupy.asnumpy(backward.gradients(*map(cupy.asarray, given), causal))
        assert np.all(abs(found - known) <= 1e-5 * abs(known).max())
