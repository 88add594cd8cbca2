"""A matrix of 4-bit weights times a vector: an eighth of the bytes of float32.

Rows of W are cut into groups of 128. Each group has a scale, and each weight is one of 16 whole
numbers: w ≈ scale · (q - 8). A word of 32 bits holds eight of them, the first in its lowest bits.
"""

from collections.abc import Callable
from functools import cache

import numpy as np

from kernels import host, ptx
from kernels.backend import cuda, float32, uint32
from kernels.backend.vector import aligned16, load4_guarded, unrolled
from kernels.host import cdiv
from kernels.host.follow import prepared
from kernels.primitives.reduction import BLOCK, WARPS, sum_of_warp

GROUP = 128  #: weights that share a scale
EACH = 8  #: weights of a word
ZERO = 8  #: the number that stands for 0
#: The bits of the float32 2²³. Its last bit counts ones: put q there, and it is 2²³ + q.
MAGIC = 0x4B000000


@cache
def make_int4(ROWS):
    """Return the kernel whose warps take so many rows, launched ``(packed, scales, X, y)``."""

    @cuda.jit
    def matvec_int4(packed, scales, X, y):
        acc = cuda.local.array(ROWS, float32)
        x = cuda.local.array(EACH, float32)
        bits = cuda.local.array(ROWS, uint32)
        lane = cuda.threadIdx.x % 32
        row0 = (cuda.blockIdx.x * WARPS + cuda.threadIdx.x // 32) * ROWS
        N, words = packed.shape
        wide = aligned16(X)
        for i in range(ROWS):
            acc[i] = float32(0)
        unrolled()
        for word in range(lane, words, 32):
            # All loads first. A row beyond the last is the last once more.
            for i in range(ROWS):
                bits[i] = packed[min(row0 + i, N - 1), word]
            unrolled()
            # Eight numbers of x serve all rows of the warp.
            x[0], x[1], x[2], x[3] = load4_guarded(X, 0, EACH * word, wide)
            x[4], x[5], x[6], x[7] = load4_guarded(X, 0, EACH * word + 4, wide)
            for i in range(ROWS):
                part = float32(0)
                for j in range(EACH):
                    q = uint32(uint32(bits[i] >> uint32(4 * j)) & uint32(15))
                    # The bits of 2²³ + q: no conversion.
                    weight = ptx.uint_as_float(uint32(q | uint32(MAGIC))) - float32(2**23 + ZERO)
                    part += weight * x[j]
                unrolled()
                acc[i] += scales[min(row0 + i, N - 1), word * EACH // GROUP] * part
            unrolled()
        for i in range(ROWS):
            total = sum_of_warp(acc[i])
            if lane == 0 and row0 + i < N:
                y[row0 + i] = total
        unrolled()

    return matvec_int4


def quantise(W) -> tuple[np.ndarray, np.ndarray]:
    """Return (packed, scales) of a NumPy matrix, rounded to the nearest of 15 values per group.

    Parameters
    ----------
    W : array of float32, shape (N, K)
        K a multiple of `GROUP`.

    Returns
    -------
    packed : array of uint32, shape (N, K / 8)
    scales : array of float32, shape (N, K / 128)

    Raises
    ------
    ValueError
        If K is not a multiple of `GROUP`.
    """
    W = np.asarray(W, np.float32)
    N, K = W.shape
    check_columns(K)
    groups = W.reshape(N, -1, GROUP)
    scales = abs(groups).max(axis=2) / np.float32(7)
    safe = np.where(scales > 0, scales, np.float32(1))[..., None]
    q = (np.rint(groups / safe) + ZERO).astype(np.uint32).reshape(N, -1, EACH)
    shifts = np.arange(0, 4 * EACH, 4, dtype=np.uint32)
    return np.bitwise_or.reduce(q << shifts, axis=2), scales.astype(np.float32)


def dequantise(packed, scales) -> np.ndarray:
    """Return the float32 matrix that packed weights stand for."""
    shifts = np.arange(0, 4 * EACH, 4, dtype=np.uint32)
    q = (packed[:, :, None] >> shifts & np.uint32(15)).astype(np.float32) - np.float32(ZERO)
    N = len(packed)
    return (q.reshape(N, -1, GROUP) * scales[:, :, None]).reshape(N, -1)


def check_columns(K: int) -> None:
    """Raise ValueError where rows are not whole groups."""
    if not K or K % GROUP:
        raise ValueError(f"W has {K} columns: fill it up with zeros to a multiple of {GROUP}")


class Quantised(host.Operands):
    """The operands of y = W·x: packed weights, their scales, and x."""

    def __init__(self, packed, scales, x, out=None):
        host.check_array(packed, "packed", 2, ("uint32",))
        host.check_array(scales, "scales", 2)
        host.check_array(x, "x", 1)
        self.N, words = packed.shape
        self.K = EACH * words
        check_columns(self.K)
        if scales.shape != (self.N, self.K // GROUP) or x.shape != (self.K,):
            raise ValueError(
                f"packed is {self.N}×{words}: scales must be {self.N}×{self.K // GROUP} and x have "
                f"{self.K} elements; they have {'×'.join(map(str, scales.shape))} and {len(x)}"
            )
        self._sizes = self.N, self.K
        super().__init__({"packed": packed, "scales": scales, "x": x}, out, (self.N,), "numba")

    def launcher(self, rows: int = 4) -> Callable[[], object]:
        """Return a function that launches it, `rows` rows of W per warp."""
        packed, scales, x, y = self.arguments()
        grid = host.check_grid(cdiv(self.N, WARPS * rows))
        return prepared(make_int4(rows), grid, (BLOCK,), (packed, scales, x.reshape(1, -1), y))


def matvec_int4(packed, scales, x, out=None, rows=4):
    """Return y = W·x for a matrix of 4-bit weights, as `quantise` packs it.

    Parameters
    ----------
    packed : array of uint32, shape (N, K / 8)
    scales : array of float32, shape (N, K / 128)
    x : array of float32, shape (K,)
    out : array of float32, shape (N,), optional
    rows : int
        Rows that a warp takes: x is loaded once for all of them.

    Returns
    -------
    array of float32, shape (N,)

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        One line that names the value, the limit and the way out.
    """
    operands = Quantised(packed, scales, x, out)
    operands.launcher(rows)()
    return operands.result()
