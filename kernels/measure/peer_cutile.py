"""The product in cuTile, launched through CuPy: machine code that `cutile_product` has written.

cuTile can also compile when a kernel is first launched, with a compiler that is often newer than
the CUDA of the machine. Compiled ahead of time, the product needs nothing there but the driver.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kernels.backend import cupy
from kernels.backend.device import device
from kernels.basics.files import ROOT
from kernels.host import cdiv, half
from kernels.measure.timing import seconds

#: Where the machine code is, in a folder for each GPU.
FOLDER = ROOT / "_build" / "cutile"
#: The launch of a program of tiles names one thread a block: how many there are is in the code.
BLOCK = (1, 1, 1)


def folder() -> Path:
    """The folder of this GPU's machine code, which need not be there."""
    major, minor = device().compute_capability or (0, 0)
    return FOLDER / f"sm_{major}{minor}"


def launch(A: Any, B: Any, C: Any) -> Callable[[], object]:
    """A launch of C = A·B with the fastest of the tile sizes that are compiled; TF32 stays off.

    Parameters
    ----------
    A, B : CuPy arrays of float32, float16 or bfloat16 (as uint16), shapes (M, K) and (K, N)
        Contiguous.
    C : CuPy array of float32, shape (M, N)

    Raises
    ------
    TypeError
        If C holds another format.
    LookupError
        If nothing is compiled for this GPU and format.
    """
    dtype = half.dtype_of(A)
    if C.dtype != np.float32:
        raise TypeError(f"C holds {half.dtype_of(C)}: cuTile's product is compiled for float32")
    rows = "aligned" if all(map(is_aligned, (A, B, C))) else "any"
    files = sorted(folder().glob(f"{dtype}-*-{rows}.cubin"))
    if not files:
        gpu = folder().name
        raise LookupError(
            f"no product of {dtype} in cuTile is compiled for {gpu}:"
            f" run python -m kernels.measure.cutile_product {gpu} where cuda-tile is installed"
        )
    return min((prepared(file, A, B, C) for file in files), key=seconds)


def is_aligned(array: Any) -> bool:
    """Whether all rows of a contiguous matrix start on 16-byte boundaries."""
    return array.shape[1] * array.dtype.itemsize % 16 == 0 and array.data.ptr % 16 == 0


def prepared(file: Path, A: Any, B: Any, C: Any) -> Callable[[], object]:
    """A launch of one file's machine code, named ``float16-128x256x64-8warps-aligned.cubin``."""
    BM, BN, _ = map(int, file.stem.split("-")[1].split("x"))
    kernel = cupy.RawModule(path=str(file)).get_function("product")
    blocks = cdiv(C.shape[0], BM) * cdiv(C.shape[1], BN)
    return partial(kernel, (blocks, 1, 1), BLOCK, tuple(x for M in (A, B, C) for x in told(M)))


def told(matrix: Any) -> tuple[Any, ...]:
    """A contiguous matrix as cuTile's kernels take it: its data, shape and strides in elements."""
    rows, cols = matrix.shape
    return matrix, np.int32(rows), np.int32(cols), np.int32(cols), np.int32(1)
