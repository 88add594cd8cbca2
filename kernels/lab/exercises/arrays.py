"""Inputs and outputs of the exercises: random numbers, poison, and what rounding may do."""

import numpy as np

from .exercise import FINE

#: Half the distance from 1 to the next float32.
UNIT = 2.0**-24


class Numbers:
    """Random numbers for one launch.

    Multiples of 1/8, so that sums and products are exact in every order and none is whole by
    itself; where the role is "fine", numbers that use all 24 bits of a float32.

    Parameters
    ----------
    role : str
        The launch's role.
    *seeds : int
        The same seeds give the same numbers.
    """

    def __init__(self, role: str, *seeds: int):
        self.fine = role == FINE
        self.rng = np.random.default_rng(seeds)

    def __call__(self, *shape: int, low: int = -4, high: int = 4) -> np.ndarray:
        """An array of float32 from low to high."""
        if self.fine:
            return self.rng.uniform(low, high, shape).astype(np.float32)
        return (self.rng.integers(8 * low, 8 * high + 1, shape) / 8).astype(np.float32)

    def scalar(self) -> np.float32:
        """A number from 2 to 4, for a parameter such as alpha."""
        return self(1, low=2)[0]

    def bounds(self, name: str, roundings: int, magnitude: np.ndarray) -> dict[str, np.ndarray]:
        """How far the output of that name may be off: see `rounding`. Exact numbers have none."""
        return {name: rounding(roundings, magnitude)} if self.fine else {}


def rounding(roundings: int, magnitude: np.ndarray) -> np.ndarray:
    """How far a sum in float32 may be from the exact one, in any order, fused or not.

    Parameters
    ----------
    roundings : int
        How often a term may be rounded: K times in a sum of K products.
    magnitude : ndarray
        The sum of the terms' absolute values.

    Notes
    -----
    n roundings multiply a term by at most 1 + γ, γ = n·u / (1 - n·u), u = 2⁻²⁴ (Higham, Accuracy
    and Stability of Numerical Algorithms, lemma 3.1). One more is for the reference itself.
    """
    n = roundings + 1
    return n * UNIT / (1 - n * UNIT) * np.asarray(magnitude, np.float64)


def wide(array: np.ndarray) -> np.ndarray:
    """The same numbers as float64, to compute a reference."""
    return array.astype(np.float64)


def poisoned(*shape: int) -> np.ndarray:
    """NaN everywhere, so that an element nobody writes is seen."""
    return np.full(shape, np.nan, np.float32)


def cdiv(a: int, b: int) -> int:
    """How many b cover a."""
    return -(-a // b)
