"""How fast an answer is beside the kernel that the exercise began with, on a GPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernels.backend import cuda, on_gpu, why_cpu
from kernels.backend.device import where
from kernels.measure.timing import time

from .checking import judge, named
from .exercise import KernelExercise
from .submission import function_of


@dataclass(frozen=True)
class Speed:
    """The speed of an answer and of the start of its exercise, in GFLOP/s; prints as text.

    Attributes
    ----------
    name : str
        The exercise.
    gflops, start_gflops : float or None
        None where it was not measured; `why` says why.
    factor : float
        How many times as fast as the start is the target.
    why : str
    """

    name: str
    gflops: float | None
    start_gflops: float | None
    factor: float
    why: str = ""

    @property
    def target(self) -> float | None:
        """GFLOP/s to reach."""
        return None if self.start_gflops is None else self.factor * self.start_gflops

    @property
    def reached(self) -> bool:
        """Is the answer as fast as it should be?"""
        return self.gflops is not None and self.gflops >= self.target

    def __bool__(self) -> bool:
        return self.reached

    def __repr__(self) -> str:
        if self.gflops is None:
            return f"{self.name}: not measured ({self.why})"
        return (
            f"{self.name}: {self.gflops:,.0f} GFLOP/s on {where()}, the target is"
            f" {self.target:,.0f}, {self.factor:g} times the {self.start_gflops:,.0f} of the start:"
            f" {'reached' if self.reached else 'not yet'}"
        )


def speed(name: str, answer, size: int = 2048, **options) -> Speed:
    """Measure a right answer beside the kernel that its exercise began with.

    Parameters
    ----------
    name : str
        An exercise with a target in GFLOP/s, such as ``"capstone"``.
    answer : kernel
    size : int
        M, N and K.
    **options
        What `check` takes, such as ``block`` and ``tile``.

    Returns
    -------
    Speed
        Without figures where there is no GPU, or where the answer is not right yet.

    Raises
    ------
    UnknownExercise, ValueError
        If the exercise does not exist, or has no such target.
    """
    task = named(name)
    if not isinstance(task, KernelExercise) or task.timed is None:
        raise ValueError(f"{name} has no target in GFLOP/s: use check")
    result = judge(name, answer, **options)
    if not result.right:
        return Speed(name, None, None, task.faster, f"it must be right first: {result.kind}")
    if not on_gpu:
        why = f"{why_cpu}: the counted traffic is the target here"
        return Speed(name, None, None, task.faster, why)
    start = function_of(task.start_text, task.names)
    own = answer if hasattr(answer, "py_func") else cuda.jit(function_of(answer, task.names))
    own_gflops = _gflops(own, task.timed(size, **options), size)
    return Speed(name, own_gflops, _gflops(cuda.jit(start), task.timed(size), size), task.faster)


def _gflops(kernel, launch, size: int) -> float:
    """GFLOP/s of a product of square matrices of random numbers."""
    grid, block = launch
    rng = np.random.default_rng(0)
    A, B = (rng.standard_normal((size, size), dtype=np.float32) for _ in range(2))
    d_A, d_B, d_C = (cuda.to_device(x) for x in (A, B, np.empty_like(A)))
    return time(lambda: kernel[grid, block](d_A, d_B, d_C), repeat=10).gflops(2 * size**3)
