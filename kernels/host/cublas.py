"""cuBLAS through CuPy, for any mix of formats and for parts of larger matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernels.backend import cupy
from kernels.host import half

__all__ = ["gemm"]

#: cuBLAS's numbers for formats, for sums in float32, and for "choose the algorithm yourself".
FORMATS = {"float32": 0, "float16": 2, "bfloat16": 14, half.E4M3: 28}
SUMS_IN_FLOAT32, ANY = 68, -1


def gemm(A: Any, B: Any, C: Any, add: bool = False) -> Callable[[], object]:
    """A launch of C = A·B, or of C += A·B, on the current device and stream; TF32 stays off.

    Parameters
    ----------
    A, B : CuPy arrays of float32, float16 or bfloat16 (as uint16), shapes (M, K) and (K, N)
    C : CuPy array, shape (M, N)
        Of float32, or as A and B. All three may be parts of wider matrices, contiguous in rows.
    add : bool
    """
    (M, K), N = A.shape, B.shape[1]
    library, handle = cupy.cuda.cublas, cupy.cuda.device.get_cublas_handle()
    a, b, c = map(_described, (A, B, C))
    one, beta = np.array(1, np.float32), np.array(int(add), np.float32)

    def launch(held: Any = (A, B, C)) -> None:  # what has only its address below stays alive
        # It reads columns where we have rows: Cᵀ = Bᵀ·Aᵀ is the same product.
        library.gemmEx(
            handle, library.CUBLAS_OP_N, library.CUBLAS_OP_N, N, M, K,
            one.ctypes.data, *b, *a, beta.ctypes.data, *c, SUMS_IN_FLOAT32, ANY,
        )  # fmt: skip

    return launch


def _described(array: Any) -> tuple[int, int, int]:
    """Address, format and elements from one row to the next, as cuBLAS is told them."""
    return array.data.ptr, FORMATS[half.dtype_of(array)], array.strides[0] // array.itemsize
