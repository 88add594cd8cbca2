"""Other ways to a matrix product on this GPU, measured beside the rungs.

cuBLAS comes with CuPy. The others are measured where they are installed: nothing else here needs
them, and a machine without them has shorter tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

from kernels.engine import cupy
from kernels.host.cublas import gemm

__all__ = ["TITLES", "cublas", "launches"]

#: What a table calls them.
TITLES = {"triton": "Triton"}


def cublas(A: Any, B: Any, C: Any) -> Callable[[], object]:
    """A launch of the vendor's library: C = A·B, sums in float32 (TF32 stays off).

    Parameters
    ----------
    A, B : CuPy arrays of float32, float16 or bfloat16 (as uint16), shapes (M, K) and (K, N)
        Contiguous.
    C : CuPy array, shape (M, N)
        Of float32, or as A and B.
    """
    if A.dtype == np.float32:
        return lambda: cupy.matmul(A, B, out=C)
    return gemm(A, B, C)


def launches(A: Any, B: Any, C: Any) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the name and a launch of every way but cuBLAS that is installed.

    Parameters
    ----------
    A, B, C : CuPy arrays, shapes (M, K), (K, N) and (M, N)
    """
    if find_spec("triton") and find_spec("torch"):
        from kernels.measure import peer_triton

        yield "triton", peer_triton.launch(A, B, C)
