"""The kernel microscope: run a Numba CUDA kernel without a GPU and see what every warp does.

>>> from microscope import trace
>>> trace(kernel, grid, block, A, B, C).summary()      # doctest: +SKIP

`api` is the ``cuda`` of machines without a GPU. Only NumPy and the standard library are needed.

What a kernel may use, and what is refused with which line, is a table: ``chapters/interpreter.md``,
written by ``python -m tests.microscope.constructs``. Numba's types hold: promotion, integer
division, wrap-around, float64 literals. A refusal is one error that names the construct and the
line.
It sees less than a GPU does in that
    a lock for which one block waits in a loop while another holds it never opens when all blocks
    run in step; races between dynamic shared arrays of different types stay unseen; a fence and an
    atomic are taken to inform every block that reads later.
"""

from . import api as api  # so that the interpreter knows what `cuda` means
from .errors import KernelError, OutOfBounds, Unsupported
from .launch import trace
from .limits import LIMITS, Limits
from .sites import Heat, Kind, Problem, Request, Site, Work
from .trace import Trace

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
