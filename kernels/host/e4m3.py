"""Numbers of 8 bits, as Hopper's tensor cores take them: e4m3.

A sign, 4 bits of exponent and 3 of mantissa: 4 significant bits, from 2**-9 to 448, no infinity,
one NaN. The range is so short that a matrix travels with a scale: `quantised` divides by it so that
the largest number becomes 448, and whoever multiplies such matrices multiplies the scales, too.
NumPy has no such type: the bits travel in arrays of uint8.

Source: P. Micikevicius et al., *FP8 Formats for Deep Learning*, arXiv:2209.05433, 2022, table 1.
"""

import numpy as np

from kernels.backend import cupy

__all__ = ["LARGEST", "NAN", "floats", "quantised", "rounded"]

NAN = 0x7F


def _value(code: int) -> float:
    """The number that 7 bits stand for: without an exponent there is no leading 1."""
    exponent, mantissa = code >> 3, code & 7
    return 2.0**-9 * mantissa if exponent == 0 else 2.0 ** (exponent - 7) * (1 + mantissa / 8)


#: What the codes from 0 to 126 stand for, in float32, and the middles between neighbours.
VALUES = np.array([_value(code) for code in range(NAN)], np.float32)
MIDDLES = (VALUES[1:] + VALUES[:-1]) / 2
LARGEST = float(VALUES[-1])  #: 448


def rounded(array):
    """Return the bits of `array` rounded to e4m3 (to nearest, ties to even), as uint8.

    What is larger than 448 becomes 448, as in the instructions that convert; NaN stays NaN.

    Parameters
    ----------
    array : array of float32, NumPy or CuPy, any shape

    Returns
    -------
    array of uint8, the same shape and kind
    """
    xp = _module(array)
    sizes, middles = abs(array), xp.asarray(MIDDLES)
    below = xp.searchsorted(middles, sizes.ravel(), side="left")
    above = xp.searchsorted(middles, sizes.ravel(), side="right")
    # In the middle of two neighbours, the one whose last bit is 0.
    codes = xp.where(below == above, below, below + below % 2).reshape(array.shape)
    codes = xp.where(array != array, NAN, codes)
    return (codes + 128 * xp.signbit(array)).astype(np.uint8)


def floats(codes):
    """Return the numbers that bits of e4m3 stand for, as float32: an array of the same kind."""
    xp = _module(codes)
    half = np.append(VALUES, np.float32(np.nan))
    return xp.asarray(np.concatenate([half, -half]))[codes]


def quantised(array):
    """Return the bits of `array / scale` in e4m3, and the scale that makes its largest number 448.

    Parameters
    ----------
    array : array of float32, NumPy or CuPy, any shape
        Of finite numbers.

    Returns
    -------
    (array of uint8, float)
        ``floats(bits) * scale`` is `array` to 4 significant bits; of zeros alone the scale is 1.
    """
    largest = float(abs(array).max()) if array.size else 0.0
    scale = float(np.float32(largest / LARGEST)) or 1.0
    return rounded(array / np.float32(scale)), scale


def _module(array):
    return cupy if isinstance(array, cupy.ndarray) else np
