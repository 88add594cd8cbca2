"""Launches that follow each other closely: blocks move in while those of the launch before leave.

Usually a kernel starts when the one before it has ended on every SM. From sm_90 on the host can
allow it to start earlier, where there is room: its blocks then set up what needs no data, and wait
in the kernel itself (``wait_for_launches_before`` in hopper.cuh) before they touch global memory.

Source: NVIDIA, *CUDA C++ Programming Guide*, section on programmatic dependent launch.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from kernels.engine import cupy

__all__ = ["follower"]


def follower(kernel: Any, grid, block, arguments, shared_bytes: int = 0) -> Callable[[], None]:
    """Return a function that launches a kernel, closely after whatever was launched before.

    Parameters
    ----------
    kernel : cupy.RawKernel
        It has to wait itself for the launches before; another one would read too early.
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
    closely = driver.CUlaunchAttribute()
    closely.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    closely.value.programmaticStreamSerializationAllowed = 1
    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = (*grid, 1, 1)[:3]
    config.blockDimX, config.blockDimY, config.blockDimZ = (*block, 1, 1)[:3]
    config.sharedMemBytes = shared_bytes
    config.attrs, config.numAttrs = [closely], 1
    function = driver.CUfunction(int(kernel.kernel.ptr))

    def launch(held=(kernel, values, arguments)) -> None:  # here are bare addresses
        config.hStream = cupy.cuda.get_current_stream().ptr
        (status,) = driver.cuLaunchKernelEx(config, function, pointers.ctypes.data, 0)
        if status != driver.CUresult.CUDA_SUCCESS:
            raise RuntimeError(f"{kernel.name} was not launched ({status.name})")

    return launch
