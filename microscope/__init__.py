"""The kernel microscope: run a Numba CUDA kernel without a GPU and see what every warp does.

>>> from microscope import trace
>>> trace(kernel, grid, block, A, B, C).table()        # doctest: +SKIP

What stands in `__all__` is all that other packages use. `cuda` is the ``numba.cuda`` of machines
without a GPU; only NumPy and the standard library are needed.

What a kernel may use, and what is refused with which line, is a table: ``chapters/interpreter.md``,
written by ``python -m tests.microscope.constructs``. Numba's types hold: promotion, integer
division, wrap-around, float64 literals. A refusal is one error that names the construct and the
line.
It sees less than a GPU does in that
    a lock for which one block waits in a loop while another holds it never opens when all blocks
    run in step; races between dynamic shared arrays of different types stay unseen; a fence and an
    atomic, or a store that releases, are taken to inform every block that reads later.
"""

from . import api as cuda
from .errors import KernelError, OutOfBounds, Unsupported
from .launch import recording, trace
from .limits import LIMITS, Limits
from .names import Intrinsic, also_known
from .ptx import TensorMap
from .request_costs import global_cost, shared_cost
from .sites import (
    BANK_BYTES,
    BANKS,
    LINE,
    SECTOR,
    WARP,
    Heat,
    Kind,
    Problem,
    Request,
    Site,
    Work,
)
from .source import code_of
from .standin import stand_in_for_numba
from .trace import Trace

__all__ = [
    "BANKS",
    "BANK_BYTES",
    "LIMITS",
    "LINE",
    "SECTOR",
    "WARP",
    "Heat",
    "Intrinsic",
    "KernelError",
    "Kind",
    "Limits",
    "OutOfBounds",
    "Problem",
    "Request",
    "Site",
    "TensorMap",
    "Trace",
    "Unsupported",
    "Work",
    "also_known",
    "code_of",
    "cuda",
    "global_cost",
    "recording",
    "shared_cost",
    "stand_in_for_numba",
    "trace",
]
