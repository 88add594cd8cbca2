"""Inputs and outputs of the exercises: whole numbers, no symmetry, nothing left over."""

import numpy as np


def whole(*shape: int, seed: int, low: int = -4, high: int = 5) -> np.ndarray:
    """Random whole numbers in [low, high) as float32: sums of them are exact in every order."""
    rng = np.random.default_rng(seed)
    return rng.integers(low, high, shape).astype(np.float32)


def poisoned(*shape: int) -> np.ndarray:
    """NaN everywhere, so that an element nobody writes is seen."""
    return np.full(shape, np.nan, np.float32)


def cdiv(a: int, b: int) -> int:
    """How many b cover a."""
    return -(-a // b)
