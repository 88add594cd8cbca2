"""The kernel microscope: run a Numba CUDA kernel without a GPU and see what every warp does.

>>> from kernels.lab.microscope import trace
>>> trace(kernel, grid, block, A, B, C).summary()      # doctest: +SKIP

`api` is the ``cuda`` of machines without a GPU. Only NumPy and the standard library are needed.
"""

from .errors import KernelError, OutOfBounds, Unsupported
from .launch import LIMITS, Limits, trace
from .trace import Heat, Kind, Problem, Request, Site, Trace, Work

__all__ = [
    "LIMITS",
    "Heat",
    "Kind",
    "KernelError",
    "Limits",
    "OutOfBounds",
    "Problem",
    "Request",
    "Site",
    "Trace",
    "Unsupported",
    "Work",
    "trace",
]
