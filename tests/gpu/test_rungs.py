"""Every rung, option and engine on the GPU, for all 1000 combinations of sizes."""

import numpy as np
import pytest

from kernels import LADDER, cuda, cupy, lab
from kernels.vector_add import add, vector_add_grid_stride
from tests.rungs import SETTINGS, SHAPES, check_shapes, label, strided_inputs

pytestmark = pytest.mark.gpu
ENGINES = ("numba", "cpp")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("setting", SETTINGS, ids=label)
def test_all_shapes(setting, engine):
    assert check_shapes(setting, engine, SHAPES) == 1000


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("setting", SETTINGS, ids=label)
def test_any_strides(setting, engine):
    name, options = setting
    for case, A, B, C in strided_inputs(33, 47, 61):
        device_A, device_B = on_device(A), on_device(B)
        device_C = on_device(C)
        result = LADDER[name].matmul(device_A, device_B, out=device_C, engine=engine, **options)
        assert result is device_C, case
        lab.check(result, A, B)
        assert LADDER[name].matmul(A, B, out=C, engine=engine, **options) is C, case
        lab.check(C, A, B)


def on_device(array):
    """Return a CuPy array with the strides of `array` (its memory copied whole)."""
    base = array
    while base.base is not None:
        base = base.base
    flat = base.ravel(order="K") if base.flags.forc else base
    offset = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    memory = cupy.asarray(flat.view(np.uint8).reshape(-1))
    pointer = memory.data + offset
    return cupy.ndarray(array.shape, array.dtype, memptr=pointer, strides=array.strides)


@pytest.mark.parametrize("setting", SETTINGS, ids=label)
def test_numba_arrays_stay_on_the_device(setting):
    name, options = setting
    A, B = lab.oracle.inputs(33, 47, 61)
    for engine in ENGINES:
        C = LADDER[name].matmul(cuda.to_device(A), cuda.to_device(B), engine=engine, **options)
        assert cuda.is_cuda_array(C) and not isinstance(C, cupy.ndarray)
        lab.check(C, A, B)


def test_out_may_not_overlap_an_input():
    A = cupy.ones((32, 32), cupy.float32)
    for out in (A, A[::-1], A.T):
        with pytest.raises(ValueError, match="out shares memory with A"):
            LADDER["tiled"].matmul(A, A.copy(), out=out)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n", (1, 31, 255, 256, 257, 100_003))
def test_vector_add(n, engine):
    rng = np.random.default_rng(n)
    a, b = (rng.standard_normal(n, dtype=np.float32) for _ in range(2))
    for block in (1, 100, 256, 1024):
        assert np.array_equal(add(a, b, engine=engine, block=block), a + b)
    c = cupy.full(n, np.nan, np.float32)
    vector_add_grid_stride[3, 100](cupy.asarray(a), cupy.asarray(b), c)
    assert np.array_equal(cupy.asnumpy(c), a + b)


def test_a_full_gpu_is_one_clear_line():
    cols = 4 * lab.device().memory_bytes // (4 * 1024)
    thin = cupy.zeros((1, 1), cupy.float32)
    A, B = cupy.broadcast_to(thin, (1024, 1)), cupy.broadcast_to(thin, (1, cols))
    with pytest.raises(MemoryError, match="GB free: use smaller sizes") as caught:
        LADDER["naive"].matmul(A, B)
    assert "\n" not in str(caught.value)
