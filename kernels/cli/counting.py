"""Counts of the interpreter, for a machine without a GPU."""

from __future__ import annotations

from typing import Any

from kernels import lab
from kernels.engine import cupy
from kernels.measure import oracle
from kernels.rungs.order import Rung

#: The largest sizes that the interpreter traces in seconds: all blocks, or one.
TRACED, TRACED_IN_PART = 192, 4096


def traced(
    rung: Rung, shape: tuple[int, int, int], options: dict[str, int], blocks: Any = None
) -> Any:
    """What the interpreter saw of a rung at M, N, K: in all blocks, or in those given."""
    A, B = oracle.inputs(*shape, dtype=rung.dtypes[-1])
    matrices = [cupy.asarray(matrix) for matrix in (A, B, oracle.poisoned(*shape[:2]))]
    chosen = rung.Options(**options)
    arguments = rung.numba_arguments(rung.operands(*matrices, "numba"), chosen)
    launch = rung.launch(*shape[:2], **options)
    asked = chosen.shared_bytes if rung.dynamic_shared else 0
    kernel = rung.kernel(**options)
    return lab.trace(kernel, *launch, *arguments, blocks=blocks, shared_bytes=asked)
