"""Softmax and fused attention on the GPU: both languages, all formats, odd lengths, strides."""

import numpy as np
import pytest

from kernels import cupy
from kernels.engine.device import device
from kernels.host import half
from kernels.primitives import attention as fused
from kernels.primitives import softmax
from tests.gpu.test_rungs import on_device
from tests.primitives.test_attention_cpp import UNITS, inputs
from tests.primitives.test_softmax import SHAPES, exact, rows

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
