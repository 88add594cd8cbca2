"""One product to be computed by several GPUs: its operands, and what is right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kernels.backend import cupy
from kernels.distributed import machine
from kernels.host import half
from kernels.host.cublas import gemm
from kernels.measure import oracle

__all__ = ["Problem"]


class Problem:
    """A (M×K) and B (K×N) on the host and on the first GPU, and their product in float64.

    Parameters
    ----------
    M, N, K : int
    dtype : str
        Number format of A and B.
    """

    def __init__(self, M: int, N: int, K: int, dtype: str) -> None:
        self.M, self.N, self.K, self.dtype = M, N, K, dtype
        self.A, self.B = oracle.inputs(M, N, K, dtype=dtype)
        self.here = [cupy.asarray(matrix) for matrix in (self.A, self.B)]
        exact = [half.floats(matrix).astype(np.float64) for matrix in self.here]
        self.right = exact[0] @ exact[1]
        for matrix in exact:
            cupy.abs(matrix, out=matrix)
        self.scale = exact[0] @ exact[1]

    @property
    def flop(self) -> int:
        return 2 * self.M * self.N * self.K

    @property
    def sizes(self) -> dict[str, Any]:
        """What a row of a record says of it."""
        return {"dtype": self.dtype, "M": self.M, "N": self.N, "K": self.K}

    def one_gpu(self, out_dtype: str) -> Callable[[], object]:
        """A launch of cuBLAS on the first GPU alone."""
        C = cupy.empty((self.M, self.N), machine.stored(out_dtype))
        return gemm(*self.here, C)

    def check(self, C: Any) -> dict[str, Any]:
        """Is C, an array on the host, right, and how far off is it?"""
        found = half.floats(cupy.asarray(C))
        error = cupy.abs(found.astype(np.float64) - self.right)
        bound = unit(self.dtype, self.K) * self.scale
        if C.dtype.itemsize == 2:
            bound += 2.0**-8 * (cupy.abs(self.right) + bound)  # C has 8 significant bits
        if not bool((error <= bound).all()):  # also for NaN
            return {"correct": False}
        relative = float((error / self.scale).max())
        worst = {"max_error": float(error.max()), "max_relative_error": relative}
        return {"correct": True, **{name: float(f"{value:.3g}") for name, value in worst.items()}}

    def save(self, folder: Path) -> None:
        """Leave A and B where processes find them."""
        np.save(folder / "A.npy", self.A)
        np.save(folder / "B.npy", self.B)


def unit(dtype: str, K: int) -> float:
    """The bound of `oracle.tolerance`, as a share of ``|A|·|B|``."""
    one = half.cast(np.ones((1, K), np.float32), dtype)
    return float(oracle.tolerance(one, one.T)[0, 0]) / K
