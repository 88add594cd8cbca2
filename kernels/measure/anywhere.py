"""Kernels on whatever machine there is: launched on its GPU or by the interpreter, and traced."""

from __future__ import annotations

from typing import Any

from kernels.backend import cupy, on_gpu
from kernels.host.follow import prepared
from kernels.measure import oracle
from kernels.rungs.order import Rung
from microscope import Trace, trace

__all__ = ["launch", "trace_rung"]


def launch(kernel: Any, grid: Any, block: Any, *arguments: Any, shared_bytes: int = 0) -> None:
    """Launch a kernel once and wait for it: on the GPU, or in the interpreter without one.

    ``kernel[grid, block](…)`` takes neither a tensor map on a GPU, nor more than 48 KiB of shared
    memory; this takes both.

    Parameters
    ----------
    kernel : kernel of ``cuda.jit``
    grid, block : int or tuple of int
    arguments : CuPy arrays, NumPy scalars and tensor maps
        Without a GPU, arrays of NumPy are the same.
    shared_bytes : int
        Dynamic shared memory of a block.

    Raises
    ------
    RuntimeError
        When the launch fails, with the reason.
    """
    grid, block = ((n,) if isinstance(n, int) else tuple(n) for n in (grid, block))
    prepared(kernel, grid, block, arguments, shared_bytes)()
    if on_gpu:
        cupy.cuda.Device().synchronize()


def trace_rung(
    rung: Rung, M: int, N: int, K: int, blocks: Any = None, landing: str = "latest", **options: int
) -> Trace:
    """Trace a product of random A (M×K) and B (K×N) by a rung's Numba kernel.

    Parameters
    ----------
    rung : Rung
        One of `kernels.LADDER`, or one with a kernel of the reader's (`Rung.with_kernel`).
    M, N, K : int
    blocks : list of tuple of int, optional
        Trace these blocks alone.
    landing : str
        When copies land, as `microscope.trace` takes it.
    **options : int
        As the rung takes them.

    Returns
    -------
    microscope.Trace
        Its `outputs` hold C.

    Raises
    ------
    TypeError, ValueError, microscope.KernelError
        For options or sizes that cannot be, or a kernel that the interpreter refuses.
    """
    A, B = oracle.inputs(M, N, K, dtype=rung.dtypes[-1])
    C = oracle.poisoned(M, N)
    product = rung.operands(*map(cupy.asarray, (A, B, C)), "numba")
    chosen = rung.Options(**rung.default("numba") | options)
    asked = chosen.shared_bytes if rung.dynamic_shared else 0
    return trace(
        rung.kernel(product, **chosen.values),
        *chosen.launch(M, N),
        *rung.numba_arguments(product, chosen),
        blocks=blocks,
        landing=landing,
        shared_bytes=asked,
    )
