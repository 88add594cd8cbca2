"""Counts of the interpreter, for a machine without a GPU."""

from __future__ import annotations

from typing import Any

from kernels import lab
from kernels.measure import oracle
from kernels.rungs.order import Rung

#: The largest sizes that the interpreter traces in seconds: all blocks, or one.
TRACED, TRACED_IN_PART = 192, 4096


def traced(
    rung: Rung, shape: tuple[int, int, int], options: dict[str, int], blocks: Any = None
) -> Any:
    """What the interpreter saw of a rung at M, N, K: in all blocks, or in those given."""
    A, B = oracle.inputs(*shape)
    C = oracle.poisoned(*shape[:2])
    grid, block = rung.launch(*shape[:2], **options)
    return lab.trace(rung.kernel(**options), grid, block, A, B, C, blocks=blocks)
