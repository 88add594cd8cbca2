"""The stand-in for CuPy keeps host and device apart, as CuPy does."""

import numpy as np
import pytest

from kernels.backend import cupy_stand_in as cupy


def test_copies_in_and_out():
    host = np.arange(6, dtype=np.float32).reshape(2, 3)
    device = cupy.asarray(host)
    assert isinstance(device, cupy.ndarray) and cupy.asarray(device) is device
    device += 1
    assert host[0, 0] == 0
    back = cupy.asnumpy(device)
    assert type(back) is np.ndarray and back[1, 2] == 6
    back[:] = 0
    assert device.get()[1, 2] == 6 and type(device.get()) is np.ndarray
    device.set(host)
    assert np.array_equal(cupy.asnumpy(device), host)


def test_arrays_made_on_the_device_stay_there():
    for array in (
        cupy.zeros((2, 3), cupy.float32),
        cupy.ones(4),
        cupy.full((2, 2), np.nan, np.float32),
        cupy.arange(5) * 2,
        cupy.zeros((3, 4)).T[1:],
        cupy.ones((2, 3)) @ cupy.ones((3, 2)),
        cupy.matmul(cupy.ones((2, 3)), cupy.ones((3, 2))),
        cupy.random.default_rng(0).standard_normal((2, 3), dtype=np.float32),
        cupy.ascontiguousarray(cupy.ones((2, 3)).T),
    ):
        assert isinstance(array, cupy.ndarray)


def test_it_prints_like_numpy():
    assert repr(cupy.arange(3)) == "array([0, 1, 2])"


def test_order_and_type_are_kept():
    host = np.asfortranarray(np.ones((3, 4), np.float32))
    assert cupy.asarray(host).flags.f_contiguous
    assert cupy.asarray(host, dtype=np.float64).dtype == np.float64


def test_what_only_a_gpu_can_do_says_so():
    for name in ("RawKernel", "RawModule", "cuda"):
        with pytest.raises(
            RuntimeError, match=f"^cupy.{name} needs an NVIDIA GPU; .* interpreter$"
        ):
            getattr(cupy, name)
    with pytest.raises(AttributeError, match="the CPU stand-in for CuPy has no 'fuse'"):
        cupy.fuse  # noqa: B018
