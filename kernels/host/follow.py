"""Launches at little cost: prepared once, and closely after each other where a kernel allows it.

``kernel[grid, block](…)`` of Numba looks at the types of its arguments, wraps and packs them every
time; CuPy finds them anew. A function from here calls the driver alone, for kernels of either
language. It can also ask for more than 48 KiB of shared memory.

Usually a kernel starts when the one before it has ended on every SM. From sm_90 on the host can
allow it to start earlier, where there is room: its blocks then set up what needs no data, and wait
in the kernel itself (``wait_for_launches_before`` in hopper.cuh) before they touch global memory.

Source: NVIDIA, *CUDA C++ Programming Guide*, section on programmatic dependent launch.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from kernels.backend import cuda, cupy, on_gpu

__all__ = ["Noted", "another_way", "follower", "map_on_device", "prepared", "taking_notes", "write"]

#: Which number of an array, as Numba's kernels take it, is its address.
ADDRESS = 4
TO_DEVICE = 1  # what CUDA calls a copy from the host


@dataclass(frozen=True)
class Noted:
    """Where the driver finds the arguments of a launch.

    Attributes
    ----------
    given : sequence
        The arguments as they were given.
    offsets : list of int
        Where each of them begins in the memory of all, in bytes.
    numbers : memoryview
        That memory, in numbers of 8 bytes: written anew, the next launch has other arguments.
    of_numba : bool
    """

    given: Sequence[Any]
    offsets: list[int]
    numbers: memoryview
    of_numba: bool


_taking_notes = threading.local()


@contextmanager
def taking_notes() -> Iterator[list[Noted | None]]:
    """Note every launch that is prepared meanwhile, and a None where one goes another way."""
    found = _taking_notes.of = []
    try:
        yield found
    finally:
        _taking_notes.of = None


def another_way() -> None:
    """Note that something is launched which isn't prepared."""
    noted = getattr(_taking_notes, "of", None)
    if noted is not None:
        noted.append(None)


def follower(kernel: Any, grid, block, arguments, shared_bytes: int = 0) -> Callable[[], None]:
    """Return a function that launches a kernel, closely after whatever was launched before.

    The kernel has to wait itself for the launches before; another one would read too early.
    Parameters and errors are those of `prepared`.
    """
    return prepared(kernel, grid, block, arguments, shared_bytes, closely=True)


def prepared(
    kernel: Any, grid, block, arguments, shared_bytes: int = 0, closely: bool = False
) -> Callable[[], object]:
    """Return a function that launches a kernel on CuPy's current stream.

    What Numba and CuPy do anew in every launch, finding the arguments and writing them where the
    driver reads them, is done here, once. Nothing is allocated: a CUDA graph can record the launch.

    Parameters
    ----------
    kernel : kernel of ``cuda.jit``, or cupy.RawKernel
        Numba's is compiled here, for the types of the arguments.
    grid, block : tuple of int
        One to three numbers each.
    arguments : sequence of arrays, NumPy scalars and tensor maps
        Arrays of CuPy, for a Numba kernel of Numba too. It finds tensor maps
        (`kernels.host.tma`) in global memory, to which they are copied here.
    shared_bytes : int
        Dynamic shared memory that each launch asks for.
    closely : bool
        As `follower`.

    Raises
    ------
    RuntimeError
        When a launch fails, with the driver's reason.
    """
    of_numba = hasattr(kernel, "py_func")
    if of_numba and not on_gpu:
        bound = kernel[grid, block, 0, shared_bytes]
        return lambda: bound(*arguments)
    from cuda.bindings import driver

    if of_numba:
        given, arguments = arguments, tuple(_on_device(argument) for argument in arguments)
        compiled = _compiled(kernel, arguments)
        name, address = kernel.__name__, compiled._codelibrary.get_cufunc().handle
        if shared_bytes:  # over 48 KiB, what the kernel declares included, it must be told so
            most = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            device = driver.CUdevice(cupy.cuda.Device().id)
            _check(driver.cuKernelSetAttribute(most, shared_bytes, address, device)[0], name)
        values = [_packed(argument) for argument in arguments]
    else:
        given, compiled, name, address = arguments, kernel, kernel.name, kernel.kernel.ptr
        values = [np.asarray(a.data.ptr if isinstance(a, cupy.ndarray) else a) for a in arguments]
    offsets, room, pointers = _one_after_the_other(values)
    held = compiled, arguments, room, pointers  # the driver gets bare addresses
    noted = getattr(_taking_notes, "of", None)
    if noted is not None:
        noted.append(Noted(given, offsets, memoryview(room).cast("B").cast("Q"), of_numba))
    grid, block = ((*sizes, 1, 1)[:3] for sizes in (grid, block))
    stream, first = cupy.cuda.get_current_stream, pointers.ctypes.data
    if closely:
        return _close(driver, name, int(address), grid, block, shared_bytes, first, held)
    # CuPy's own way to the driver takes half the time of cuda.bindings'.
    start, (gx, gy, gz), (bx, by, bz) = cupy.cuda.driver.launchKernel, grid, block
    function = int(address)

    def launch(held=held) -> None:
        try:
            start(function, gx, gy, gz, bx, by, bz, shared_bytes, stream().ptr, first, 0)
        except RuntimeError as error:
            raise RuntimeError(f"{name} was not launched ({error})") from None

    return launch


def _one_after_the_other(values: list[np.ndarray]):
    """Return all arguments in one place: a processor reads few lines of its cache for a launch.

    Each number lies on a multiple of its size, of 64 bytes at most: where each argument begins, the
    memory, and the address of every number, as the driver takes them.
    """
    offsets, end = [], 0
    for value in values:
        size = min(64, value.itemsize)
        offsets.append(-(-end // size) * size)
        end = offsets[-1] + value.nbytes
    room = np.zeros(end // 8 + 1, np.uint64)
    for offset, value in zip(offsets, values, strict=True):
        room.view(np.uint8)[offset : offset + value.nbytes] = np.frombuffer(
            value.tobytes(), np.uint8
        )
    places = [
        room.ctypes.data + offset + n * value.itemsize
        for offset, value in zip(offsets, values, strict=True)
        for n in range(value.size)
    ]
    return offsets, room, np.array(places, np.uint64)


def _close(driver, name, address, grid, block, shared_bytes, first, held) -> Callable[[], None]:
    """A launch that may start before those before it have ended."""
    config, early = driver.CUlaunchConfig(), driver.CUlaunchAttribute()
    early.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    early.value.programmaticStreamSerializationAllowed = 1
    config.attrs, config.numAttrs = [early], 1
    config.gridDimX, config.gridDimY, config.gridDimZ = grid
    config.blockDimX, config.blockDimY, config.blockDimZ = block
    config.sharedMemBytes = shared_bytes
    function = driver.CUfunction(address)
    # Looked up once: each of these costs a tenth of a launch.
    start, right = driver.cuLaunchKernelEx, driver.CUresult.CUDA_SUCCESS
    stream, now = cupy.cuda.get_current_stream, None

    def launch(held=held) -> None:
        nonlocal now
        asked = stream().ptr
        if asked != now:
            config.hStream = now = asked
        (status,) = start(config, function, first, 0)
        if status != right:
            _check(status, name)

    return launch


def _check(status, name: str) -> None:
    if status:
        raise RuntimeError(f"{name} was not launched ({status.name})")


#: By kernel and kinds of arguments, what Numba compiled: it takes long to look that up.
_known: WeakKeyDictionary = WeakKeyDictionary()


def _compiled(kernel, arguments):
    """Return a Numba kernel compiled for arguments such as these."""
    kinds = tuple(
        (a.dtype, a.ndim, a.flags.c_contiguous, a.flags.f_contiguous)
        if isinstance(a, cupy.ndarray) else getattr(a, "dtype", type(a))
        for a in arguments
    )  # fmt: skip
    known = _known.setdefault(kernel, {})
    if kinds not in known:
        arrays = (cuda.as_cuda_array(a) if isinstance(a, cupy.ndarray) else a for a in arguments)
        known[kinds] = kernel.compile(tuple(map(kernel.typeof_pyval, arrays)))
    return known[kinds]


def _on_device(argument):
    """Return an argument as a CuPy array, or a number."""
    if isinstance(argument, np.ndarray) and argument.dtype.kind == "V":
        return map_on_device(argument)
    return cupy.asarray(argument) if hasattr(argument, "copy_to_host") else argument


def map_on_device(maps):
    """Return tensor maps in global memory, as Numba's kernels find them, copied there once."""
    here = cupy.cuda.Device().id, cupy.cuda.get_current_stream().ptr
    return _map_on_device(maps.tobytes(), len(maps), *here)


@lru_cache(maxsize=4096)
def _map_on_device(bits: bytes, count: int, device: int, stream: int):
    room = cupy.empty(len(bits) if count == 1 else (count, len(bits) // count), np.uint8)
    write(room.data.ptr, np.frombuffer(bits, np.uint8), stream)
    return room


def write(place: int, maps, stream: int) -> None:
    """Write tensor maps to an address on the device, behind what its stream has to do.

    CuPy's own way from the host takes several times as long. The driver copies so few bytes out of
    the host's memory before it returns.
    """
    source = maps.__array_interface__["data"][0]
    cupy.cuda.runtime.memcpyAsync(place, source, maps.nbytes, TO_DEVICE, stream)


def _packed(argument) -> np.ndarray:
    """Return the numbers of one argument as Numba's kernels take them.

    An array is two unused pointers, its elements, the bytes of each, its address (`ADDRESS`), its
    shape and its strides, all of 8 bytes.
    """
    if not isinstance(argument, cupy.ndarray):
        return np.asarray(argument)
    numbers = (0, 0, argument.size, argument.itemsize, argument.data.ptr)
    return np.array((*numbers, *argument.shape, *argument.strides), np.int64)
