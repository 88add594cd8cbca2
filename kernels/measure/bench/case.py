"""One shape in one number format: what is multiplied, checked and timed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from kernels.backend import cupy
from kernels.host import half
from kernels.measure import oracle, peers, probes
from kernels.measure.timing import time_in_turn
from kernels.rungs.order import Rung

#: Seconds for timing a version of a rung and cuBLAS, rests included (three repeats at least).
LIMIT = 0.3
#: How long the GPU rests after each repeat, for each second that it ran: a kernel that draws more
#: power than the GPU may take for long would lower the clock of whatever runs next.
REST = 4.0


class Case:
    """One shape in one number format: its operands, the right product, and what is measured of it.

    Parameters
    ----------
    M, N, K : int
        A is M×K and B is K×N.
    dtype, out_dtype : str
        Number formats of A and B, and of C.
    """

    def __init__(self, M: int, N: int, K: int, dtype: str = "float32", out_dtype: str = "float32"):
        self.M, self.N, self.K, self.dtype = M, N, K, dtype
        self.A, self.B = oracle.operands(M, N, K, dtype=dtype)
        self.C = cupy.full((M, N), np.nan, out_dtype)
        # What the rounded numbers say is right, not what they were rounded from.
        rounded = [half.floats(matrix) for matrix in (self.A, self.B)]
        exact = [matrix.astype(np.float64) for matrix in rounded]
        self.right = exact[0] @ exact[1]
        self.scale = abs(exact[0]) @ abs(exact[1])
        self.bound = oracle.tolerance(*rounded)

    def library(self) -> Callable[[], object]:
        """A launch of cuBLAS."""
        return peers.cublas(self.A, self.B, self.C)

    def launch(self, rung: Rung, engine: str, options: dict[str, int]) -> Callable[[], object]:
        """A launch of a version of a rung, with as little host work as it needs."""
        return launch(rung, engine, options, self.A, self.B, self.C)

    def copies(self, rung: Rung) -> bool:
        """Whether a launch of the rung begins with copies: their time is part of its own."""
        return copies(rung, self.A, self.B, self.C)

    def measure(
        self, launch: Callable[[], object], limit: float = LIMIT, rest: float = REST
    ) -> dict[str, Any]:
        """Check a launch that computes C, on an output poisoned with NaN, and time it."""
        return self.measure_in_turn([launch], limit, rest)[0]

    def measure_in_turn(
        self, launches: list[Callable[[], object]], limit: float = LIMIT, rest: float = REST
    ) -> list[dict[str, Any]]:
        """Check launches that all compute C, and time them in turn: a row of a record for each."""
        checks = [self.check(launch) for launch in launches]
        # The launch that was checked has warmed everything up.
        with self.timed():
            found = time_in_turn(launches, flush_l2=False, limit=limit, warmup=0, rest=rest)
        M, N, K = self.M, self.N, self.K
        return [
            {
                "dtype": self.dtype, "M": M, "N": N, "K": K, "seconds": probes.timing(timing),
                "gflops": float(f"{2 * M * N * K / timing.median / 1e9:.5g}"),
                "flushed": timing.flushed, **check,
            }
            for timing, check in zip(found, checks, strict=True)
        ]  # fmt: skip

    def timed(self) -> AbstractContextManager[None]:
        """While this lasts, A and B hold what is timed: here, what is checked."""
        return nullcontext()

    def check(self, launch: Callable[[], object]) -> dict[str, Any]:
        """Launch once on an output poisoned with NaN: is C right, and how far off is it?"""
        self.C.fill(np.nan)
        launch()
        error = abs(self.C.astype(np.float64) - self.right)
        correct = bool((error <= self.bound).all())  # False for NaN
        if not correct:
            return {"correct": False}
        return {"correct": True, **figures(self.C, self.right, self.scale)}


def figures(C: Any, right: Any, scale: Any) -> dict[str, float]:
    """How far off a product is, and how far beside |A|·|B|: any rounding error grows with that."""
    error = abs(C.astype(np.float64) - right)
    return {
        "max_error": float(f"{float(error.max()):.3g}"),
        "max_relative_error": float(f"{float((error / scale).max()):.3g}"),
    }


def launch(
    rung: Rung, engine: str, options: dict[str, int], A: Any, B: Any, C: Any
) -> Callable[[], object]:
    """A launch of a version of a rung on CuPy arrays that leaves the product in C."""
    # Tensor cores get copies with wider rows, and these are part of the product.
    copied = A.dtype != np.float32 and copies(rung, A, B, C)
    return rung.prepare(A, B, C, engine, strided=copied, **options)


def copies(rung: Rung, A: Any, B: Any, C: Any) -> bool:
    """Whether a launch copies matrices first, because their rows begin on no 16-byte boundary."""
    return rung.copies(*C.shape, A.shape[1], half.dtype_of(A))
