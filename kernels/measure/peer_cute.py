"""The product in CuTe DSL, launched through CuPy: machine code that `cute_product` has written."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from kernels.backend import cupy
from kernels.basics.files import ROOT
from kernels.host import half
from kernels.host.tma import tensor_map

#: Where the machine code is.
FOLDER = ROOT / "_build" / "cute" / "sm_90"
#: Tiles, stages and threads of a block, as `cute_product` has them; bytes of stages and barriers.
BM, BN, BK, STAGES, THREADS = 128, 256, 64, 4, 384
SHARED = STAGES * (2 * BK * (BM + BN) + 2 * 8)


def fits(A: Any, B: Any) -> bool:
    """Whether the product takes A and B: 16 bits, machine code for them, and whole tiles."""
    whole = A.shape[0] % BM == B.shape[1] % BN == A.shape[1] % BK == 0
    return whole and (FOLDER / f"{half.dtype_of(A)}.cubin").is_file()


def launch(A: Any, B: Any, C: Any) -> Callable[[], object]:
    """A launch of C = A·B.

    Parameters
    ----------
    A, B : CuPy arrays of float16 or bfloat16 (as uint16), shapes (M, K) and (K, N)
        Contiguous; M, N and K are multiples of 128, 256 and 64.
    C : CuPy array of float32, shape (M, N)
    """
    (M, K), N = A.shape, B.shape[1]
    dtype = half.dtype_of(A)
    file = FOLDER / f"{dtype}.cubin"
    (name,) = {*re.findall(rb"\.text\.(kernel_cutlass_product\w+)", file.read_bytes())}
    kernel = cupy.RawModule(path=str(file)).get_function(name.decode())
    kernel.max_dynamic_shared_size_bytes = SHARED
    # A tensor is passed with its shape: of A and B as the TMA's map, of C with its pitch.
    arguments = (
        tensor_map(A, BM, 64, dtype), np.array([M, K], np.int32).view("V8"),
        tensor_map(B, BK, 64, dtype), np.array([N, K], np.int32).view("V8"),
        np.array([(C.data.ptr, M, N, N)], "u8, i4, i4, i8").view("V24"),
        np.bool_(False),  # the state of the instruction: no sums yet
    )  # fmt: skip
    return partial(kernel, (N // BN, M // BM), (THREADS,), arguments, shared_mem=SHARED)
