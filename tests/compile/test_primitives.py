"""The kernels of other computations compile for three generations of GPU, without one.

Their C++ files are compiled by `test_compile`, as all are.
"""

from importlib.util import find_spec

import pytest

from kernels.measure.ptx import with_numba
from kernels.primitives import reduction
from tests.compile.test_compile import CAPABILITIES, functions_of

pytestmark = pytest.mark.skipif(
    not (find_spec("cuda") and find_spec("numba_cuda")),
    reason="this platform has no packages of the CUDA compilers",
)

#: By kernel, the dimensions of each of its arrays.
KERNELS = {
    reduction.sum_tree: (1, 1),
    reduction.sum_shuffled: (1, 1),
    reduction.sum_vectorized: (1, 2, 1),
}
#: Kernels that ask for 16 bytes in one instruction.
WIDE = ("sum_vectorized",)


def name_of(kernel) -> str:
    return kernel.py_func.__name__


def test_there_is_a_twin_for_every_kernel():
    twins = [name for stem in ("reduction",) for name in functions_of(stem)]
    assert sorted(twins) == sorted(map(name_of, KERNELS))


@pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda c: "sm_{}{}".format(*c))
@pytest.mark.parametrize("kernel", KERNELS, ids=name_of)
def test_numba(kernel, capability):
    from numba import cuda, types

    arrays = tuple(types.Array(types.float32, ndim, "C") for ndim in KERNELS[kernel])
    ptx, result = cuda.compile_ptx(with_numba(kernel), arrays, cc=capability)
    assert result == types.void
    assert ".f64" not in ptx, "a double hides in float32 arithmetic"
    assert ".local" not in ptx, "what a thread holds is not in registers"
    assert ("shfl.sync" in ptx) == (kernel is not reduction.sum_tree)
    assert ("ld.global.v4.f32" in ptx) == (name_of(kernel) in WIDE)
