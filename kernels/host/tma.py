"""Tensor maps: what the TMA unit of an sm_90 GPU has to know of a matrix to copy tiles of it."""

from functools import lru_cache

import numpy as np

from kernels.backend import on_gpu
from kernels.host.plans import unowned
from microscope import TensorMap

__all__ = ["EVERY", "WIDE", "tensor_map", "tensor_maps"]


def tensor_map(array, rows: int, cols: int, dtype: str, swizzle: int = 128):
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
    swizzle : {128, 0}
        Bytes of the pattern in which 16-byte chunks are laid; with 0 rows lie one after the other.

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
        return TensorMap(array, tile, dtype, swizzle)
    # From a row to the next, and from a matrix to the next. A single one may have any stride: it
    # gets what it would have without gaps.
    apart, close = [], -(-array.shape[-1] * array.itemsize // 16) * 16
    for count, stride in zip(array.shape[-2::-1], array.strides[-2::-1], strict=True):
        apart.append(stride if count > 1 else close)
        close = count * apart[-1]
    about = array.shape, tuple(apart), tile, dtype, swizzle
    made = encoded(array.data.ptr, *about).view(Encoded)
    made.of, made.about = (array, tile, dtype, swizzle), about
    return made


class Encoded(np.ndarray):
    """The 128 bytes of a tensor map, as the driver made them, and the matrix that they are of."""

    of: tuple
    about: tuple

    @property
    def place(self) -> int:
        """The address of the matrix."""
        return self.of[0].data.ptr

    def moved(self, by: int) -> np.ndarray:
        """Return the map of a matrix that lies so many bytes away."""
        return encoded(self.place + by, *self.about)

    def in_microscope(self) -> TensorMap:
        """Return what the microscope takes for it: the map of a copy on the host."""
        array, *about = self.of
        return TensorMap(array.get(), *about)


class Several(np.ndarray):
    """The bytes of several tensor maps, one after the other."""

    of: tuple

    def in_microscope(self) -> tuple[TensorMap, ...]:
        """Return what the microscope takes for them."""
        return tuple(one.in_microscope() for one in self.of)


#: Rows of any length, eight times as far apart, lie on boundaries of 16 bytes alike.
EVERY = 8
#: Numbers of a row in a tile of such maps: 64, and those before them in their 16 bytes.
WIDE = 72


def tensor_maps(array, dtype: str):
    """Return eight tensor maps of matrices of 16 bits whose rows start anywhere, and the shifts.

    The TMA unit copies from 16-byte boundaries alone. Map j is of rows j, j + 8, j + 16 and so on,
    which are as far from such boundaries as each other. It begins at the boundary at or before
    row j: each of its rows begins up to 7 numbers later. A tile has eight rows of 72 numbers, not
    swizzled, so it holds 64 of the matrix's, behind those few.

    Parameters
    ----------
    array : CuPy array, three-dimensional
        As in `tensor_map`, but for the distance between rows, and the first row's address.
    dtype : {"float16", "bfloat16"}

    Returns
    -------
    maps : ndarray of 8 times 128 bytes, shape (8,)
        A kernel's argument, uint8 of shape (8, 128); without a GPU, a tuple of tensor maps.
    shifts : numpy.int32
        By how many numbers the rows of map j are shifted: four bits for each, from the lowest.

    Notes
    -----
    Of fewer than eight rows, those maps that have none are of the first row.
    """
    batch, rows, width = array.shape
    size, (apart, pitch, _) = array.itemsize, array.strides
    first = array.data.ptr if on_gpu else array.ctypes.data
    made, shifts = [], 0
    for j in range(EVERY):
        start = first + (j if j < rows else 0) * pitch
        shift = start % 16 // size
        shifts |= shift << 4 * j
        shape = batch, max(1, -(-(rows - j) // EVERY)), width + shift
        view = _at(array, start - start % 16, shape, (apart, EVERY * pitch, size))
        made.append(tensor_map(view, EVERY, WIDE, dtype, swizzle=0))
    if not on_gpu:
        return tuple(made), np.int32(shifts)
    maps = np.concatenate(made).view(Several)
    maps.of = tuple(made)
    return maps, np.int32(shifts)


def _at(array, address: int, shape: tuple, strides: tuple):
    """An array in the memory around another one, which it keeps alive."""
    if on_gpu:
        return unowned(address, shape, strides, array.dtype, array.device.id)
    about = {"data": (address, False), "typestr": array.dtype.str, "version": 3}
    about |= {"shape": shape, "strides": strides}
    place = type("Place", (), {"__array_interface__": about, "of": array})()
    return np.asarray(place)


@lru_cache(maxsize=8192)
def encoded(address: int, shape: tuple, apart: tuple, tile: tuple, dtype: str, swizzle: int = 128):
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
        getattr(
            driver.CUtensorMapSwizzle,
            f"CU_TENSOR_MAP_SWIZZLE_{f'{swizzle}B' if swizzle else 'NONE'}",
        ),
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
