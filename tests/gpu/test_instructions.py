"""Instructions that no rung calls, on the GPU: what the interpreter is asked of them, too."""

import numpy as np
import pytest

from kernels import cupy
from kernels.backend.device import device
from kernels.measure.anywhere import launch
from tests.microscope.ptx import test_arithmetic, test_clusters

pytestmark = pytest.mark.gpu


def test_arithmetic_gives_what_numpy_gives():
    if device().compute_capability < (8, 0):
        pytest.skip("redux.sync needs sm_80")
    arrays = [cupy.asarray(array) for array in test_arithmetic.given()]
    launch(test_arithmetic.worked_out, 1, 32, *arrays)
    test_arithmetic.check(*map(cupy.asnumpy, arrays))


def test_a_stack_of_matrices_moves():
    if device().compute_capability < (9, 0):
        pytest.skip("clusters need sm_90")
    arguments, found, expected = test_clusters.stack(cupy.asarray)
    launch(test_clusters.stacked, 2, 64, *arguments)
    for got, right in zip(found, expected, strict=True):
        np.testing.assert_array_equal(cupy.asnumpy(got), right)
