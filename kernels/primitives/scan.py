"""Prefix sums, out[i] = a[0] + … + a[i]: in three launches, and in one with look-back.

Three launches: each block adds up its tile; the sums of the tiles are scanned, in the same way;
each block scans its tile, beginning with the sum of all tiles before it. `LOOK_BACK` does it in one
launch: a block publishes its tile's sum and looks back at those before it.

Source: D. Merrill, M. Garland, *Single-pass Parallel Prefix Scan with Decoupled Look-back*, NVIDIA
technical report NVR-2016-002.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernels import host, ptx
from kernels.backend import cuda, cupy, float32, int32, on_gpu, uint32, uint64
from kernels.backend.vector import aligned16, load4_guarded, store4_guarded, unrolled
from kernels.host import cdiv, cpp
from kernels.host.follow import prepared
from kernels.host.model import WARP, Access, Model
from kernels.host.versions import Versions
from kernels.primitives.reduction import (
    ALL,
    BLOCK,
    WARPS,
    sum_of_block,
    sum_of_warp,
    sum_shuffled,
    sum_tree,
)
from kernels.primitives.vector import Vector


@cuda.jit
def scan_shared(a, before, out):
    s = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * BLOCK + t
    s[t] = a[i] if i < a.size else float32(0)
    cuda.syncthreads()
    step = 1
    while step < BLOCK:
        left = s[t - step] if t >= step else float32(0)
        # All have read before anybody writes, and all have written before anybody reads again.
        cuda.syncthreads()
        s[t] += left
        cuda.syncthreads()
        step *= 2
    start = before[cuda.blockIdx.x - 1] if cuda.blockIdx.x > 0 else float32(0)
    if i < a.size:
        out[i] = start + s[t]


@cuda.jit(device=True)
def scan_of_warp(value):
    """Return the sum over this lane and those before it."""
    lane = cuda.threadIdx.x % 32
    step = 1
    while step < 32:
        left = cuda.shfl_up_sync(ALL, value, step)
        if lane >= step:
            value += left
        step *= 2
    return value


@cuda.jit(device=True)
def sum_before(value):
    """Return the sum of what the threads of the block before this one hold."""
    s = cuda.shared.array(WARPS, float32)
    lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
    scanned = scan_of_warp(value)
    if lane == 31:
        s[warp] = scanned
    # The first warp may read a sum only after its warp has stored it.
    cuda.syncthreads()
    if warp == 0:
        sums = scan_of_warp(s[lane] if lane < WARPS else float32(0))
        if lane < WARPS:
            s[lane] = sums
    # And the others may read what the first warp made of it only after that.
    cuda.syncthreads()
    left = cuda.shfl_up_sync(ALL, scanned, 1)
    return (s[warp - 1] if warp > 0 else float32(0)) + (left if lane > 0 else float32(0))


@cuda.jit
def scan_shuffled(a, before, out):
    i = cuda.blockIdx.x * BLOCK + cuda.threadIdx.x
    value = a[i] if i < a.size else float32(0)
    left = sum_before(value)
    start = before[cuda.blockIdx.x - 1] if cuda.blockIdx.x > 0 else float32(0)
    if i < a.size:
        out[i] = start + (left + value)


@cuda.jit
def sum_tiles(a, sums):
    i = 4 * (cuda.blockIdx.x * BLOCK + cuda.threadIdx.x)
    p, q, r, s = load4_guarded(a, 0, i, aligned16(a))
    acc = sum_of_block((p + q) + (r + s))
    if cuda.threadIdx.x == 0:
        sums[cuda.blockIdx.x] = acc


@cuda.jit
def scan_vectorized(a, before, out):
    i = 4 * (cuda.blockIdx.x * BLOCK + cuda.threadIdx.x)
    wide = aligned16(a) and aligned16(out)
    p, q, r, s = load4_guarded(a, 0, i, wide)
    q += p
    r += q
    s += r
    left = sum_before(s)
    left += before[cuda.blockIdx.x - 1] if cuda.blockIdx.x > 0 else float32(0)
    store4_guarded(out, 0, i, left + p, left + q, left + r, left + s, wide)


#: What a tile has published: its own sum, or the sum of everything up to its end.
SUM, PREFIX = 1, 2


@cuda.jit(device=True)
def look_back(tile, sums, prefixes, states):
    """Return the sum of all tiles before this one: a warp calls it, each lane looks at one tile."""
    lane, before, last = cuda.threadIdx.x, float32(0), tile - 1
    while last >= 0:
        other, state, value = last - lane, uint32(PREFIX), float32(0)
        if other >= 0:
            published = ptx.global_address(states) + uint64(4) * uint64(1 + other)
            state = ptx.ld_acquire_gpu_u32(published)
            while state == 0:
                state = ptx.ld_acquire_gpu_u32(published)
            value = prefixes[other] if state == PREFIX else sums[other]
        # The nearest prefix ends the search; what lies before it is part of it.
        nearest = cuda.ffs(cuda.ballot_sync(ALL, state == PREFIX)) - 1
        if nearest >= 0 and lane > nearest:
            value = float32(0)
        before += sum_of_warp(value)
        if nearest >= 0:
            last = -1
        else:
            last -= 32
    return before  # in lane 0


#: Loads of a thread in `scan_lookback`, of 16 bytes each. Blocks look back, so few and tall tiles.
VECTORS = 8


@cuda.jit
def scan_lookback(a, sums, prefixes, states, out):
    s_tile = cuda.shared.array(1, int32)
    s_before = cuda.shared.array(1, float32)  # the sum of all tiles before this one
    s_warps = cuda.shared.array(WARPS, float32)  # of the tile, up to the end of each warp
    v = cuda.local.array((VECTORS, 4), float32)
    lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
    # Blocks take numbers in the order in which they start, so a tile's predecessors have started.
    if cuda.threadIdx.x == 0:
        s_tile[0] = cuda.atomic.add(states, 0, 1)
    cuda.syncthreads()
    tile = s_tile[0]
    # A warp's numbers are neighbours. All its loads are under way before the first addition.
    start = 4 * ((tile * WARPS + warp) * 32 * VECTORS + lane)
    wide = aligned16(a) and aligned16(out)
    for j in range(VECTORS):
        v[j, 0], v[j, 1], v[j, 2], v[j, 3] = load4_guarded(a, 0, start + 128 * j, wide)
    unrolled()
    total = float32(0)  # of the warp, so far
    for j in range(VECTORS):
        v[j, 1] += v[j, 0]
        v[j, 2] += v[j, 1]
        v[j, 3] += v[j, 2]
        scanned = scan_of_warp(v[j, 3])
        left = cuda.shfl_up_sync(ALL, scanned, 1)
        left = total + (left if lane > 0 else float32(0))
        for c in range(4):
            v[j, c] += left
        unrolled()
        total += cuda.shfl_sync(ALL, scanned, 31)
    unrolled()
    if lane == 0:
        s_warps[warp] = total
    cuda.syncthreads()
    if warp == 0:
        sums_of_warps = scan_of_warp(s_warps[lane] if lane < WARPS else float32(0))
        if lane < WARPS:
            s_warps[lane] = sums_of_warps
        whole = cuda.shfl_sync(ALL, sums_of_warps, WARPS - 1)
        # The fence comes between: whoever sees the state sees the sum as well.
        if lane == 0 and tile > 0:
            sums[tile] = whole
            cuda.threadfence()
            cuda.atomic.exch(states, 1 + tile, SUM)
        before = look_back(tile, sums, prefixes, states)
        if lane == 0:
            prefixes[tile] = before + whole
            cuda.threadfence()
            cuda.atomic.exch(states, 1 + tile, PREFIX)
            s_before[0] = before
    cuda.syncthreads()
    left = s_before[0] + (s_warps[warp - 1] if warp > 0 else float32(0))
    for j in range(VECTORS):
        p, q, r, s = left + v[j, 0], left + v[j, 1], left + v[j, 2], left + v[j, 3]
        store4_guarded(out, 0, start + 128 * j, p, q, r, s, wide)
    unrolled()


# ----------------------------------------------------------------------------------- the versions


@dataclass(frozen=True)
class Version:
    """One way to scan a vector.

    Attributes
    ----------
    name : str
        Its key in `VERSIONS`; the kernel in either language is called ``scan_NAME``.
    title : str
        What a table calls it.
    kernel : callable
        The Numba kernel: launch it ``[grid, block](a, before, out)``. ``before[b - 1]`` is the sum
        of all tiles before that of block b.
    sums : callable
        The Numba kernel that adds up the tiles, ``[grid, block](a, sums)``.
    file : str
        The CUDA C++ file of that kernel's counterpart.
    levels : int
        Additions, at most, that a number goes through on its way to a sum over its tile.
    vector : int
        Numbers of a thread: 1, or 4, where the kernels take vectors as matrices of one row.
    """

    name: str
    title: str
    kernel: Callable
    sums: Callable
    file: str
    levels: int
    vector: int = 1

    @property
    def tile(self) -> int:
        """Numbers that a block scans."""
        return BLOCK * self.vector

    def view(self, a):
        """Return a contiguous vector as the kernels take it."""
        return a if self.vector == 1 else a.reshape(1, -1)

    def launch(self, n: int) -> tuple[tuple[int], tuple[int]]:
        """Return (grid, block) of the launches that take n numbers."""
        host.check_sizes(n=n)
        return host.check_grid(cdiv(n, self.tile)), (BLOCK,)

    def depth(self, n: int) -> int:
        """Return the additions, at most, that one of n numbers goes through.

        With it as d, each prefix sum is off by at most ``d·u / (1 - d·u)`` times the sum of the
        absolute values up to it, with ``u = 2**-24``.
        """
        blocks = cdiv(n, self.tile)
        return self.levels if blocks <= 1 else self.levels + self.depth(blocks) + 1

    def model(self, n: int) -> Model:
        """Predict the traffic of the last launch; 4 numbers per load only where 4 divides n."""
        (blocks,), _ = self.launch(n)
        width = WARP * self.vector if n % self.vector == 0 else None
        once = {"readers": 1, "sweeps": 1, "height": 1}
        # All warps of a block load the one number that says what came before it.
        alike = {"readers": BLOCK, "sweeps": WARPS, "height": 1, "width": 1}
        before = {"before": Access(1, blocks - 1, **alike)} if blocks > 1 else {}
        each = Access(1, n, **once, width=width)
        return Model(flops=n - 1, reads={"a": each} | before, writes={"out": each})

    def launcher(self, a, out, engine: str = "numba") -> Callable[[], object]:
        """Return a function that scans a CuPy vector `a` into `out`."""
        host.check_resident(a=a, out=out)
        return self._launcher(Vector(a, out, engine))

    def _launcher(self, operands: Vector) -> Callable[[], object]:
        """Return a function that makes all launches on checked operands."""
        a, out = operands.contiguous()
        launches = list(self._launches(a, out, operands)) if operands.n else []
        return lambda: [launch() for launch in launches]

    def _launches(self, a, out, operands: Vector):
        launched, engine = self.launch(a.size), operands.engine
        (blocks,), _ = launched
        before = a  # of a single block, which asks for nothing before it
        if blocks > 1:
            sums, before = operands.workspace((blocks,)), operands.workspace((blocks,))
            yield self._bound(self.sums, self.file, launched, a.size, (self.view(a), sums), engine)
            yield from self._launches(sums, before, operands)
        arrays = self.view(a), before, self.view(out)
        yield self._bound(self.kernel, "scan", launched, a.size, arrays, engine)

    def _bound(self, kernel, file: str, launched, n: int, arrays: tuple, engine: str):
        if engine == "cpp":
            wide = host.wide(*(array for array in arrays if array.ndim == 2))
            compiled = cpp.load(file, name_of(kernel), **({"WIDE": wide} if file == "scan" else {}))
            return prepared(compiled, *launched, (*arrays, np.int32(n)))
        return prepared(kernel, *launched, arrays)


def name_of(kernel) -> str:
    """What a kernel is called in either language."""
    return kernel.py_func.__name__


VERSIONS = Versions(
    "scan",
    Version("shared", "steps in shared memory", scan_shared, sum_tree, "reduction", 8),
    Version("shuffled", "warp shuffles", scan_shuffled, sum_shuffled, "reduction", 10),
    Version("vectorized", "four per thread, 16 bytes per load", scan_vectorized, sum_tiles,
            "scan", 13, vector=4),
)  # fmt: skip


@dataclass(frozen=True)
class LookBack:
    """The scan in one launch.

    Its order of additions depends on which tiles were ready, so bits may differ from run to run.
    """

    name = "lookback"
    title = "one launch, with look-back"
    kernel = staticmethod(scan_lookback)
    tile = 4 * VECTORS * BLOCK  #: numbers that a block scans

    def launch(self, n: int) -> tuple[tuple[int], tuple[int]]:
        """Return (grid, block) of the launch that scans n numbers."""
        host.check_sizes(n=n)
        return host.check_grid(cdiv(n, self.tile)), (BLOCK,)

    def depth(self, n: int) -> int:
        """Return the additions, at most, that one of n numbers goes through: tile after tile."""
        blocks = cdiv(n, self.tile)
        return 17 + VECTORS + (blocks + 6 if blocks > 1 else 0)

    def workspace(self, n: int) -> tuple:
        """Return (sums, prefixes, states) on the device; a launch needs states of zeros."""
        (blocks,), _ = self.launch(n)
        sums = cupy.empty(blocks, np.float32)
        return sums, cupy.empty_like(sums), cupy.zeros(1 + blocks, np.int32)

    def launcher(self, a, out, engine: str = "numba") -> Callable[[], object]:
        """Return a function that scans a CuPy vector `a` into `out`."""
        host.check_resident(a=a, out=out)
        return self._launcher(Vector(a, out, engine))

    def _launcher(self, operands: Vector) -> Callable[[], object]:
        a, out = (x.reshape(1, -1) for x in operands.contiguous())
        if not operands.n:
            return lambda: None
        sums, prefixes, states = self.workspace(operands.n)
        arrays = a, sums, prefixes, states, out
        if operands.engine == "cpp":
            compiled = cpp.load("scan", "scan_lookback", WIDE=host.wide(a, out), VECTORS=VECTORS)
            launch = prepared(compiled, *self.launch(operands.n), (*arrays, np.int32(operands.n)))
        else:
            launch = prepared(self.kernel, *self.launch(operands.n), arrays)

        def clear():
            if on_gpu:  # no kernel, as `fill` would be
                states.data.memset_async(0, states.nbytes)
            else:
                states.fill(0)

        return lambda: (clear(), launch())


LOOK_BACK = LookBack()


def scan(a, out=None, engine="numba", version="vectorized"):
    """Return the prefix sums of a vector: out[i] = a[0] + … + a[i].

    Parameters
    ----------
    a : array of float32, shape (n,)
        Of any length, 0 included. A NumPy array is copied to the device; CuPy and Numba arrays
        stay there. One that is not contiguous is copied.
    out : array of float32, shape (n,), optional
        Where the sums go, on the side where `a` is.
    engine : {"numba", "cpp"}
        Which of the counterparts runs; "cpp" needs a GPU.
    version : str
        Key of `VERSIONS`, or "lookback".

    Returns
    -------
    array of float32, shape (n,)
        `out`, or a new array of the kind of `a`. `depth` of the version bounds its error.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        One line that names the value, the limit and the way out.
    """
    chosen = LOOK_BACK if version == LOOK_BACK.name else VERSIONS[version]
    operands = Vector(a, out, engine)
    chosen._launcher(operands)()
    return operands.result()
