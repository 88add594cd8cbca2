"""The sum of a vector in five steps: two trees in shared memory, shuffles, more loads, wide loads.

A block adds up its numbers and stores one sum. The next launch adds up those sums, until one is
left. The order of the additions follows from the vector's length and address alone, so every run,
on any GPU, finds the same sum.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from kernels import host
from kernels.backend import cuda, float32
from kernels.backend.vector import aligned16, load4, unrolled
from kernels.host import cdiv, cpp
from kernels.host.follow import prepared
from kernels.host.model import WARP, Access, Model
from kernels.host.versions import Versions
from kernels.primitives.vector import Vector

BLOCK = 256  #: threads
WARPS = BLOCK // WARP
ALL = 0xFFFFFFFF  #: every lane of the warp takes part
EACH = 8  #: numbers of a thread of `sum_several`
MOST_BLOCKS = 1024  #: of a grid that steps over the vector


@cuda.jit
def sum_interleaved(a, sums):
    s = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * BLOCK + t
    s[t] = a[i] if i < a.size else float32(0)
    # Nobody may read another thread's number before it has been stored.
    cuda.syncthreads()
    step = 1
    while step < BLOCK:
        if t % (2 * step) == 0:
            s[t] += s[t + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        sums[cuda.blockIdx.x] = s[0]


@cuda.jit
def sum_tree(a, sums):
    s = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * BLOCK + t
    s[t] = a[i] if i < a.size else float32(0)
    # Nobody may read another thread's number before it has been stored.
    cuda.syncthreads()
    step = BLOCK // 2
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = s[0]


@cuda.jit(device=True)
def sum_of_warp(value):
    """Return the sum over the warp in lane 0."""
    step = 16
    while step > 0:
        value += cuda.shfl_down_sync(ALL, value, step)
        step //= 2
    return value


@cuda.jit(device=True)
def sum_of_block(value):
    """Return the sum over the block in thread 0."""
    sums_of_warps = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    value = sum_of_warp(value)
    if t % 32 == 0:
        sums_of_warps[t // 32] = value
    # The first warp may read a sum only after its warp has stored it.
    cuda.syncthreads()
    if t < 32:
        value = sum_of_warp(sums_of_warps[t] if t < WARPS else float32(0))
    return value


@cuda.jit
def sum_shuffled(a, sums):
    i = cuda.blockIdx.x * BLOCK + cuda.threadIdx.x
    acc = sum_of_block(a[i] if i < a.size else float32(0))
    if cuda.threadIdx.x == 0:
        sums[cuda.blockIdx.x] = acc


@cuda.jit
def sum_several(a, sums):
    start = cuda.blockIdx.x * (BLOCK * EACH) + cuda.threadIdx.x
    acc = float32(0)
    # No load needs another's number: all are under way before the first addition.
    for j in range(EACH):
        i = start + j * BLOCK
        acc += a[i] if i < a.size else float32(0)
    unrolled()
    acc = sum_of_block(acc)
    if cuda.threadIdx.x == 0:
        sums[cuda.blockIdx.x] = acc


@cuda.jit
def sum_vectorized(a, fours, sums):
    start = cuda.blockIdx.x * BLOCK + cuda.threadIdx.x
    step = cuda.gridDim.x * BLOCK
    whole = fours.shape[0] if aligned16(fours) else 0
    acc = float32(0)
    for i in range(start, whole, step):
        p, q, r, s = load4(fours, i, 0)
        acc += (p + q) + (r + s)
    # What is left: at most three numbers, or all where the vector begins off a 16-byte boundary.
    for i in range(4 * whole + start, a.size, step):
        acc += a[i]
    acc = sum_of_block(acc)
    if cuda.threadIdx.x == 0:
        sums[cuda.blockIdx.x] = acc


# ----------------------------------------------------------------------------------- the versions


@dataclass(frozen=True)
class Version:
    """One way to add up a vector.

    Attributes
    ----------
    name : str
        Its key in `VERSIONS`; the kernel in either language is called ``sum_NAME``.
    title : str
        What a table calls it.
    kernel : callable
        The Numba kernel: launch it ``[grid, block](*views(a), sums)``.
    vector : int
        Numbers per load: 1, or 4 by a grid of at most `MOST_BLOCKS` blocks that steps over them.
    each : int
        Loads of a thread, where their number is fixed.
    """

    name: str
    title: str
    kernel: Callable
    vector: int = 1
    each: int = 1

    def views(self, a) -> tuple:
        """Return what the kernel reads: the contiguous vector, and its whole groups of four."""
        return (a,) if self.vector == 1 else (a, a[: a.size // 4 * 4].reshape(-1, 4))

    def launch(self, n: int) -> tuple[tuple[int], tuple[int]]:
        """Return (grid, block) of the launch that adds up n numbers, block by block."""
        blocks = max(1, cdiv(n, BLOCK * self.vector * self.each))
        return host.check_grid(blocks if self.vector == 1 else min(blocks, MOST_BLOCKS)), (BLOCK,)

    def passes(self, n: int) -> Iterator[tuple[int, tuple[int]]]:
        """Yield (numbers, grid) of each launch until one sum is left."""
        while True:
            grid, _ = self.launch(n)
            yield n, grid
            if grid == (1,):
                return
            (n,) = grid

    def depth(self, n: int) -> int:
        """Return the additions, at most, that one of n numbers goes through.

        A thread adds up its own, and a tree of 8 levels those of 256 threads. The sum is off by at
        most ``d·u / (1 - d·u)`` times the sum of the absolute values, with ``u = 2**-24``. (Higham,
        *Accuracy and Stability of Numerical Algorithms*, 2nd ed., section 4.2.)
        """
        own = 0
        for numbers, (blocks,) in self.passes(n):
            own += self.each - 1 if self.vector == 1 else cdiv(numbers, blocks * BLOCK) + 3
            own += BLOCK.bit_length() - 1
        return own

    def model(self, n: int) -> Model:
        """Predict the traffic of the first launch: each number loaded once, each sum stored.

        The vector starts at a multiple of 16 bytes.
        """
        host.check_sizes(n=n)
        (blocks,), _ = self.launch(n)
        once = {"readers": 1, "sweeps": 1, "height": 1}
        whole = n // 4 * 4 if self.vector == 4 else 0
        parts = {"fours": Access(1, whole, **once, width=4 * WARP)} if whole else {}
        parts |= {"a": Access(1, n - whole, **once, width=WARP)} if n > whole else {}
        return Model(flops=n - 1, reads=parts, writes={"sums": Access(1, blocks, **once, width=1)})

    def launcher(self, a, out, engine: str = "numba") -> Callable[[], object]:
        """Return a function that adds up a CuPy vector `a` into `out`, of one element."""
        host.check_resident(a=a, out=out)
        return self._launcher(Vector(a, out, engine, results=1))

    def _launcher(self, vector: Vector) -> Callable[[], object]:
        """Return a function that launches all passes on checked operands."""
        left, last = vector.contiguous()
        launches = []
        for _, grid in self.passes(vector.n):
            sums = last if grid == (1,) else vector.workspace(grid)
            launches.append(self._bound(grid, left, sums, vector.engine))
            left = sums
        return lambda: [launch() for launch in launches]

    def _bound(self, grid, a, sums, engine: str) -> Callable[[], object]:
        if engine == "cpp":
            return prepared(self.cpp_kernel(), grid, (BLOCK,), (a, sums, np.int32(a.size)))
        return prepared(self.kernel, grid, (BLOCK,), (*self.views(a), sums))

    def cpp_kernel(self):
        """Return the compiled CUDA C++ kernel."""
        return cpp.load("reduction", f"sum_{self.name}")


VERSIONS = Versions(
    "sum",
    Version("interleaved", "tree, neighbours first", sum_interleaved),
    Version("tree", "tree, halves first", sum_tree),
    Version("shuffled", "warp shuffles", sum_shuffled),
    Version("several", f"{EACH} numbers per thread", sum_several, each=EACH),
    Version("vectorized", "16 bytes per load, grid-stride", sum_vectorized, vector=4),
)


def total(a, out=None, engine="numba", version="vectorized"):
    """Return the sum of a vector.

    Parameters
    ----------
    a : array of float32, shape (n,)
        Of any length, 0 included. A NumPy array is copied to the device; CuPy and Numba arrays
        stay there. One that is not contiguous is copied.
    out : array of float32, shape (1,), optional
        Where the sum goes, on the side where `a` is.
    engine : {"numba", "cpp"}
        Which of the counterparts runs; "cpp" needs a GPU.
    version : str
        Key of `VERSIONS`.

    Returns
    -------
    array of float32, shape (1,)
        `out`, or a new array of the kind of `a`. `Version.depth` bounds its error.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        One line that names the value, the limit and the way out.
    """
    chosen, operands = VERSIONS[version], Vector(a, out, engine, results=1)
    chosen._launcher(operands)()
    return operands.result()
