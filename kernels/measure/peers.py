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
from kernels.host import half

__all__ = ["TITLES", "cublas", "launches"]

#: cuBLAS's numbers for formats, for sums in float32, and for "choose the algorithm yourself".
FORMATS = {"float32": 0, "float16": 2, "bfloat16": 14}
SUMS_IN_FLOAT32, ANY = 68, -1

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
    (M, K), N = A.shape, B.shape[1]
    library, handle = cupy.cuda.cublas, cupy.cuda.device.get_cublas_handle()
    of_inputs, of_result = (FORMATS[half.dtype_of(array)] for array in (A, C))
    one, zero = np.array(1, np.float32), np.array(0, np.float32)

    def launch() -> None:
        # It reads columns where we have rows: Cᵀ = Bᵀ·Aᵀ is the same product.
        library.gemmEx(
            handle, library.CUBLAS_OP_N, library.CUBLAS_OP_N, N, M, K,
            one.ctypes.data, B.data.ptr, of_inputs, N, A.data.ptr, of_inputs, K,
            zero.ctypes.data, C.data.ptr, of_result, N, SUMS_IN_FLOAT32, ANY,
        )  # fmt: skip

    return launch


def launches(A: Any, B: Any, C: Any) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the name and a launch of every way but cuBLAS that is installed.

    Parameters
    ----------
    A, B, C : CuPy arrays, shapes (M, K), (K, N) and (M, N)
    """
    if find_spec("triton") and find_spec("torch"):
        from kernels.measure import peer_triton

        yield "triton", peer_triton.launch(A, B, C)
