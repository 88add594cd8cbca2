"""Prepared launches of both languages, given to a driver that only takes notes."""

import ctypes
import struct
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest

from kernels import on_gpu
from kernels.host import follow, movable
from kernels.host.follow import follower, prepared
from kernels.host.movable import Movable, prepared_and_launched

pytestmark = pytest.mark.skipif(
    on_gpu or not find_spec("cuda"), reason="about machines with CUDA's packages and no GPU"
)


@pytest.fixture
def launches(monkeypatch):
    """What the driver is asked to launch; `status` is its answer."""
    from cuda.bindings import driver

    noted = SimpleNamespace(calls=[], status=driver.CUresult.CUDA_SUCCESS, stream=7)

    def close(config, function, parameters, extra):
        (told,) = config.attrs
        assert config.numAttrs == 1 and "PROGRAMMATIC_STREAM_SERIALIZATION" in told.id.name
        assert told.value.programmaticStreamSerializationAllowed == 1
        grid = config.gridDimX, config.gridDimY, config.gridDimZ
        block = config.blockDimX, config.blockDimY, config.blockDimZ
        asked = int(function), grid, block, config.sharedMemBytes, int(config.hStream)
        noted.calls.append((*asked, (parameters, extra), follower))
        return (noted.status,)

    def plain(function, gx, gy, gz, bx, by, bz, shared_bytes, stream, parameters, extra):
        asked = function, (gx, gy, gz), (bx, by, bz), shared_bytes, stream
        noted.calls.append((*asked, (parameters, extra), prepared))
        if noted.status:
            raise RuntimeError(f"{noted.status.name}: invalid argument")

    streams = SimpleNamespace(
        get_current_stream=lambda: SimpleNamespace(ptr=noted.stream),
        Device=lambda: SimpleNamespace(id=0),
        driver=SimpleNamespace(launchKernel=plain),
    )
    monkeypatch.setattr(driver, "cuLaunchKernelEx", close)
    monkeypatch.setattr(follow, "cupy", SimpleNamespace(ndarray=Resident, cuda=streams))
    return noted


def given(call, sizes) -> bytes:
    """The arguments of a launch, of so many bytes each, where it says that they lie."""
    parameters, extra = call[-2]
    assert extra == 0
    at = (ctypes.c_uint64 * len(sizes)).from_address(parameters)
    return b"".join(map(ctypes.string_at, at, sizes))


class Resident:
    """An array that knows its address."""

    data = SimpleNamespace(ptr=0x7F0000001000)


KERNEL = SimpleNamespace(kernel=SimpleNamespace(ptr=4096), name="product")


@pytest.mark.parametrize("way", [follower, prepared])
def test_the_driver_finds_every_argument_where_it_is_told_to_look(launches, way):
    encoded = np.arange(16, dtype=np.uint64).view("V128")
    launch = way(KERNEL, (6,), (384,), (encoded, Resident(), np.int32(-5)), 1024)
    launch()
    *asked, _, how = launches.calls[0]
    assert asked == [4096, (6, 1, 1), (384, 1, 1), 1024, 7] and how is way
    told = given(launches.calls[0], (128, 8, 4))
    assert told[:128] == encoded.tobytes()
    assert struct.unpack("Qi", told[128:]) == (0x7F0000001000, -5)


class OfNumba:
    """A kernel of Numba; arrays that are given to it know what the driver has to be told."""

    __name__ = "product"
    typeof_pyval = staticmethod(type)

    def __init__(self):
        handle = SimpleNamespace(handle=8192)
        self.compiled = SimpleNamespace(_codelibrary=SimpleNamespace(get_cufunc=lambda: handle))

    def py_func(self):
        raise AssertionError("the driver runs it, nobody else")

    def compile(self, types):
        self.types = types
        return self.compiled


class Matrix(Resident):
    shape, strides, size, dtype, itemsize, ndim = (3, 5), (40, 4), 15, np.dtype(np.float32), 4, 2
    flags = SimpleNamespace(c_contiguous=False, f_contiguous=False)
    data = SimpleNamespace(ptr=0x7F0000002000)


@pytest.mark.parametrize("shared_bytes", [0, 200_000])
def test_a_numba_kernel_finds_each_argument_as_it_takes_it(launches, monkeypatch, shared_bytes):
    from cuda.bindings import driver

    def told(most, nbytes, kernel, device):
        launches.told = most.name, nbytes, int(kernel)
        return (launches.status,)

    launches.told = None
    monkeypatch.setattr(follow, "on_gpu", True)
    monkeypatch.setattr(follow, "cuda", SimpleNamespace(as_cuda_array=lambda array: array))
    monkeypatch.setattr(driver, "cuKernelSetAttribute", told)
    kernel = OfNumba()
    arguments = Matrix(), np.int32(-5), np.float32(1.5)
    launch = prepared(kernel, (2, 3), (32, 8), arguments, shared_bytes)
    launch()
    assert kernel.types == (Matrix, np.int32, np.float32)
    *asked, _, _ = launches.calls[0]
    assert asked == [8192, (2, 3, 1), (32, 8, 1), shared_bytes, 7]
    most = "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES"
    assert launches.told == ((most, shared_bytes, 8192) if shared_bytes else None)
    *array, whole, number = struct.unpack("9qif", given(launches.calls[0], [8] * 9 + [4, 4]))
    assert array == [0, 0, 15, 4, 0x7F0000002000, 3, 5, 40, 4] and (whole, number) == (-5, 1.5)


@pytest.mark.parametrize("way", [follower, prepared])
def test_each_launch_goes_to_the_stream_of_its_moment(launches, way):
    launch = way(KERNEL, (2, 3), (32, 4), ())
    launch()
    launches.stream = 8
    launch()
    assert [call[4] for call in launches.calls] == [7, 8]


@pytest.mark.parametrize("way", [follower, prepared])
def test_a_launch_that_fails_says_why(launches, way):
    from cuda.bindings import driver

    launches.status = driver.CUresult.CUDA_ERROR_INVALID_VALUE
    with pytest.raises(RuntimeError, match=r"^product was not launched \(CUDA_ERROR_INVALID_VALUE"):
        way(KERNEL, (1,), (1,), ())()


# ------------------------------------------------------------------------------ elsewhere


class Block(Resident):
    """An array of some bytes at an address."""

    flags = SimpleNamespace(c_contiguous=True, f_contiguous=False)
    dtype, itemsize, ndim = np.dtype(np.uint8), 1, 2

    def __init__(self, place, shape=(4, 32)):
        self.data, self.shape = SimpleNamespace(ptr=place), shape
        self.strides, self.size = (shape[1], 1), shape[0] * shape[1]


class Map(np.ndarray):
    """A tensor map whose bytes are its address."""

    @classmethod
    def at(cls, place):
        made = np.zeros(16, np.uint64)
        made[0] = place
        made = made.view("V128").view(cls)
        made.place = place
        return made

    def moved(self, by):
        return Map.at(self.place + by)


def test_arguments_follow_their_arrays(launches, monkeypatch):
    """Addresses, those within an array, and tensor maps; what is no array's stays."""

    def seen():
        told = given(launches.calls[-1], (8, 128, 8, 8))
        return np.frombuffer(told, np.uint64)[[0, 1, 17, 18]].tolist()

    def make(A, B):
        arguments = A, Map.at(B.data.ptr), Block(A.data.ptr + 64, (2, 32)), Block(0x9000)
        return prepared(KERNEL, (1,), (32,), arguments)

    launch = prepared_and_launched(make, [Block(0x1000), Block(0x2000)])
    assert isinstance(launch, Movable) and seen() == [0x1000, 0x2000, 0x1040, 0x9000]
    launch((0x5000, 0x2000))
    assert seen() == [0x5000, 0x2000, 0x5040, 0x9000]
    launch((0x6000, 0x7000))
    assert seen() == [0x6000, 0x7000, 0x6040, 0x9000]
    launch((0x1000, 0x2000))
    assert seen() == [0x1000, 0x2000, 0x1040, 0x9000]


def test_numba_finds_moved_arrays_and_maps_in_global_memory(launches, monkeypatch):
    monkeypatch.setattr(follow, "on_gpu", True)
    monkeypatch.setattr(follow, "cuda", SimpleNamespace(as_cuda_array=lambda array: array))
    monkeypatch.setattr(follow, "map_on_device", lambda maps: Block(0x10000, (1, 128)))
    monkeypatch.setattr(movable, "MOST", 2)
    copied = []
    room = Block(0x20000)
    copies = SimpleNamespace(memcpyAsync=lambda *told: copied.append((told[0], *told[2:])))
    monkeypatch.setattr(follow.cupy.cuda, "runtime", copies, raising=False)
    streams = SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=7))
    monkeypatch.setattr(
        movable, "cupy", SimpleNamespace(empty=lambda shape, dtype: room, cuda=streams)
    )

    def seen():
        return np.frombuffer(given(launches.calls[-1], [8] * 16), np.uint64)[[4, 13]].tolist()

    def make(A):
        return prepared(OfNumba(), (1,), (32,), (A, Map.at(A.data.ptr)))

    launch = prepared_and_launched(make, [Block(0x1000)])
    assert seen() == [0x1000, 0x10000]
    for place, at in ((0x3000, 0), (0x4000, 1), (0x3000, 0), (0x5000, 0), (0x3000, 1)):
        launch((place,))
        assert seen() == [place, 0x20000 + 128 * at]
    # Two are kept: the third takes the first one's room, behind what was launched on the stream.
    assert copied == [(0x20000 + 128 * at, 128, 1, 7) for at in (0, 1, 0, 1)]


@pytest.mark.parametrize(
    "makes",
    [
        lambda A, B: prepared(KERNEL, (1,), (1,), (A,)),  # B is read through a copy
        lambda A, B: prepared(KERNEL, (1,), (1,), (A, B, Block(A.data.ptr + 48, (1, 1)))),
        lambda A, B: [prepared(KERNEL, (1,), (1,), (A, B)), follow.another_way()][0],
    ],
)
def test_what_is_not_clear_stays_where_it_is(launches, makes):
    launch = prepared_and_launched(makes, [Block(0x1000), Block(0x1020)])
    assert not isinstance(launch, Movable)
    launch()
    assert len(launches.calls) == 2
