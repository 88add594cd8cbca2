"""Number formats of tensor cores, from their bytes to float32: every one of them fits."""

from __future__ import annotations

import numpy as np

SIZES = {"float16": 2, "bfloat16": 2, "tf32": 4, "e4m3": 1}


def _e4m3() -> np.ndarray:
    """What the 256 codes stand for: a sign, 4 bits of exponent and 3 of mantissa."""
    code = np.arange(128)
    exponent, mantissa = code >> 3, code & 7
    plain = 2.0 ** (exponent - 7) * (1 + mantissa / 8)
    values = np.where(exponent == 0, mantissa * 2.0**-9, plain)
    values[127] = np.nan
    return np.concatenate([values, -values]).astype(np.float32)


E4M3 = _e4m3()


def floats(raw: np.ndarray, dtype: str) -> np.ndarray:
    """The numbers in some bytes, along the last axis.

    Parameters
    ----------
    raw : ndarray of uint8
        Contiguous.
    dtype : {"float16", "bfloat16", "tf32", "e4m3"}

    Returns
    -------
    ndarray of float32
    """
    if dtype == "bfloat16":
        return (raw.view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)
    if dtype == "float16":
        return raw.view(np.float16).astype(np.float32)
    if dtype == "tf32":  # the last 13 bits of a float32 are not looked at
        return (raw.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    return E4M3[raw]
