"""One shape in e4m3: whole numbers are checked, any are timed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from kernels.backend import cupy
from kernels.host import half
from kernels.measure.bench.case import Case, figures


class CaseOfBytes(Case):
    """A case whose numbers have 8 bits.

    Tensor cores keep so few bits of a sum of such products that no bound tells a wrong product from
    a rounded one: a launch is right if whole numbers, which need no rounding, come out right. But
    those draw less power than others. So what is timed, and whose error is told, are rounded random
    numbers.
    """

    def __init__(self, M: int, N: int, K: int, dtype: str = half.E4M3, out_dtype: str = "float32"):
        super().__init__(M, N, K, dtype, out_dtype)
        self.bound = 0.0
        rng = np.random.default_rng(1)
        self.others = [
            half.cast(cupy.asarray(rng.standard_normal(matrix.shape, dtype=np.float32)), dtype)
            for matrix in (self.A, self.B)
        ]
        exact = [half.floats(matrix).astype(np.float64) for matrix in self.others]
        self.right_of_others = exact[0] @ exact[1]
        self.scale_of_others = abs(exact[0]) @ abs(exact[1])

    @contextmanager
    def timed(self) -> Iterator[None]:
        checked = self.A.copy(), self.B.copy()
        self.A[...], self.B[...] = self.others
        try:
            yield
        finally:
            self.A[...], self.B[...] = checked

    def check(self, launch: Callable[[], object]) -> dict[str, Any]:
        """Are whole numbers multiplied right, and how far off is the product of others?"""
        found = super().check(launch)
        if found["correct"]:
            with self.timed():
                launch()
            found |= figures(self.C, self.right_of_others, self.scale_of_others)
        return found


def case_of(M: int, N: int, K: int, dtype: str = "float32", out_dtype: str = "float32") -> Case:
    """The case of a shape in any number format."""
    return (CaseOfBytes if dtype == half.E4M3 else Case)(M, N, K, dtype, out_dtype)
