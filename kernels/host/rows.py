"""Copies between matrices whose rows differ in width.

An assignment of CuPy's takes as long for 2 bytes per number as for 4: it works out where every
number lies. Here a thread copies one column of eight rows: its numbers are all on their way at
once.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd
from typing import Any

import numpy as np

from kernels.backend import cupy, on_gpu
from kernels.host.checks import cdiv
from kernels.host.follow import another_way

__all__ = ["copy"]

ROWS, THREADS = 8, 256
TYPES = {1: "char", 2: "short", 4: "int", 8: "long long"}
SOURCE = """
extern "C" __global__ void tile_by_tile_rows(
    const TYPE *__restrict__ from, TYPE *__restrict__ to, int height, int width,
    long long from_pitch, long long to_pitch)
{
    const int first = blockIdx.x * ROWS, rows = min(ROWS, height - first);
    const int col = blockIdx.y * THREADS + threadIdx.x;
    if (col >= width)
        return;
    from += first * from_pitch + col;
    to += first * to_pitch + col;
    TYPE number[ROWS];
    for (int row = 0; row < ROWS; ++row)
        if (row < rows)
            number[row] = from[row * from_pitch];
    for (int row = 0; row < ROWS; ++row)
        if (row < rows)
            to[row * to_pitch] = number[row];
}
"""


def copy(to: Any, source: Any) -> None:
    """Copy a matrix into another one of its shape and type, on the GPU if both lie there.

    Parameters
    ----------
    to, source : array, shape (rows, cols)
        Arrays of CuPy's with any distance between rows; other ones are assigned.
    """
    another_way()
    if not (on_gpu and _in_rows(to) and _in_rows(source) and to.dtype == source.dtype):
        to[...] = source
        return
    height, length = len(to), to.shape[1] * to.itemsize  # of a row, in bytes
    # Where rows allow it, a thread copies several numbers as one.
    word = gcd(8, length, *(n for x in (source, to) for n in (x.data.ptr, x.strides[0])))
    width = length // word
    pitches = (array.strides[0] // word for array in (source, to))
    arguments = source, to, np.int32(height), np.int32(width), *map(np.int64, pitches)
    _kernel(word)((cdiv(height, ROWS), cdiv(width, THREADS)), (THREADS,), arguments)


def _in_rows(array: Any) -> bool:
    """Whether the numbers of each row lie next to each other, and rows a whole number apart."""
    return (
        isinstance(array, cupy.ndarray)
        and array.ndim == 2
        and array.size > 0
        and array.itemsize in TYPES
        and array.strides[1] == array.itemsize
        and array.strides[0] % array.itemsize == 0
        and array.strides[0] >= 0
    )


@lru_cache(maxsize=len(TYPES))
def _kernel(itemsize: int) -> Any:
    """The kernel for words of so many bytes."""
    words = {"TYPE": TYPES[itemsize], "ROWS": ROWS, "THREADS": THREADS}
    source = SOURCE.replace("tile_by_tile_rows", f"tile_by_tile_rows_{itemsize}")
    for word, value in words.items():
        source = source.replace(word, str(value))
    return cupy.RawKernel(source, f"tile_by_tile_rows_{itemsize}")
