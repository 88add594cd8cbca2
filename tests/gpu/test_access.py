"""The kernels of the chapter on memory access on the GPU: both languages, odd sizes, strides."""

import numpy as np
import pytest

from kernels import cupy
from kernels.patterns.transpose import VERSIONS, transpose
from tests.gpu.test_rungs import on_device
from tests.rungs.cases import SIZES, strided_inputs

pytestmark = pytest.mark.gpu
ENGINES = ("numba", "cpp")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("version", VERSIONS)
def test_transpose_of_all_shapes(version, engine):
    for M in SIZES:
        for N in SIZES:
            A = cupy.random.default_rng(M).standard_normal((M, N), dtype=np.float32)
            B = cupy.full((N, M), np.nan, np.float32)
            assert transpose(A, out=B, engine=engine, version=version) is B
            assert bool((B == A.T).all()), (M, N)
            B.fill(np.nan)
            VERSIONS[version].launcher(A, B, engine)()
            assert bool((B == A.T).all()), (M, N)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("version", VERSIONS)
def test_transpose_of_any_strides(version, engine):
    for case, A, _, _ in strided_inputs(33, 47, 61):
        B = transpose(on_device(A), engine=engine, version=version)
        assert np.array_equal(cupy.asnumpy(B), A.T), case
        assert np.array_equal(transpose(A, engine=engine, version=version), A.T), case
