"""What multiplies two tiles on one GPU: cuBLAS, or a rung of the ladder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernels.backend import cupy
from kernels.host import half
from kernels.host.cublas import gemm
from kernels.rungs.order import LADDER

__all__ = ["check", "multiplier"]

Multiplier = Callable[[Any, Any, Any, bool], None]


def check(name: str, dtype: str) -> None:
    """LookupError or TypeError, in one line, unless `name` multiplies numbers of this format."""
    if name == "cublas":
        return
    if name not in LADDER:
        raise LookupError(f"nothing multiplies as {name!r}: use cublas, {', '.join(LADDER)}")
    if dtype not in LADDER[name].dtypes:
        takes = " and ".join(LADDER[name].dtypes)
        raise TypeError(f"{name} takes {takes}, not {dtype}: use cublas, or another rung")


def multiplier(name: str, dtype: str) -> Multiplier:
    """A function of A, B, C and `add` that queues ``C = A·B`` or ``C += A·B``."""
    check(name, half.DTYPES.get(dtype, dtype))
    if name == "cublas":
        return lambda A, B, C, add: gemm(A, B, C, add)()
    rung = LADDER[name]

    def multiply(A: Any, B: Any, C: Any, add: bool) -> None:
        if add:
            cupy.add(C, rung.matmul(A, B, engine=rung.engines[0]), out=C)
        else:
            rung.matmul(A, B, out=C, engine=rung.engines[0])

    return multiply
