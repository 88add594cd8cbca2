"""Kernels that are wrong on purpose, one mistake each, for the tools that look for such mistakes.

The same functions run under compute-sanitizer on a GPU and under the microscope anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernels.backend import cuda, float32

__all__ = ["CASES", "Mistake"]


@cuda.jit
def reverse(a, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    out[t] = s[63 - t]


@cuda.jit
def no_barrier(a, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    out[t] = s[63 - t]


@cuda.jit
def one_barrier(a, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    acc = float32(0)
    for step in range(4):
        s[t] = a[64 * step + t]
        cuda.syncthreads()
        acc += s[63 - t]
    out[t] = acc


@cuda.jit
def no_guard(a, out):
    i = cuda.grid(1)
    out[i] = a[i]


@cuda.jit
def past_the_end(a, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    out[t] = s[t + 1]


@cuda.jit
def never_filled(a, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t < 63:
        s[t] = a[t]
    cuda.syncthreads()
    out[t] = s[63 - t]


@cuda.jit
def never_cleared(a, out):
    t = cuda.threadIdx.x
    out[t] += a[t]


@cuda.jit
def barrier_in_a_branch(a, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    if t < 48:
        cuda.syncthreads()
    out[t] = s[t]


@cuda.jit
def left_early(a, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t >= out.size:
        return
    s[t] = a[t]
    cuda.syncthreads()
    out[t] = s[t]


@dataclass(frozen=True)
class Mistake:
    """One of these kernels, and how it is launched: 64 threads a block.

    Attributes
    ----------
    kernel : kernel
    mistake : str
        What is wrong with it; empty for the one that is right.
    inputs, outputs : int
        Elements of ``a`` and of ``out``.
    blocks : int
    expected : callable
        What ``out`` should hold, from ``a``.
    """

    kernel: Any
    mistake: str
    expected: Callable[[np.ndarray], np.ndarray]
    inputs: int = 64
    outputs: int = 64
    blocks: int = 1

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.__name__

    @property
    def function(self) -> Callable:
        """The Python function under the decorator."""
        return self.kernel.py_func

    def a(self) -> np.ndarray:
        """The input: no two elements are equal."""
        return np.arange(1, self.inputs + 1, dtype=np.float32)


CASES = {
    case.name: case
    for case in (
        Mistake(reverse, "", lambda a: a[::-1]),
        Mistake(no_barrier, "no barrier between writing and reading a tile", lambda a: a[::-1]),
        Mistake(
            one_barrier, "no barrier between reading a tile and writing the next",
            lambda a: a.reshape(4, 64)[:, ::-1].sum(0), inputs=256,
        ),
        Mistake(no_guard, "no guard: 128 threads, 100 elements", lambda a: a, 100, 100, blocks=2),
        Mistake(past_the_end, "an index past the end of a shared array",
             lambda a: np.append(a[1:], 0)),
        Mistake(never_filled, "an element of shared memory that nobody wrote",
             lambda a: np.append(a[:63], 0)[::-1]),
        Mistake(never_cleared, "a sum that starts with what was in memory", lambda a: a),
        Mistake(barrier_in_a_branch, "a barrier that part of a warp skips", lambda a: a),
        Mistake(left_early, "a return before a barrier", lambda a: a[:50], outputs=50),
    )
}  # fmt: skip
