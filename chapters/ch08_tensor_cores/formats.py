"""The number formats of tensor cores, computed in NumPy."""

from __future__ import annotations

import numpy as np

from kernels.host import half

__all__ = ["ROUND", "product", "tf32"]


def tf32(x: np.ndarray) -> np.ndarray:
    """float32 rounded to the 10 fraction bits of TF32: to nearest, ties to even."""
    bits = x.astype(np.float32).view(np.uint32)
    up = np.uint32(0xFFF) + (bits >> np.uint32(13) & np.uint32(1))
    return (bits + up & np.uint32(0xFFFFE000)).view(np.float32)


#: By a format's name: rounds an array to it, and returns float32.
ROUND = {
    "fp32": lambda x: x.astype(np.float32),
    "TF32": tf32,
    "bf16": lambda x: half.floats(half.bfloat16(x)),
    "fp16": lambda x: x.astype(np.float16).astype(np.float32),
}


def product(A: np.ndarray, B: np.ndarray, sums: type = np.float32) -> np.ndarray:
    """A·B one k at a time, in float64, with all products and sums rounded to one format."""
    acc = np.zeros((A.shape[0], B.shape[1]), sums)
    for k in range(A.shape[1]):
        acc += (A[:, k, None] * B[k]).astype(sums)
    return acc.astype(np.float64)
