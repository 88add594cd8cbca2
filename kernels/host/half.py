"""Numbers of 16 bits, as tensor cores take them: float16, and bfloat16 as its bits.

What is said of formats here includes e4m3, of 8 bits, whose numbers `kernels.host.e4m3` explains.

float16 has 11 significant bits and ends at 65504; bfloat16 is the upper half of a float32: 8
significant bits, and the whole range. NumPy and CuPy have no bfloat16, so its bits travel in
arrays of uint16: `bfloat16` makes them, `floats` reads them. Arrays of the package ml_dtypes, where
a reader has it, are taken as they are.
"""

from dataclasses import dataclass

import numpy as np

from kernels import host
from kernels.backend import cupy, on_gpu, why_cpu
from kernels.host import e4m3, rows
from kernels.host.model import Access, Model
from kernels.host.options import either

__all__ = [
    "DTYPES",
    "E4M3",
    "PARTS",
    "HalfModel",
    "HalfProduct",
    "aligned",
    "bfloat16",
    "cast",
    "check_aligned",
    "dtype_of",
    "floats",
    "half_model",
    "int32s",
    "is_aligned",
    "stored",
]

#: What the format of 8 bits is called; its numbers travel as their bits, too, in uint8.
E4M3 = "e4m3"
#: The format that an array's dtype stands for.
DTYPES = {
    "float16": "float16", "uint16": "bfloat16", "bfloat16": "bfloat16",
    "uint8": E4M3, "float8_e4m3fn": E4M3,
}  # fmt: skip
#: What float32 is called where a kernel takes each number apart into three of bfloat16: a name of
#: its own, so that it takes the place of plain float32 only where somebody asks for it.
PARTS = "bfloat16x3"
#: Elements of 2 bytes in the 16 bytes that one thread, or the TMA unit, loads at once, and of 1.
CHUNK, CHUNK_OF_BYTES = 8, 16


# ---------------------------------------------------------------------------------- conversions


def bfloat16(array):
    """Return the bits of `array` rounded to bfloat16 (to nearest, ties to even), as uint16."""
    array = array.astype(np.float32)
    bits = array.view(np.uint32)
    rounded = ((bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    rounded[array != array] = 0x7FC0  # rounding could turn a NaN into an infinity
    return rounded


def floats(array):
    """Return an array of 16-bit numbers (uint16: the bits of bfloat16) or of e4m3 as float32."""
    if array.dtype == np.uint16:
        return (array.astype(np.uint32) << 16).view(np.float32)
    if array.dtype == np.uint8:
        return e4m3.floats(array)
    return array.astype(np.float32)


def cast(array, dtype: str):
    """Return a float32 array in a format of the rungs: bfloat16 as uint16, e4m3 as uint8."""
    if dtype == E4M3:
        return e4m3.rounded(array)
    return bfloat16(array) if dtype == "bfloat16" else array.astype(stored(dtype))


def stored(dtype: str) -> str:
    """Return the format in which arrays hold it: for `PARTS` that is "float32"."""
    return "float32" if dtype == PARTS else dtype


def dtype_of(array) -> str:
    """Return the format of an array's numbers: one of `DTYPES`, or its dtype's own name."""
    return DTYPES.get(str(array.dtype), str(array.dtype))


# ----------------------------------------------------------------------------------- operands


class HalfProduct(host.Product):
    """The operands of C = A·B with A and B in 16 bits, and C in float32 or as A and B.

    The arrays that the kernel gets have rows that start on 16-byte boundaries: those that do not
    are copied to wider ones, with zeros to the right.

    Parameters
    ----------
    A, B : array of float16 or bfloat16, shapes (M, K) and (K, N)
        bfloat16 as uint16, or of ml_dtypes.
    out : array, shape (M, N), optional
        Its format decides that of C; a new array holds float32.
    engine : {"numba", "cpp"}
    """

    takes = ("float16", "bfloat16", "uint16")

    def __init__(self, A, B, out=None, engine="numba"):
        for name, array in (("A", A), ("B", B)):
            host.check_array(array, name, 2, self.takes)
        self.format = dtype_of(A)
        if dtype_of(B) != self.format:
            raise TypeError(f"A holds {self.format} and B {dtype_of(B)}: make them the same")
        if engine == "cpp" and not on_gpu:
            raise RuntimeError(
                f"engine 'cpp' needs an NVIDIA GPU ({why_cpu}):"
                " use a rung that is in Numba, such as wgmma or tiled"
            )
        self._given = out
        if out is not None:
            host.check_array(out, "out", 2, ("float32", *HalfProduct.takes))
            if dtype_of(out) not in self.gives:
                raise TypeError(f"out holds {dtype_of(out)}; expected {either(self.gives)}")
            out = bits(out)
            self.dtype = np.dtype(out.dtype)
        super().__init__(bits(A), bits(B), out, engine)

    @property
    def gives(self) -> tuple[str, ...]:
        """The formats that C may have."""
        return "float32", self.format

    @property
    def macros(self) -> dict[str, int]:
        """What the kernels are compiled with: the formats of A and B, and of C."""
        return {"BF16": int(self.format == "bfloat16"), "HALF_C": int(self.dtype.itemsize == 2)}

    def cpp_arguments(self) -> tuple:
        """Return (A, B, C) on the device as the kernels read and write them."""
        A, B, _ = (cupy.asarray(array) for array in super().arguments())
        result, self._packed = cupy.asarray(self._result), None
        with host.memory_errors(2 * self.nbytes):  # about, and at most: not all are copied
            if not is_aligned(result):
                result = cupy.empty((self.M, width_of_copy(self.N, CHUNK)), self.dtype)
                self._packed = result[:, : self.N]
            self.on_device = *self.laid_out(A, B), result
        return self.on_device

    def laid_out(self, A, B) -> tuple:
        """Return A and B with their rows on 16-byte boundaries."""
        return self._aligned(A), self._aligned(B)

    def _aligned(self, array):
        wide = aligned(array)
        if wide is not array:
            self._copied.append((wide[:, : array.shape[1]], array))
        return wide

    def result(self):
        """Return the output: `out` if there is one, else an array of the kind of the inputs."""
        result = super().result()
        return result if self._given is None else self._given


def int32s(*sizes: int) -> tuple:
    """Return sizes as the kernels take them; ValueError where one does not fit."""
    host.check_indices("cpp", *sizes)
    return tuple(np.int32(size) for size in sizes)


def bits(array):
    """Return an array that NumPy and CuPy understand: that of ml_dtypes as its bits."""
    kinds = {"bfloat16": np.uint16, "float8_e4m3fn": np.uint8}
    kind = kinds.get(str(array.dtype))
    return array if kind is None else array.view(kind)


def chunk(array) -> int:
    """Return how many elements of an array rows are a multiple of, to start on 16 bytes each."""
    return CHUNK_OF_BYTES if array.dtype.itemsize == 1 else CHUNK


def is_aligned(array) -> bool:
    """Whether a CuPy array is contiguous and all its rows start on 16-byte boundaries."""
    fits = array.shape[1] % chunk(array) == 0 and host.address(array) % 16 == 0
    return bool(fits and array.flags.c_contiguous)


def check_aligned(**arrays) -> None:
    """Raise ValueError unless the rows of these CuPy arrays lie as the kernels want them."""
    for name, array in arrays.items():
        if not is_aligned(bits(array)):
            raise ValueError(
                f"{name} ({'×'.join(map(str, array.shape))}) has rows that start on no 16-byte"
                " boundary, or gaps between them: use matmul, which copies it"
            )


def width_of_copy(cols: int, chunk: int) -> int:
    """Return how many columns a copy of rows has, whose own are a multiple of `chunk` or not.

    Whole lines of 128 bytes: of a row that begins 16 bytes later, each piece of 128 bytes that the
    TMA unit loads lies in two of them.
    """
    return cols if cols % chunk == 0 else host.cdiv(cols, 8 * chunk) * 8 * chunk


def aligned(array):
    """Return the array, or a copy with zeros to the right, so that rows start on 16 bytes."""
    if is_aligned(array):
        return array
    height, cols = array.shape
    wide = cupy.zeros((height, width_of_copy(cols, chunk(array))), array.dtype)
    rows.copy(wide[:, :cols], array)
    return wide


# -------------------------------------------------------------------------------------- models


@dataclass(frozen=True)
class HalfModel(Model):
    """The predicted work and traffic of one launch; C has 4 bytes per element, A and B have 2."""

    itemsize: int = 2  #: of A and B, in bytes

    @property
    def bytes_requested(self) -> int:
        """Bytes asked of global memory, every load and store counted."""
        return self.itemsize * sum(self.loads.values()) + 4 * sum(self.stores.values())

    @property
    def bytes_compulsory(self) -> int:
        """Bytes that must move at least once: every input in, every output out."""
        size = {"reads": self.itemsize, "writes": 4}
        return sum(
            size[way] * access.rows * access.cols
            for way in size
            for access in getattr(self, way).values()
        )


def half_model(M: int, N: int, K: int, down: int, across: int, itemsize: int = 2) -> HalfModel:
    """Return the model of a product that loads A once for `across` columns of tiles, B for `down`.

    Tiles come in pieces that are no requests of single threads, so those are not predicted.
    """
    host.check_sizes(M=M, N=N, K=K)

    def access(rows, cols, readers):
        return Access(rows, cols, readers=readers, sweeps=None, height=None, width=None)

    return HalfModel(
        flops=2 * M * N * K,
        reads={"A": access(M, K, across), "B": access(K, N, down)},
        writes={"C": access(M, N, 1)},
        itemsize=itemsize,
    )
