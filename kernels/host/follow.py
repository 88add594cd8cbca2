"""Launches at little cost: prepared once, and closely after each other where a kernel allows it.

``kernel[grid, block](…)`` of Numba looks at the types of its arguments, wraps and packs them every
time; CuPy finds them anew. A function from here calls the driver alone, for kernels of either
language. It can also ask for more than 48 KiB of shared memory.

Usually a kernel starts when the one before it has ended on every SM. From sm_90 on the host can
allow it to start earlier, where there is room: its blocks then set up what needs no data, and wait
in the kernel itself (``wait_for_launches_before`` in hopper.cuh) before they touch global memory.

Source: NVIDIA, *CUDA C++ Programming Guide*, section on programmatic dependent launch.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from kernels.engine import cuda, cupy, on_gpu

__all__ = ["follower", "prepared"]


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
        arguments = tuple(_on_device(argument) for argument in arguments)
        compiled = kernel.compile(tuple(kernel.typeof_pyval(argument) for argument in arguments))
        name, address = kernel.__name__, compiled._codelibrary.get_cufunc().handle
        if shared_bytes:  # over 48 KiB, what the kernel declares included, it must be told so
            most = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            device = driver.CUdevice(cupy.cuda.Device().id)
            _check(driver.cuKernelSetAttribute(most, shared_bytes, address, device)[0], name)
        values = [number for argument in arguments for number in _packed(argument)]
    else:
        compiled, name, address = kernel, kernel.name, kernel.kernel.ptr
        values = [np.asarray(a.data.ptr if isinstance(a, cupy.ndarray) else a) for a in arguments]
    pointers = np.array([value.ctypes.data for value in values], np.uint64)
    held = compiled, values, arguments, pointers  # the driver gets bare addresses
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


def _on_device(argument):
    """Return an argument as a Numba kernel takes it."""
    if isinstance(argument, np.ndarray) and argument.dtype.kind == "V":
        maps = argument.view(np.uint8)
        argument = cupy.asarray(maps if len(argument) == 1 else maps.reshape(len(argument), -1))
    return cuda.as_cuda_array(argument) if isinstance(argument, cupy.ndarray) else argument


def _packed(argument) -> list[np.ndarray]:
    """Return the numbers of one argument, each of its own size, as Numba's kernels take them.

    An array is two unused pointers, its elements, the bytes of each, its address, its shape and its
    strides.
    """
    if not getattr(argument, "shape", ()):
        return [np.asarray(argument)]
    address = argument.__cuda_array_interface__["data"][0]
    numbers = (0, 0, argument.size, argument.dtype.itemsize, address)
    return [np.asarray(n, np.int64) for n in (*numbers, *argument.shape, *argument.strides)]
