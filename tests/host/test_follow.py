"""Launches that follow each other closely, given to a driver that only takes notes."""

import ctypes
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest

from kernels import on_gpu
from kernels.host import follow
from kernels.host.follow import follower, prepared

pytestmark = pytest.mark.skipif(
    on_gpu or not find_spec("cuda"), reason="about machines with CUDA's packages and no GPU"
)


@pytest.fixture
def launches(monkeypatch):
    """What the driver is asked to launch; `status` is its answer."""
    from cuda.bindings import driver

    noted = SimpleNamespace(calls=[], status=driver.CUresult.CUDA_SUCCESS, stream=7)

    def launch(config, function, parameters, extra):
        if config.numAttrs:
            (told,) = config.attrs
            assert "PROGRAMMATIC_STREAM_SERIALIZATION" in told.id.name
            assert told.value.programmaticStreamSerializationAllowed == 1
        noted.calls.append((config, int(function), parameters, int(config.hStream)))
        return (noted.status,)

    streams = SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=noted.stream))
    monkeypatch.setattr(driver, "cuLaunchKernelEx", launch)
    monkeypatch.setattr(follow, "cupy", SimpleNamespace(ndarray=Resident, cuda=streams))
    return noted


class Resident:
    """An array that knows its address."""

    data = SimpleNamespace(ptr=0x7F0000001000)


KERNEL = SimpleNamespace(kernel=SimpleNamespace(ptr=4096), name="product")


@pytest.mark.parametrize("way", [follower, prepared])
def test_the_driver_finds_every_argument_where_it_is_told_to_look(launches, way):
    encoded = np.arange(16, dtype=np.uint64).view("V128")
    launch = way(KERNEL, (6,), (384,), (encoded, Resident(), np.int32(-5)), 1024)
    launch()
    config, function, parameters, stream = launches.calls[0]
    assert (config.gridDimX, config.gridDimY, config.gridDimZ) == (6, 1, 1)
    assert (config.blockDimX, config.blockDimY, config.blockDimZ) == (384, 1, 1)
    assert (config.sharedMemBytes, function, stream) == (1024, 4096, 7)
    assert config.numAttrs == (way is follower)
    at = (ctypes.c_uint64 * 3).from_address(parameters)
    assert ctypes.string_at(at[0], 128) == encoded.tobytes()
    assert ctypes.c_uint64.from_address(at[1]).value == 0x7F0000001000
    assert ctypes.c_int32.from_address(at[2]).value == -5


def test_each_launch_goes_to_the_stream_of_its_moment(launches):
    launch = follower(KERNEL, (2, 3), (32, 4), ())
    launch()
    launches.stream = 8
    launch()
    assert [stream for *_, stream in launches.calls] == [7, 8]


def test_a_launch_that_fails_says_why(launches):
    from cuda.bindings import driver

    launches.status = driver.CUresult.CUDA_ERROR_INVALID_VALUE
    with pytest.raises(RuntimeError, match=r"^product was not launched \(CUDA_ERROR_INVALID_VALUE"):
        follower(KERNEL, (1,), (1,), ())()
