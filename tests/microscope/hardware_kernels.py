"""Varied kernels profiled on real hardware: reductions, atomics, stencils, layouts, banks.

Each is written so that the compiler can neither drop nor merge what it reads, unless that is the
point; the comparison with the counters says where it did.
"""

import numpy as np

from kernels.backend import cuda, float32, float64, int32
from tests.microscope.cases import Case, whole

FULL = 0xFFFFFFFF


def _zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


# ------------------------------------------------------------------------------- reductions


@cuda.jit
def reduce_conflicts(a, out):
    s = cuda.shared.array(256, float32)
    tx = cuda.threadIdx.x
    s[tx] = a[cuda.grid(1)]
    cuda.syncthreads()
    step = 1
    while step < cuda.blockDim.x:
        i = 2 * step * tx
        if i < cuda.blockDim.x:
            s[i] += s[i + step]
        cuda.syncthreads()
        step *= 2
    if tx == 0:
        out[cuda.blockIdx.x] = s[0]


@cuda.jit
def reduce_shuffle(a, out):
    warp_sums = cuda.shared.array(32, float32)
    tx = cuda.threadIdx.x
    value = a[cuda.grid(1)]
    offset = 16
    while offset > 0:
        value += cuda.shfl_down_sync(FULL, value, offset)
        offset //= 2
    if tx % 32 == 0:
        warp_sums[tx // 32] = value
    cuda.syncthreads()
    if tx == 0:
        total = float32(0)
        for w in range(cuda.blockDim.x // 32):
            total += warp_sums[w]
        out[cuda.blockIdx.x] = total


@cuda.jit
def dot_grid_stride(a, b, out):
    acc = float32(0)
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        acc += a[i] * b[i]
    d = 16
    while d > 0:
        acc += cuda.shfl_xor_sync(FULL, acc, d)
        d //= 2
    if cuda.threadIdx.x % 32 == 0:
        cuda.atomic.add(out, 0, acc)


# ------------------------------------------------------------------------------- atomics, votes
@cuda.jit
def histogram_global(keys, bins):
    i = cuda.grid(1)
    if i < keys.size:
        cuda.atomic.add(bins, keys[i], 1)


@cuda.jit
def histogram_shared(keys, bins):
    s = cuda.shared.array(64, int32)
    tx = cuda.threadIdx.x
    if tx < 64:
        s[tx] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < keys.size:
        cuda.atomic.add(s, keys[i], 1)
    cuda.syncthreads()
    if tx < 64:
        cuda.atomic.add(bins, tx, s[tx])


@cuda.jit
def row_maximum(A, out):
    col, row = cuda.grid(2)
    if row < A.shape[0] and col < A.shape[1]:
        cuda.atomic.max(out, row, A[row, col])


# ------------------------------------------------------------------------------- neighbourhoods
@cuda.jit
def stencil_halo(a, out):
    s = cuda.shared.array(128 + 6, float32)
    tx = cuda.threadIdx.x
    i = cuda.grid(1)
    n = a.size
    s[tx + 3] = a[i] if i < n else float32(0)
    if tx < 3:
        s[tx] = a[i - 3] if i >= 3 else float32(0)
        right = i + cuda.blockDim.x
        s[tx + 3 + cuda.blockDim.x] = a[right] if right < n else float32(0)
    cuda.syncthreads()
    if i < n:
        acc = float32(0)
        for d in range(7):
            acc += s[tx + d]
        out[i] = acc


@cuda.jit
def scan_block(a, out):
    s = cuda.shared.array(256, float32)
    tx = cuda.threadIdx.x
    s[tx] = a[cuda.grid(1)]
    cuda.syncthreads()
    step = 1
    while step < cuda.blockDim.x:
        left = s[tx - step] if tx >= step else float32(0)
        cuda.syncthreads()
        s[tx] += left
        cuda.syncthreads()
        step *= 2
    out[cuda.grid(1)] = s[tx]


# ------------------------------------------------------------------------------- layouts, types
@cuda.jit
def array_of_structs(points, out):
    i = cuda.grid(1)
    if i < points.shape[0]:
        out[i] = points[i, 0] + points[i, 1] * points[i, 2]


@cuda.jit
def axpy_float64(alpha, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += alpha * x[i]


@cuda.jit
def widen_int8(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] * a[i]


@cuda.jit
def shifted(a, out, by):
    i = cuda.grid(1)
    if i + by < a.size:
        out[i] = a[i + by]


@cuda.jit
def strided(a, out, step):
    i = cuda.grid(1)
    if i * step < a.size:
        out[i] = a[i * step]


@cuda.jit
def partial_warp(a, out):
    i = cuda.grid(1)
    out[i] = a[i] + 1


@cuda.jit
def broadcast(a, b, out):
    s = cuda.shared.array(8, float32)
    tx = cuda.threadIdx.x
    i = cuda.grid(1)
    if tx < 8:
        s[tx] = b[tx]
    cuda.syncthreads()
    out[i] = a[i] + b[cuda.blockIdx.x] + s[cuda.blockIdx.x] + s[tx // 16]


@cuda.jit
def gather(a, index, out):
    i = cuda.grid(1)
    if i < index.size:
        out[i] = a[index[i]]


# ------------------------------------------------------------------------------- shared memory
def conflict(degree):
    """Lane t loads word degree · t: gcd(degree, 32) words fall into each bank they touch."""
    size = 32 * degree

    @cuda.jit
    def conflict(a, out):
        s = cuda.shared.array(size, float32)
        tx = cuda.threadIdx.x
        for i in range(tx, size, 32):
            s[i] = a[i]
        cuda.syncthreads()
        out[tx] = s[tx * degree]

    return conflict


@cuda.jit
def shared_float64(a, out):
    s = cuda.shared.array(128, float64)
    tx = cuda.threadIdx.x
    s[tx] = a[tx]
    s[tx + 64] = a[tx + 64]
    cuda.syncthreads()
    out[tx] = s[127 - tx] + s[2 * tx]


@cuda.jit
def transpose_swizzled(A, C):
    s = cuda.shared.array((32, 32), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x0, y0 = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
    for y in range(ty, 32, 8):
        s[y, tx ^ y] = A[y0 + y, x0 + tx]
    cuda.syncthreads()
    for y in range(ty, 32, 8):
        C[x0 + y, y0 + tx] = s[tx, y ^ tx]


# ------------------------------------------------------------------------------- references
def _block_sums(a, out):
    return {1: a.reshape(out.size, -1).sum(1)}


def _count(keys, bins):
    return {1: np.bincount(keys, minlength=bins.size).astype(bins.dtype)}


def _windows(a, out):
    return {1: np.convolve(a, np.ones(7, a.dtype), "same")}


def _shift(a, out, by):
    out[: a.size - by] = a[by:]
    return {1: out}


def _broadcast(a, b, out):
    block, tx = np.divmod(np.arange(a.size), 128)
    return {2: a + 2 * b[block] + b[tx // 16]}


def cases() -> list[Case]:
    """Every launch of this module, in the order in which the profiler sees them."""
    i32 = np.int32
    permutation = np.random.default_rng(5).permutation(512).astype(i32)

    def bytes_(n):
        return whole(n, low=-9, high=9, dtype=np.int8)

    reductions = [
        Case(
            k.py_func.__name__ if hasattr(k, "py_func") else k.__name__,
            k,
            3,
            256,
            lambda: (whole(768), _zeros(3)),
            _block_sums,
        )
        for k in (reduce_conflicts, reduce_shuffle)
    ]
    conflicts = [
        Case(
            f"conflict_{d}",
            conflict(d),
            1,
            32,
            lambda d=d: (whole(32 * d), _zeros(32)),
            lambda a, out, d=d: {1: a[::d].copy()},
        )
        for d in (1, 2, 3, 4, 8, 16, 32)
    ]
    return [
        *reductions,
        Case(
            "dot_grid_stride",
            dot_grid_stride,
            2,
            128,
            lambda: (whole(1000), whole(1000, seed=2), _zeros(1)),
            lambda a, b, out: {2: np.array([a @ b])},
        ),
        Case(
            "histogram_global",
            histogram_global,
            4,
            128,
            lambda: (whole(500, low=0, high=64, dtype=i32), _zeros(64, dtype=i32)),
            _count,
        ),
        Case(
            "histogram_shared",
            histogram_shared,
            4,
            128,
            lambda: (whole(500, low=0, high=64, dtype=i32), _zeros(64, dtype=i32)),
            _count,
        ),
        Case(
            "row_maximum",
            row_maximum,
            (2, 5),
            (32, 4),
            lambda: (whole(19, 45, low=-99, high=99, dtype=i32), np.full(19, -100, i32)),
            lambda A, out: {1: A.max(1)},
        ),
        Case("stencil_halo", stencil_halo, 4, 128, lambda: (whole(450), _zeros(450)), _windows),
        Case(
            "scan_block",
            scan_block,
            2,
            256,
            lambda: (whole(512), _zeros(512)),
            lambda a, out: {1: a.reshape(2, 256).cumsum(1, dtype=np.float32).reshape(-1)},
        ),
        Case(
            "array_of_structs",
            array_of_structs,
            3,
            128,
            lambda: (whole(333, 4), _zeros(333)),
            lambda p, out: {1: p[:, 0] + p[:, 1] * p[:, 2]},
        ),
        Case(
            "axpy_float64",
            axpy_float64,
            3,
            128,
            lambda: (2.0, whole(350, dtype=np.float64), whole(350, seed=2, dtype=np.float64)),
            lambda alpha, x, y: {2: y + alpha * x},
        ),
        Case(
            "widen_int8",
            widen_int8,
            4,
            64,
            lambda: (bytes_(200), _zeros(200, dtype=i32)),
            lambda a, out: {1: a.astype(i32) ** 2},
        ),
        *(
            Case(
                f"shifted_{by}",
                shifted,
                4,
                128,
                lambda by=by: (whole(512), _zeros(512), by),
                _shift,
            )
            for by in (1, 8, 13)
        ),
        *(
            Case(
                f"strided_{step}",
                strided,
                2,
                128,
                lambda step=step: (whole(256 * step), _zeros(256), step),
                lambda a, out, step: {1: a[::step].copy()},
            )
            for step in (3, 4, 8, 17)
        ),
        Case(
            "partial_warp",
            partial_warp,
            4,
            50,
            lambda: (whole(200), _zeros(200)),
            lambda a, out: {1: a + np.float32(1)},
        ),
        Case(
            "broadcast",
            broadcast,
            4,
            128,
            lambda: (whole(512), whole(8, seed=2), _zeros(512)),
            _broadcast,
        ),
        Case(
            "gather",
            gather,
            4,
            128,
            lambda: (whole(512), permutation.copy(), _zeros(512)),
            lambda a, index, out: {2: a[index]},
        ),
        *conflicts,
        Case(
            "shared_float64",
            shared_float64,
            1,
            64,
            lambda: (whole(128, dtype=np.float64), _zeros(64, dtype=np.float64)),
            lambda a, out: {1: a[:63:-1] + a[::2]},
        ),
        Case(
            "transpose_swizzled",
            transpose_swizzled,
            (3, 2),
            (32, 8),
            lambda: (whole(64, 96), _zeros(96, 64)),
            lambda A, C: {1: A.T.copy()},
        ),
    ]
