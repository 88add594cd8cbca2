"""Launches at little cost: prepared once, and closely after each other where a kernel allows it.

Usually a kernel starts when the one before it has ended on every SM. From sm_90 on the host can
allow it to start earlier, where there is room: its blocks then set up what needs no data, and wait
in the kernel itself (``wait_for_launches_before`` in hopper.cuh) before they touch global memory.

Source: NVIDIA, *CUDA C++ Programming Guide*, section on programmatic dependent launch.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from kernels.engine import cupy

__all__ = ["follower", "prepared"]


def follower(kernel: Any, grid, block, arguments, shared_bytes: int = 0) -> Callable[[], None]:
    """Return a function that launches a kernel, closely after whatever was launched before.

    The kernel has to wait itself for the launches before; another one would read too early.
    Parameters and errors are those of `prepared`.
    """
    return prepared(kernel, grid, block, arguments, shared_bytes, closely=True)


def prepared(
    kernel: Any, grid, block, arguments, shared_bytes: int = 0, closely: bool = False
) -> Callable[[], None]:
    """Return a function that launches a kernel on CuPy's current stream.

    What CuPy does anew in every launch, finding the arguments and writing them where the driver
    reads them, is done here, once.

    Parameters
    ----------
    kernel : cupy.RawKernel
    grid, block : tuple of int
        One or two numbers each.
    arguments : sequence of CuPy arrays, NumPy scalars and tensor maps
        As CuPy takes them.
    shared_bytes : int
        Shared memory that each launch asks for.

    Raises
    ------
    RuntimeError
        When a launch fails, with the driver's reason.
    """
    from cuda.bindings import driver

    values = [np.asarray(a.data.ptr if isinstance(a, cupy.ndarray) else a) for a in arguments]
    pointers = np.array([value.ctypes.data for value in values], np.uint64)
    config = driver.CUlaunchConfig()
    if closely:
        early = driver.CUlaunchAttribute()
        early.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
        early.value.programmaticStreamSerializationAllowed = 1
        config.attrs, config.numAttrs = [early], 1
    config.gridDimX, config.gridDimY, config.gridDimZ = (*grid, 1, 1)[:3]
    config.blockDimX, config.blockDimY, config.blockDimZ = (*block, 1, 1)[:3]
    config.sharedMemBytes = shared_bytes
    function = driver.CUfunction(int(kernel.kernel.ptr))
    # Looked up once: each of these costs a tenth of a launch.
    start, right = driver.cuLaunchKernelEx, driver.CUresult.CUDA_SUCCESS
    stream, address = cupy.cuda.get_current_stream, pointers.ctypes.data

    now = None

    def launch(held=(kernel, values, arguments, pointers)) -> None:  # here are bare addresses
        nonlocal now
        asked = stream().ptr
        if asked != now:
            config.hStream = now = asked
        (status,) = start(config, function, address, 0)
        if status != right:
            raise RuntimeError(f"{kernel.name} was not launched ({status.name})")

    return launch
