"""Tensor maps: what the TMA unit of an sm_90 GPU has to know of a matrix to copy tiles of it."""

from functools import lru_cache

import numpy as np

from kernels.engine import on_gpu
from microscope import TensorMap

__all__ = ["tensor_map"]


def tensor_map(array, rows: int, cols: int, dtype: str):
    """Return the tensor map of a matrix, or of a row of them, ready to be passed by value.

    The driver packs address, shape, pitch and tile into 128 bytes. What a tile holds beyond the
    edges of the matrix is filled with zeros when loaded and dropped when stored; in shared memory
    the 16-byte chunks of its rows are swizzled, so that 8 rows of one column lie in 8 different
    groups of banks.

    Parameters
    ----------
    array : CuPy array, two- or three-dimensional
        The elements of a row side by side, its rows on 16-byte boundaries; gaps between rows and
        matrices are left out. Of three dimensions, the first counts matrices: a tile belongs to one
        of them, and each has edges of its own.
    rows, cols : int
        Shape of a tile; a row of it takes at most 128 bytes.
    dtype : {"float32", "float16", "bfloat16", "uint8"}
        Number format of the matrix; "uint8" for any of 8 bits.

    Returns
    -------
    ndarray of 128 bytes, shape (1,)
        Without a GPU, what the microscope takes for it.

    Raises
    ------
    ValueError
        What the driver does not take, with the values.
    """
    tile = (1,) * (len(array.shape) - 2) + (rows, cols)
    if not on_gpu:
        return TensorMap(array, tile, dtype)
    # From a row to the next, and from a matrix to the next. A single one may have any stride: it
    # gets what it would have without gaps.
    apart, close = [], -(-array.shape[-1] * array.itemsize // 16) * 16
    for count, stride in zip(array.shape[-2::-1], array.strides[-2::-1], strict=True):
        apart.append(stride if count > 1 else close)
        close = count * apart[-1]
    made = encoded(array.data.ptr, array.shape, tuple(apart), tile, dtype).view(Encoded)
    made.of = array, tile, dtype
    return made


class Encoded(np.ndarray):
    """The 128 bytes of a tensor map, as the driver made them, and the matrix that they are of."""

    of: tuple

    def in_microscope(self) -> TensorMap:
        """Return what the microscope takes for it: the map of a copy on the host."""
        array, tile, dtype = self.of
        return TensorMap(array.get(), tile, dtype)


@lru_cache(maxsize=256)
def encoded(address: int, shape: tuple, apart: tuple, tile: tuple, dtype: str):
    """The 128 bytes of `tensor_map`, of a matrix at an address; `apart` in bytes, rows first."""
    from cuda.bindings import driver

    formats, sizes = driver.CUtensorMapDataType, driver.cuuint64_t
    # The driver counts dimensions from the one whose elements are neighbours: x before y.
    status, made = driver.cuTensorMapEncodeTiled(
        getattr(formats, f"CU_TENSOR_MAP_DATA_TYPE_{dtype.upper()}"),
        len(shape),
        address,
        [sizes(n) for n in reversed(shape)],
        [sizes(n) for n in apart],
        [driver.cuuint32_t(n) for n in reversed(tile)],
        [driver.cuuint32_t(1)] * len(shape),
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        driver.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_128B,
        driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )
    if status != driver.CUresult.CUDA_SUCCESS:
        raise ValueError(
            f"no tensor map ({status.name}) for {'×'.join(map(str, shape))} {dtype} at"
            f" {address:#x}, strides {apart}, tile {'×'.join(map(str, tile))}:"
            " rows must start on 16-byte boundaries"
        )
    return np.array([int(word) for word in made.opaque], np.uint64).view("V128")
