"""Tensor maps: what the TMA unit knows of a matrix, as the host hands it over without a GPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import memory
from ..errors import KernelError
from ..memory import Array, Buffer

ITEM = {"float32": 4, "float16": 2, "bfloat16": 2, "uint16": 2, "uint8": 1, "e4m3": 1}
SWIZZLES = (0, 32, 64, 128)
BYTES = 128  # of a tensor map


class TensorMap:
    """A matrix, or a row of them, with the box of it that one copy moves.

    It is an argument of a kernel, which sees 128 bytes.

    Parameters
    ----------
    array : ndarray, two- or three-dimensional
        The elements of a row side by side, rows and matrices a multiple of 16 bytes apart. Of three
        dimensions the first counts matrices.
    box : tuple of int
        Shape of a box; as many axes as the array. A row of it takes at most 128 bytes.
    dtype : str
        Number format, of as many bytes as the array's: "float32", "float16", "bfloat16", "uint8".
    swizzle : {128, 64, 32, 0}
        Bytes of the pattern in which the 16-byte pieces of rows are laid in shared memory.

    Raises
    ------
    ValueError
        What the driver does not take, with the values.
    """

    def __init__(self, array, box: tuple[int, ...], dtype: str, swizzle: int = 128):
        shape, size = tuple(array.shape), ITEM.get(dtype)
        if size is None or size != array.dtype.itemsize:
            raise ValueError(f"a tensor map of {array.dtype} as {dtype}: use a format of its size")
        if len(box) != len(shape) or len(shape) not in (2, 3):
            raise ValueError(f"box {box} of an array of shape {shape}: give both 2 or 3 axes")
        if any(not 1 <= n <= 256 for n in box):
            raise ValueError(f"box {box}: each axis has 1 to 256 elements")
        if shape[-1] > 1 and array.strides[-1] != size:
            raise ValueError("a tensor map wants the elements of a row side by side: copy it first")
        apart = [s for n, s in zip(shape[:-1], array.strides, strict=False) if n > 1]
        if any(s % 16 or s <= 0 for s in apart) or memory.base_address(array) % 16:
            raise ValueError(
                f"rows of {shape[-1]} {dtype} start on no 16-byte boundary: use wider rows"
            )
        if swizzle not in SWIZZLES:
            raise ValueError(f"swizzle {swizzle}: use one of {', '.join(map(str, SWIZZLES))}")
        row = box[-1] * size
        if row % 16 or swizzle and row > swizzle:
            raise ValueError(
                f"a row of the box has {row} bytes: use a multiple of 16, at most {swizzle or 256}"
            )
        self.array, self.box, self.dtype, self.swizzle = array, tuple(box), dtype, swizzle

    def __repr__(self) -> str:
        shape, box = ("×".join(map(str, s)) for s in (self.array.shape, self.box))
        return f"<TensorMap of {shape} {self.dtype} in boxes of {box}, swizzle {self.swizzle}>"


@dataclass(eq=False)
class MapBuffer(Buffer):
    """The 128 bytes of a tensor map; `of` is the matrix as the launch has it.

    Of several maps it holds 128 bytes for each, and `several` are their buffers.
    """

    of: Array | None = None
    map: TensorMap | None = None
    several: tuple[MapBuffer, ...] = ()

    @property
    def box_bytes(self) -> int:
        """Bytes of a box, those outside the matrix included."""
        return int(np.prod(self.map.box)) * ITEM[self.map.dtype]

    @property
    def reach(self) -> int:
        """Bytes of shared memory that a box lies in: rows keep the pitch of the swizzle."""
        row = self.map.box[-1] * ITEM[self.map.dtype]
        return self.box_bytes // row * max(row, self.map.swizzle)


def is_map(a) -> bool:
    """Say whether an argument is a tensor map that says what it is of, or a tuple of them."""
    if isinstance(a, tuple):
        return bool(a) and all(map(is_map, a))
    return all(hasattr(a, name) for name in ("array", "box", "swizzle", "dtype"))


def argument(a, name: str, of) -> Array:
    """A tensor map as a kernel has it; ``of(array)`` is its matrix as the launch has it.

    Several are an array of as many rows: ``maps[j]`` is one of them.
    """
    if isinstance(a, tuple):
        several = tuple(argument(each, name, of).buffer for each in a)
        shape, flat = (len(a), BYTES), np.zeros(len(a) * BYTES, np.uint8)
        buffer = MapBuffer(
            name, "global", flat.dtype, flat.size, flat, 0, shape, (BYTES, 1), several=several
        )
        return Array(buffer, 0, shape, (BYTES, 1))
    of = of(a.array)
    if not isinstance(of, Array):
        raise KernelError(f"argument {name} is a tensor map of {type(of).__name__}: give an array")
    flat = np.zeros(BYTES, np.uint8)
    buffer = MapBuffer(name, "global", flat.dtype, BYTES, flat, 0, (BYTES,), (1,), of=of, map=a)
    return Array(buffer, 0, (BYTES,), (1,))
