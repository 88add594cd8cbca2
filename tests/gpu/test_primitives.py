"""The kernels of other computations on the GPU: both languages, odd lengths, strides."""

import numpy as np
import pytest

from kernels import cupy
from kernels.primitives import reduction
from tests.gpu.test_rungs import on_device
from tests.primitives import test_reduction

pytestmark = pytest.mark.gpu
ENGINES = ("numba", "cpp")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("version", reduction.VERSIONS)
def test_sums(version, engine):
    chosen = reduction.VERSIONS[version]
    for n in (*test_reduction.LENGTHS, 2**20 - 1, 2**24 + 5):
        a = test_reduction.vector(n)
        resident, out = cupy.asarray(a), cupy.full(1, np.nan, np.float32)
        (got,) = cupy.asnumpy(reduction.total(resident, engine=engine, version=version))
        assert abs(got - a.sum(dtype=np.float64)) <= test_reduction.bound(version, a), n
        chosen.launcher(resident, out, engine)()
        assert cupy.asnumpy(out) == [got], n
    for case in (a[1::2], a[::-1], a[1:]):
        expected = case.sum(dtype=np.float64)
        (got,) = cupy.asnumpy(reduction.total(on_device(case), engine=engine, version=version))
        assert abs(got - expected) <= test_reduction.bound(version, case)
