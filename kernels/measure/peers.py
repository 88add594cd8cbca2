"""Other ways to a matrix product on this GPU, measured beside the rungs.

cuBLAS comes with CuPy. The others are measured where they are installed (cuTile and CuTe DSL: where
their product has been compiled): nothing else here needs them, and a machine without them has
shorter tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from kernels.backend import cupy
from kernels.backend.device import device
from kernels.host import half
from kernels.host.cublas import gemm
from kernels.measure import peer_cute, peer_cutile

__all__ = ["TITLES", "cublas", "others"]

#: What a table calls them.
TITLES = {
    "triton": "Triton",
    "cutile": "cuTile",
    "cute": "CuTe DSL",
    "cublaslt": "cuBLASLt, searched",
    "cublas_bf16x9": "cuBLAS, emulated",
    "cublaslt_promoted": "cuBLASLt, sums promoted",
}


def cublas(A: Any, B: Any, C: Any) -> Callable[[], object]:
    """A launch of the vendor's library: C = A·B, sums in float32 (TF32 stays off).

    Parameters
    ----------
    A, B : CuPy arrays of float32, float16, bfloat16 (as uint16) or e4m3 (as uint8), shapes (M, K)
            and (K, N)
        Contiguous; B of e4m3 by columns.
    C : CuPy array, shape (M, N)
        Of float32, or as A and B (16 bits where these have 8).

    Raises
    ------
    RuntimeError
        For e4m3 without PyTorch, or on a GPU before sm_89.
    """
    if A.dtype == np.float32:
        return lambda: cupy.matmul(A, B, out=C)
    if half.dtype_of(A) != half.E4M3:
        return gemm(A, B, C)
    if not find_spec("torch"):
        raise RuntimeError("cuBLASLt multiplies e4m3, and is called by PyTorch: pip install torch")
    from kernels.measure import peer_torch

    return peer_torch.launch(A, B, C)


def others(
    A: Any, B: Any, C: Any, dtype: str = "float32"
) -> Iterator[tuple[str, Callable[[], Callable[[], object]]]]:
    """Yield every way but plain cuBLAS that there is here: its name, and what prepares its launch.

    Parameters
    ----------
    A, B, C : CuPy arrays, shapes (M, K), (K, N) and (M, N)
    dtype : str
        `kernels.host.half.PARTS` for float32 products of numbers in parts, which only some
        libraries know; otherwise the arrays say what they hold.
    """
    if find_spec("nvmath"):
        from kernels.measure import peer_cublaslt

        if dtype == half.PARTS:
            yield "cublas_bf16x9", partial(peer_cublaslt.emulated, A, B, C)
        else:
            yield "cublaslt", partial(peer_cublaslt.launch, A, B, C)
    if find_spec("torch") and dtype == half.E4M3:
        from kernels.measure import peer_torch

        yield "cublaslt_promoted", partial(peer_torch.launch, A, B, C, fast=False)
    usual = dtype not in (half.PARTS, half.E4M3)
    if usual and find_spec("triton") and find_spec("torch"):
        from kernels.measure import peer_triton

        yield "triton", partial(peer_triton.launch, A, B, C)
    if usual and peer_cutile.folder().is_dir():
        yield "cutile", partial(peer_cutile.launch, A, B, C)
    hopper = device().compute_capability == (9, 0)
    if usual and hopper and A.dtype != np.float32 and peer_cute.fits(A, B):
        yield "cute", partial(peer_cute.launch, A, B, C)
