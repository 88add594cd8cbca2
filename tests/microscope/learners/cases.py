"""A learner's kernel: its launch, its arguments and what NumPy says must come out."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.microscope.cases import from_source

HERE = Path(__file__).parent
THEMES = ("orders", "numbers")


@dataclass(frozen=True)
class Learner:
    """One attempt.

    Attributes
    ----------
    make : callable
        Gives the kernel, its arguments, and by position what each must be afterwards.
    grid, block : int or tuple of int
    """

    make: Callable[[], tuple[Any, list, dict[int, np.ndarray]]]
    grid: Any
    block: Any

    @property
    def name(self) -> str:
        return self.make.__name__


def learner(grid, block):
    """Say with which launch the kernel runs that the function below makes."""
    return lambda make: Learner(make, grid, block)


def attempts(theme: str) -> list[Learner]:
    """The kernels of a theme, on the backend of this machine."""
    return _of(importlib.import_module(f"tests.microscope.learners.{theme}"))


def for_numba(theme: str) -> list[Learner]:
    """The same, whose `cuda` is Numba's on every machine."""
    text = (HERE / f"{theme}.py").read_text(encoding="utf-8")
    return _of(from_source(text.replace("from kernels import", "from numba import"), theme))


def _of(module) -> list[Learner]:
    return [v for v in vars(module).values() if isinstance(v, Learner)]


def whole(*shape: int, low: int = -8, high: int = 9, dtype=np.float32) -> np.ndarray:
    """Whole numbers, so that sums are exact in every order."""
    return np.random.default_rng(sum(shape)).integers(low, high, shape).astype(dtype)


def close(found: np.ndarray, wanted: np.ndarray) -> bool:
    """Equal, or for floats as near as their type lets functions be."""
    if found.dtype.kind not in "fc":
        return np.array_equal(found, wanted)
    near = 1e-5 if found.dtype in (np.float32, np.complex64) else 1e-12
    return np.allclose(found, wanted, rtol=near, atol=near, equal_nan=True)
