"""Softmax of rows: three passes over a row, two with a running maximum, one for short rows.

The softmax of a row x is exp(x - m) / Σ exp(x - m), where m is its largest element: no
exponential exceeds 1, so none overflows. A block of eight warps takes one row; a row of at most
1024 elements fits in the registers of a single warp (`Registers`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from kernels import host
from kernels.backend import cuda, float32, uint32
from kernels.backend.vector import unrolled
from kernels.host import cdiv, cpp
from kernels.host.model import Access, Model
from kernels.host.versions import Versions

WARPS = 8  #: of a block
THREADS = 32 * WARPS
ALL = 0xFFFFFFFF  #: the lanes of a warp, a bit each
#: Where a running maximum begins. Not -inf: the difference of two of those is no number.
LOWEST = float32(-3.0e38)


@cuda.jit(device=True)
def largest_of_block(x, parts):
    # Five exchanges leave every lane with the largest of its warp.
    for offset in (16, 8, 4, 2, 1):
        x = max(x, cuda.shfl_xor_sync(ALL, x, offset))
    # The warps before may still be reading what the last call left there.
    cuda.syncthreads()
    if cuda.threadIdx.x % uint32(32) == 0:
        parts[cuda.threadIdx.x // uint32(32)] = x
    cuda.syncthreads()
    for i in range(WARPS):
        x = max(x, parts[i])
    return x


@cuda.jit(device=True)
def sum_of_block(x, parts):
    for offset in (16, 8, 4, 2, 1):
        x += cuda.shfl_xor_sync(ALL, x, offset)
    cuda.syncthreads()
    if cuda.threadIdx.x % uint32(32) == 0:
        parts[cuda.threadIdx.x // uint32(32)] = x
    cuda.syncthreads()
    x = float32(0)
    for i in range(WARPS):
        x += parts[i]
    return x


@cuda.jit
def softmax_safe(A, P):
    parts = cuda.shared.array(WARPS, float32)
    t, row = uint32(cuda.threadIdx.x), uint32(cuda.blockIdx.x)
    N = uint32(A.shape[1])
    largest = LOWEST
    for col in range(t, N, uint32(THREADS)):
        largest = max(largest, A[row, col])
    largest = largest_of_block(largest, parts)
    total = float32(0)
    for col in range(t, N, uint32(THREADS)):
        total += math.exp(A[row, col] - largest)
    total = sum_of_block(total, parts)
    for col in range(t, N, uint32(THREADS)):
        P[row, col] = math.exp(A[row, col] - largest) / total


@cuda.jit
def softmax_online(A, P):
    parts = cuda.shared.array(WARPS, float32)
    t, row = uint32(cuda.threadIdx.x), uint32(cuda.blockIdx.x)
    N = uint32(A.shape[1])
    largest, total = LOWEST, float32(0)
    for col in range(t, N, uint32(THREADS)):
        x = A[row, col]
        above = max(largest, x)
        # The sum so far was taken relative to the old maximum: rescale it, then add.
        total = total * math.exp(largest - above) + math.exp(x - above)
        largest = above
    # Each thread's sum is relative to its own maximum until here.
    above = largest_of_block(largest, parts)
    total = sum_of_block(total * math.exp(largest - above), parts)
    for col in range(t, N, uint32(THREADS)):
        P[row, col] = math.exp(A[row, col] - above) / total


@cache
def make_registers(EACH):
    """Return the kernel for rows of up to 32 · EACH elements, launched ``(A, P)``."""

    @cuda.jit
    def softmax_registers(A, P):
        x = cuda.local.array(EACH, float32)
        lane, N = uint32(cuda.threadIdx.x % 32), uint32(A.shape[1])
        row = uint32(cuda.blockIdx.x * WARPS + cuda.threadIdx.x // 32)
        # The whole warp has the same row: it stays together.
        if row >= A.shape[0]:
            return
        largest, total = LOWEST, float32(0)
        for j in range(EACH):
            col = lane + uint32(32 * j)
            x[j] = A[row, col] if col < N else float32(-math.inf)
        unrolled()
        for j in range(EACH):
            largest = max(largest, x[j])
        unrolled()
        for offset in (16, 8, 4, 2, 1):
            largest = max(largest, cuda.shfl_xor_sync(ALL, largest, offset))
        for j in range(EACH):
            x[j] = math.exp(x[j] - largest)  # where there is no element, 0
            total += x[j]
        unrolled()
        for offset in (16, 8, 4, 2, 1):
            total += cuda.shfl_xor_sync(ALL, total, offset)
        for j in range(EACH):
            col = lane + uint32(32 * j)
            if col < N:
                P[row, col] = x[j] / total
        unrolled()

    return softmax_registers


# ----------------------------------------------------------------------------------- the versions


@dataclass(frozen=True)
class Version:
    """One way to take the softmax of rows.

    Attributes
    ----------
    name : str
        Its key in `VERSIONS`; the kernel in either language is called ``softmax_NAME``.
    title : str
        What a table calls it.
    kernel : callable
        The Numba kernel: launch it ``[grid, block](A, P)``.
    passes : int
        How often it loads a row.
    """

    name: str
    title: str
    kernel: Callable
    passes: int

    def launch(self, M: int, N: int) -> tuple[tuple[int], tuple[int]]:
        """Return (grid, block) of one block for each of M rows."""
        host.check_sizes(M=M, N=N)
        return host.check_grid(M), (THREADS,)

    def model(self, M: int, N: int) -> Model:
        """Predict the traffic: every pass loads an element once, the last stores it."""
        host.check_sizes(M=M, N=N)
        A = Access(M, N, readers=self.passes, sweeps=self.passes, height=1, width=32)
        P = Access(M, N, readers=1, sweeps=1, height=1, width=32)
        return Model(flops=0, reads={"A": A}, writes={"P": P})

    def launcher(self, A, P, engine: str = "numba") -> Callable[[], object]:
        """Return a function that launches it on contiguous CuPy arrays A and P (M×N)."""
        host.check_resident(A=A, P=P)
        return self._launcher(Rows(A, P, engine))

    def _launcher(self, rows: "Rows") -> Callable[[], object]:
        return rows.launcher(self.kernel, self.cpp_kernel, *self.launch(rows.M, rows.N))

    def cpp_kernel(self):
        """Return the compiled CUDA C++ kernel."""
        return cpp.load("softmax", f"softmax_{self.name}")


VERSIONS = Versions(
    "softmax",
    Version("safe", "three passes", softmax_safe, passes=3),
    Version("online", "online: two passes", softmax_online, passes=2),
)


MOST_COLUMNS = 1024  #: of a row that fits in a warp's registers


@dataclass(frozen=True)
class Registers:
    """The softmax of rows of N elements, each loaded once: a warp holds a row in registers.

    Raises
    ------
    ValueError
        If N is not 1 to `MOST_COLUMNS`.
    """

    N: int

    name = "registers"
    title = "in registers: one pass"

    def __post_init__(self):
        if not 1 <= self.N <= MOST_COLUMNS:
            raise ValueError(
                f"rows of {self.N} elements do not fit in a warp's registers: use at most "
                f"{MOST_COLUMNS}, or version='online'"
            )

    @property
    def each(self) -> int:
        """Elements of a lane."""
        return cdiv(self.N, 32)

    @property
    def kernel(self):
        """The Numba kernel: launch it ``[grid, block](A, P)``."""
        return make_registers(self.each)

    def launch(self, M: int, N: int) -> tuple[tuple[int], tuple[int]]:
        """Return (grid, block) of one warp for each of M rows."""
        host.check_sizes(M=M, N=N)
        return host.check_grid(cdiv(M, WARPS)), (THREADS,)

    def model(self, M: int, N: int) -> Model:
        """Predict the traffic: each element loaded once and stored once."""
        once = Access(M, N, readers=1, sweeps=1, height=1, width=32)
        return Model(flops=0, reads={"A": once}, writes={"P": once})

    def launcher(self, A, P, engine: str = "numba") -> Callable[[], object]:
        """Return a function that launches it on contiguous CuPy arrays A and P (M×N)."""
        host.check_resident(A=A, P=P)
        return self._launcher(Rows(A, P, engine))

    def _launcher(self, rows: "Rows") -> Callable[[], object]:
        return rows.launcher(self.kernel, self.cpp_kernel, *self.launch(rows.M, rows.N))

    def cpp_kernel(self):
        """Return the compiled CUDA C++ kernel."""
        return cpp.load("softmax", "softmax_registers", EACH=self.each)


class Rows(host.Operands):
    """The operands of a softmax: A and P with `M` rows of `N` elements."""

    def __init__(self, A, out=None, engine="numba"):
        host.check_array(A, "A", 2)
        self._sizes = self.M, self.N = A.shape
        super().__init__({"A": A}, out, (self.M, self.N), engine)


def softmax(A, out=None, engine="numba", version="online"):
    """Return P, the softmax of each row of A.

    Parameters
    ----------
    A : array of float32, shape (M, N)
        A NumPy array is copied to the device; CuPy and Numba arrays stay there. Any strides: the
        Numba kernels follow them, the C++ counterparts get contiguous copies.
    out : array of float32, shape (M, N), optional
        Where P goes, on the side where A is.
    engine : {"numba", "cpp"}
        Which of the counterparts runs; "cpp" needs a GPU.
    version : str
        Key of `VERSIONS`, or "registers" for rows of at most `MOST_COLUMNS`.

    Returns
    -------
    array of float32, shape (M, N)
        `out`, or a new array of the kind of A.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        One line that names the value, the limit and the way out.
    """
    rows = Rows(A, out, engine)
    chosen = Registers(rows.N) if version == Registers.name else VERSIONS[version]
    chosen._launcher(rows)()
    return rows.result()


def error_bound(A) -> np.ndarray:
    """Return how far each element of a float32 softmax of A (NumPy, M×N) may be off.

    Rounding a difference in the exponent makes a relative error of its size; the sum adds one
    rounding for each of N terms, and 64 are left for exponentials, rescaling and the division.
    Results below 2⁻¹²⁵ may become zero.
    """
    A = np.asarray(A, np.float64)
    below = A - A.max(axis=1, keepdims=True)
    P = np.exp(below)
    P /= P.sum(axis=1, keepdims=True)
    far = np.where(P > 0, -below, 0)  # what is -inf has the weight 0, exactly
    distance = far + (P * far).sum(axis=1, keepdims=True)
    return 2.0**-24 * (distance + A.shape[1] + 64) * P + 2.0**-125
