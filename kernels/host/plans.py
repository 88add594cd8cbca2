"""Launches that are kept, so that a product of the same arrays is prepared once.

What is kept holds no array of its caller: a launch takes bare addresses, and is looked up by all
that it depends on, these addresses included. Arrays that lie there later, of the same shape and
format, are multiplied as well.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from math import prod

from kernels.backend import cupy

__all__ = ["Plans", "unowned"]


class Plans:
    """The launches asked for last; those of long ago make room.

    Parameters
    ----------
    most : int
        How many are kept.
    most_bytes : int
        How many bytes of device memory they may hold for copies and partial sums together.
    """

    def __init__(self, most: int = 256, most_bytes: int = 1 << 30) -> None:
        self.most, self.most_bytes, self.nbytes = most, most_bytes, 0
        self.launches: dict[Hashable, Callable[[], object]] = {}
        self.sizes: dict[Hashable, int] = {}
        #: The launch of a key, or None: looked up for every product, so without a method around it.
        self.get = self.launches.get

    def keep(self, key: Hashable, launch: Callable[[], object], nbytes: int) -> None:
        """Keep a launch that holds `nbytes` of device memory; one that holds too much is not."""
        if nbytes > self.most_bytes:
            return
        while self.launches and (
            len(self.launches) >= self.most or self.nbytes + nbytes > self.most_bytes
        ):
            oldest = next(iter(self.launches))
            del self.launches[oldest]
            self.nbytes -= self.sizes.pop(oldest)
        self.launches[key], self.sizes[key] = launch, nbytes
        self.nbytes += nbytes


def unowned(address: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype, device: int):
    """Return a CuPy array of memory that it does not keep alive; strides are in bytes."""
    span = sum((n - 1) * abs(stride) for n, stride in zip(shape, strides, strict=True))
    span += cupy.dtype(dtype).itemsize if prod(shape) else 0
    memory = cupy.cuda.UnownedMemory(address, span, None, device)
    return cupy.ndarray(shape, dtype, cupy.cuda.MemoryPointer(memory, 0), strides)
