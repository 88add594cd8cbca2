"""Launches of Numba kernels with little work of the host: arguments are packed once.

``kernel[grid, block](…)`` looks at the types of its arguments, wraps and packs them every time. A
function from here calls the driver alone. It can also ask for more than 48 KiB of shared memory.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from kernels.engine import cuda, cupy, on_gpu
from kernels.host import cpp

__all__ = ["launcher"]


def launcher(
    kernel: Any, grid: tuple, block: tuple, arguments: tuple, shared_bytes: int = 0
) -> Callable[[], object]:
    """Return a function that launches a Numba kernel on these arguments.

    Parameters
    ----------
    kernel : kernel of ``cuda.jit``
        It is compiled here, for the types of the arguments.
    grid, block : tuple of int
        One to three numbers each.
    arguments : tuple
        Arrays of CuPy or Numba, NumPy scalars, and tensor maps (`kernels.host.tma`), which are
        copied to global memory.
    shared_bytes : int
        Dynamic shared memory of each launch.

    Raises
    ------
    RuntimeError
        When a launch fails, with the driver's reason.
    """
    arguments = tuple(_on_device(argument) for argument in arguments)
    if not on_gpu:
        bound = kernel[grid, block, 0, shared_bytes]
        return lambda: bound(*arguments)
    from cuda.bindings import driver

    cpp.check_shared(kernel.__name__, shared_bytes)
    compiled = kernel.compile(tuple(kernel.typeof_pyval(argument) for argument in arguments))
    handle = compiled._codelibrary.get_cufunc().handle
    if shared_bytes:  # over 48 KiB, those that the kernel declares included, it must be told so
        most = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        device = driver.CUdevice(cupy.cuda.Device().id)
        (status,) = driver.cuKernelSetAttribute(most, shared_bytes, handle, device)
        _check(status, kernel)
    packed = [number for argument in arguments for number in _packed(argument)]
    pointers = np.array([number.ctypes.data for number in packed], np.uint64)
    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = (*grid, 1, 1)[:3]
    config.blockDimX, config.blockDimY, config.blockDimZ = (*block, 1, 1)[:3]
    config.sharedMemBytes = shared_bytes
    function, first = driver.CUfunction(int(handle)), pointers.ctypes.data

    def launch(held=(compiled, arguments, packed, pointers)) -> None:  # here are bare addresses
        config.hStream = cupy.cuda.get_current_stream().ptr
        (status,) = driver.cuLaunchKernelEx(config, function, first, 0)
        if status:
            _check(status, kernel)

    return launch


def _check(status, kernel) -> None:
    if status:
        raise RuntimeError(f"{kernel.__name__} was not launched ({status.name})")


def _on_device(argument):
    """Return an argument as a Numba kernel takes it."""
    if isinstance(argument, np.ndarray) and argument.dtype.kind == "V":
        argument = cupy.asarray(argument.view(np.uint8))
    return (
        cuda.as_cuda_array(argument) if isinstance(argument, cupy.ndarray) and on_gpu else argument
    )


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
