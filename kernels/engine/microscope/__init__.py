"""The kernel microscope: run a Numba CUDA kernel without a GPU and see what every warp does.

>>> from kernels.engine.microscope import trace
>>> trace(kernel, grid, block, A, B, C).summary()      # doctest: +SKIP

`api` is the ``cuda`` of machines without a GPU. Only NumPy and the standard library are needed.

A kernel may use
    ``grid``, ``gridsize``, ``threadIdx`` and its like, ``laneid``, ``warpsize``; shared (static and
    dynamic), local and constant arrays; ``syncthreads`` and its ``_count``, ``_and``, ``_or``
    forms, anywhere in an expression; fences, ``syncwarp``, shuffles, votes, ``match_any_sync``,
    ``activemask``; every ``atomic``, for the types that Numba takes; ``fma``, ``selp``, the bit
    functions, `math`, NumPy's ufuncs, number types, ``abs``, ``min``, ``max``, ``round``, ``pow``,
    ``divmod``, ``len``, ``sum``, ``print``; device functions with early returns and defaults,
    closures, globals; views, slices, tuples; ``if``, ``for`` over ``range``, a tuple or an array,
    ``while``, ``else`` of loops, ``break``, ``continue``, ``return``, ``assert``, ternaries,
    chained comparisons. Numba's types hold: promotion, integer division, wrap-around, float64
    literals.
It may not use
    lambdas, nested functions, classes, ``nonlocal``, ``global``, ``import``, ``try``, ``raise``,
    ``with``, ``del``, ``match``, ``:=``, ``yield``, comprehensions, dicts, sets, f-strings, ``*``,
    keyword arguments in calls, ``enumerate``, ``zip``, strings other than in ``print``, arrays made
    in the kernel by NumPy, slices with a negative step, recursion more than 50 deep, records,
    vector types, random numbers, cooperative groups, ``match_all_sync``.
    Each is one error that names the construct and the line.
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
