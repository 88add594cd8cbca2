"""cuBLASLt with its list of algorithms searched: the library at its best.

A plain call of cuBLAS takes the algorithm that the library's heuristics put first. cuBLASLt names
the next best, too: here each is timed on the operands at hand, and the fastest stays. Calls go
through the bindings of the package nvmath-python, which add little to a launch.

Source: NVIDIA, *cuBLAS*, cublasLtMatmulAlgoGetHeuristic, cublasLtMatmulDescAttributes_t.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from nvmath.bindings import cublasLt as lt

from kernels.backend import cupy
from kernels.host import half
from kernels.host.cublas import FORMATS, SUMS_IN_FLOAT32
from kernels.measure.timing import seconds

#: How many algorithms are asked for, and the bytes each may use beside the matrices: what NVIDIA
#: recommends for Hopper.
ALGORITHMS, WORKSPACE = 32, 32 << 20
#: cuBLAS's number for sums of products of bfloat16, nine for each product of float32.
SUMS_OF_NINE = 78

library = cache(lt.create)


def launch(A: Any, B: Any, C: Any, sums: int = SUMS_IN_FLOAT32) -> Callable[[], object]:
    """A launch of C = A·B by the fastest algorithm that cuBLASLt names; TF32 stays off.

    Parameters
    ----------
    A, B : CuPy arrays of float32, float16, bfloat16 (as uint16) or e4m3 (as uint8), shapes (M, K)
            and (K, N)
        Contiguous; B of e4m3 by columns.
    C : CuPy array, shape (M, N)
        Of float32, or as A and B (16 bits where these have 8).
    sums : int
        The library's number for the format of sums.

    Raises
    ------
    RuntimeError
        If cuBLASLt names none for these operands.
    """
    candidates = launches(A, B, C, sums)
    if not candidates:
        raise RuntimeError(
            f"cuBLASLt {lt.get_version()} names no algorithm on this GPU for"
            f" {A.shape[0]}×{B.shape[1]}×{A.shape[1]}, {half.dtype_of(A)}, sums of kind {sums}"
        )
    return min(candidates, key=seconds)


#: A launch of a float32 product as nine of bfloat16: the library's own emulation.
emulated = partial(launch, sums=SUMS_OF_NINE)


def launches(A: Any, B: Any, C: Any, sums: int = SUMS_IN_FLOAT32) -> list[Callable[[], object]]:
    """A launch by each algorithm that cuBLASLt names, what it expects to be fastest first."""
    product = lt.matmul_desc_create(sums, FORMATS["float32"])
    by_columns = half.dtype_of(B) == half.E4M3
    if by_columns:
        _describe(product, lt.MatmulDescAttribute.TRANSA, np.int32(1))
        # As in our kernel, sums stay in the tensor cores.
        _describe(product, lt.MatmulDescAttribute.FAST_ACCUM, np.int8(1))
    # It reads columns where we have rows: Cᵀ = Bᵀ·Aᵀ is the same product.
    layouts = [_layout(array) for array in (B.T if by_columns else B, A, C)]
    found = lt.MatmulHeuristicResult(ALGORITHMS)
    count = np.zeros(1, np.int32)
    preference = _preference()
    try:
        lt.matmul_algo_get_heuristic(
            library(), product, *layouts, layouts[-1], preference, ALGORITHMS,
            found.ptr, count.ctypes.data,
        )  # fmt: skip
    except lt.cuBLASLtError:  # it says so, too, where it knows none
        return []
    finally:
        lt.matmul_preference_destroy(preference)
    workspace = cupy.empty(WORKSPACE, np.uint8)
    one, zero = np.array([1, 0], np.float32).reshape(2, 1)
    size = lt.matmul_heuristic_result_dtype.itemsize
    held = A, B, C, one, zero, found, workspace  # what has only its address below stays alive

    def run(algorithm: int, held: Any = held) -> None:
        lt.matmul(
            library(), product, one.ctypes.data, B.data.ptr, layouts[0], A.data.ptr, layouts[1],
            zero.ctypes.data, C.data.ptr, layouts[2], C.data.ptr, layouts[2],
            algorithm, workspace.data.ptr, WORKSPACE, cupy.cuda.get_current_stream().ptr,
        )  # fmt: skip

    return [partial(run, found.ptr + i * size) for i in range(int(count[0]))]


def _layout(array: Any) -> int:
    """A row-major matrix as cuBLASLt is told of it: columns where we have rows."""
    rows, cols = array.shape
    return lt.matrix_layout_create(FORMATS[half.dtype_of(array)], cols, rows, cols)


def _describe(product: int, attribute: int, value: Any) -> None:
    """Say of a product that one of its attributes is not what it usually is."""
    held = np.array(value)
    lt.matmul_desc_set_attribute(product, attribute, held.ctypes.data, held.nbytes)


def _preference() -> int:
    """A wish for a search: as much workspace as there is."""
    preference, wish = lt.matmul_preference_create(), np.array(WORKSPACE, np.uint64)
    attribute = lt.MatmulPreferenceAttribute.MAX_WORKSPACE_BYTES
    lt.matmul_preference_set_attribute(preference, attribute, wish.ctypes.data, wish.nbytes)
    return preference
