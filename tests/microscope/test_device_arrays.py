"""Device arrays offer host code what numba-cuda's do, and no more."""

import numpy as np
import pytest

from microscope import KernelError
from microscope import api as cuda


def test_there_is_no_arithmetic_on_the_host():
    a = cuda.to_device(np.arange(4.0))
    with pytest.raises(TypeError, match="unsupported operand"):
        a + 1
    with pytest.raises(AttributeError, match=r"no \.sum: copy it to the host first"):
        a.sum()
    assert not isinstance(a, np.ndarray) and bool(a)
    assert not cuda.to_device(np.zeros(0))


def test_a_slice_is_a_view_and_the_transposed_matrix_a_copy():
    host = np.arange(6.0).reshape(2, 3)
    a = cuda.to_device(host)
    part, turned = a[1], a.T
    a[1, 2] = 9
    assert part.copy_to_host()[2] == 9 and a[1, 2] == 9
    np.testing.assert_array_equal(turned.copy_to_host(), host.T)
    assert turned.is_c_contiguous() and not turned.is_f_contiguous()
    np.testing.assert_array_equal(a.reshape(3, 2).ravel()[2:4].copy_to_host(), host.ravel()[2:4])


def test_copies_are_of_one_make():
    a = cuda.device_array((2, 3), np.float32)
    with pytest.raises(TypeError, match="incompatible dtype"):
        a.copy_to_device(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="shape"):
        a.copy_to_host(np.zeros((3, 2), np.float32))
    with pytest.raises(ValueError, match="gaps"):
        cuda.to_device(np.zeros((4, 6))[:, ::2])
    with pytest.raises(NotImplementedError, match="backwards"):
        cuda.to_device(np.zeros(4))[::-1].copy_to_host()
    with pytest.raises(NotImplementedError, match="a copy would be needed"):
        cuda.to_device(np.zeros((4, 6)))[:, ::2].ravel()


def test_a_record_gives_its_fields():
    pair = np.dtype([("key", np.int32), ("value", np.float32)], align=True)
    a = cuda.to_device(np.array([(1, 2), (3, 4)], pair))
    assert a[1]["value"] == 4
    a[1]["key"] = 7
    assert a.copy_to_host()["key"].tolist() == [1, 7]


def test_other_libraries_see_the_memory_and_lend_theirs():
    class Foreign:
        def __init__(self, a):
            self.__cuda_array_interface__ = a.__cuda_array_interface__

    a = cuda.to_device(np.arange(6.0))
    b = cuda.as_cuda_array(Foreign(a[::2]))
    a[2] = 8
    assert b.copy_to_host().tolist() == [0, 8, 4]
    with pytest.raises(TypeError, match="is no array on a device"):
        cuda.as_cuda_array(np.zeros(3))


held = cuda.to_device(np.arange(4.0))


@cuda.jit
def takes(out):
    i = cuda.grid(1)
    if i < 4:
        out[i] = held[i]
        held[i] += 1


def test_a_kernel_takes_a_device_array_from_its_globals_as_it_is_then():
    out = np.zeros(4)
    held.copy_to_device(np.arange(4.0))
    takes[1, 4](out)
    assert out.tolist() == [0, 1, 2, 3] and held.copy_to_host().tolist() == [1, 2, 3, 4]
    held.copy_to_device(np.full(4, 9.0))
    takes[1, 4](out)
    assert out.tolist() == [9] * 4


@cuda.jit(debug=True)
def divides(out, x, fails):
    if fails:
        raise ValueError("no")
    out[0] = out[1] / x


def test_an_error_of_a_kernel_is_of_its_own_kind_too():
    for kind, x, fails in ((ZeroDivisionError, 0.0, False), (ValueError, 1.0, True)):
        with pytest.raises(kind) as caught:
            divides[1, 1](np.ones(2), x, fails)
        assert isinstance(caught.value, KernelError)
    divides[1, 1](np.ones(2), 2.0, False)


@cuda.jit
def extremes(cells, values):
    i = cuda.threadIdx.x
    cuda.atomic.max(cells, 0, values[i])
    cuda.atomic.min(cells, 1, values[i])
    old = cuda.atomic.max(cells, 2, values[i])
    values[i] = old


def test_an_atomic_maximum_leaves_out_what_is_no_number():
    cells = np.array([2.0, 2.0, np.nan])
    extremes[1, 3](cells, np.array([np.nan, 1.0, 5.0]))
    np.testing.assert_array_equal(cells, [5, 1, np.nan])
