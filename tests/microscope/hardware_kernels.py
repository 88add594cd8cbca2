"""Varied kernels profiled on real hardware: reductions, atomics, stencils, layouts, banks.

Each is written so that the compiler can neither drop nor merge what it reads, unless that is the
point; the comparison with the counters says where it did.
"""

import numpy as np

from kernels.engine import cuda, float32, float64, int32
from tests.microscope.cases import Case, whole

FULL = 0xFFFFFFFF


def _zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


# ------------------------------------------------------------------------------- reductions
@cuda.jit
def reduce_divergent(a, out):
    s = cuda.shared.array(256, float32)
    tx = cuda.threadIdx.x
    s[tx] = a[cuda.grid(1)]
    cuda.syncthreads()
    step = 1
    while step < cuda.blockDim.x:
        if tx % (2 * step) == 0:
            s[tx] += s[tx + step]
        cuda.syncthreads()
        step *= 2
    if tx == 0:
        out[cuda.blockIdx.x] = s[0]


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
def reduce_sequential(a, out):
    s = cuda.shared.array(256, float32)
    tx = cuda.threadIdx.x
    s[tx] = a[cuda.grid(1)]
    cuda.syncthreads()
    step = cuda.blockDim.x // 2
    while step > 0:
        if tx < step:
            s[tx] += s[tx + step]
        cuda.syncthreads()
        step //= 2
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


@cuda.jit
def ballot_count(a, out):
    i = cuda.grid(1)
    votes = cuda.ballot_sync(FULL, a[i] > 0)
    if cuda.threadIdx.x % 32 == 0:
        out[i // 32] = cuda.popc(votes)


@cuda.jit
def barrier_count(a, out):
    i = cuda.grid(1)
    n = cuda.syncthreads_count(int32(a[i] > 0))
    out[i] = n


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
def blur_2d(A, out):
    s = cuda.shared.array((10, 34), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col0, row0 = cuda.blockIdx.x * 32, cuda.blockIdx.y * 8
    rows, cols = A.shape
    for y in range(ty, 10, 8):
        for x in range(tx, 34, 32):
            row, col = row0 + y - 1, col0 + x - 1
            inside = row >= 0 and row < rows and col >= 0 and col < cols
            s[y, x] = A[row, col] if inside else float32(0)
    cuda.syncthreads()
    if row0 + ty < rows and col0 + tx < cols:
        acc = s[ty, tx + 1] + s[ty + 2, tx + 1] + s[ty + 1, tx] + s[ty + 1, tx + 2]
        out[row0 + ty, col0 + tx] = acc + s[ty + 1, tx + 1]


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
def struct_of_arrays(points, out):
    i = cuda.grid(1)
    if i < points.shape[1]:
        out[i] = points[0, i] + points[1, i] * points[2, i]


@cuda.jit
def axpy_float64(alpha, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += alpha * x[i]


@cuda.jit
def grey_uint8(rgb, grey):
    i = cuda.grid(1)
    if i < grey.size:
        grey[i] = (rgb[i, 0] + 2 * rgb[i, 1] + rgb[i, 2]) // 4


@cuda.jit
def widen_int8(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] * a[i]


@cuda.jit
def half_words(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] + 1


@cuda.jit
def copy_rows(A, C):
    col, row = cuda.grid(2)
    if row < A.shape[0] and col < A.shape[1]:
        C[row, col] = A[row, col]


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
def volume(A, C):
    x, y, z = cuda.grid(3)
    if z < A.shape[0] and y < A.shape[1] and x < A.shape[2]:
        C[z, y, x] = 2 * A[z, y, x]


@cuda.jit
def partial_warp(a, out):
    i = cuda.grid(1)
    out[i] = a[i] + 1


@cuda.jit
def early_return(a, out):
    i = cuda.grid(1)
    if i % 3 == 0:
        return
    if i >= a.size:
        return
    out[i] = a[i]


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


@cuda.jit
def row_sums(A, out):
    row = cuda.grid(1)
    if row < A.shape[0]:
        acc = float32(0)
        for col in range(A.shape[1]):
            acc += A[row, col]
        out[row] = acc


@cuda.jit
def column_sums(A, out):
    col = cuda.grid(1)
    if col < A.shape[1]:
        acc = float32(0)
        for row in range(A.shape[0]):
            acc += A[row, col]
        out[col] = acc


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
def shared_int8(a, out):
    s = cuda.shared.array(256, np.int8)
    tx = cuda.threadIdx.x
    s[tx] = a[tx]
    cuda.syncthreads()
    out[tx] = s[(tx * 4) % 256] + s[255 - tx]


@cuda.jit
def dynamic_reverse(a, out):
    s = cuda.shared.array(0, float32)
    tx = cuda.threadIdx.x
    s[tx] = a[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = s[cuda.blockDim.x - 1 - tx]


@cuda.jit
def transpose_global(A, C):
    col, row = cuda.grid(2)
    if row < A.shape[0] and col < A.shape[1]:
        C[col, row] = A[row, col]


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


@cuda.jit
def matvec_shared(A, x, y):
    s = cuda.shared.array(64, float32)
    tx = cuda.threadIdx.x
    row = cuda.grid(1)
    acc = float32(0)
    for start in range(0, A.shape[1], 64):
        if start + tx < A.shape[1]:
            s[tx] = x[start + tx]
        cuda.syncthreads()
        if row < A.shape[0]:
            for k in range(min(64, A.shape[1] - start)):
                acc += A[row, start + k] * s[k]
        cuda.syncthreads()
    if row < A.shape[0]:
        y[row] = acc


@cuda.jit
def local_window(a, out):
    window = cuda.local.array(4, float32)
    i = cuda.grid(1)
    for k in range(4):
        window[k] = a[4 * i + k]
    out[i] = window[0] - window[1] + window[2] - window[3]


@cuda.jit
def collatz(out):
    i = cuda.grid(1)
    n = i + 1
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    out[i] = steps


# ------------------------------------------------------------------------------- references
def _block_sums(a, out):
    return {1: a.reshape(out.size, -1).sum(1)}


def _count(keys, bins):
    return {1: np.bincount(keys, minlength=bins.size).astype(bins.dtype)}


def _windows(a, out):
    return {1: np.convolve(a, np.ones(7, a.dtype), "same")}


def _blur(A, out):
    P = np.pad(A, 1)
    return {1: P[1:-1, 1:-1] + P[:-2, 1:-1] + P[2:, 1:-1] + P[1:-1, :-2] + P[1:-1, 2:]}


def _shift(a, out, by):
    out[: a.size - by] = a[by:]
    return {1: out}


def _survivors(a, out):
    i = np.arange(a.size)
    return {1: np.where(i % 3 == 0, out, a)}


def _broadcast(a, b, out):
    block, tx = np.divmod(np.arange(a.size), 128)
    return {2: a + 2 * b[block] + b[tx // 16]}


def _collatz(out):
    for i in range(out.size):
        n = i + 1
        while n != 1:
            n = 3 * n + 1 if n % 2 else n // 2
            out[i] += 1
    return {0: out}


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
        for k in (reduce_divergent, reduce_conflicts, reduce_sequential, reduce_shuffle)
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
        Case(
            "ballot_count",
            ballot_count,
            2,
            128,
            lambda: (whole(256), _zeros(8, dtype=i32)),
            lambda a, out: {1: (a > 0).reshape(8, 32).sum(1).astype(i32)},
        ),
        Case(
            "barrier_count",
            barrier_count,
            3,
            64,
            lambda: (whole(192), _zeros(192, dtype=i32)),
            lambda a, out: {1: np.repeat((a > 0).reshape(3, 64).sum(1), 64).astype(i32)},
        ),
        Case("stencil_halo", stencil_halo, 4, 128, lambda: (whole(450), _zeros(450)), _windows),
        Case("blur_2d", blur_2d, (2, 4), (32, 8), lambda: (whole(27, 50), _zeros(27, 50)), _blur),
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
            "struct_of_arrays",
            struct_of_arrays,
            3,
            128,
            lambda: (whole(4, 333), _zeros(333)),
            lambda p, out: {1: p[0] + p[1] * p[2]},
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
            "grey_uint8",
            grey_uint8,
            3,
            128,
            lambda: (whole(300, 3, low=0, high=256, dtype=np.uint8), _zeros(300, dtype=np.uint8)),
            lambda rgb, grey: {1: (rgb @ np.array([1, 2, 1], np.int64) // 4).astype(np.uint8)},
        ),
        Case(
            "widen_int8",
            widen_int8,
            4,
            64,
            lambda: (bytes_(200), _zeros(200, dtype=i32)),
            lambda a, out: {1: a.astype(i32) ** 2},
        ),
        Case(
            "half_words",
            half_words,
            4,
            64,
            lambda: (whole(250, dtype=np.int16), _zeros(250, dtype=np.int16)),
            lambda a, out: {1: a + np.int16(1)},
        ),
        Case(
            "copy_rows_45",
            copy_rows,
            (2, 4),
            (32, 8),
            lambda: (whole(27, 45), _zeros(27, 45)),
            lambda A, C: {1: A},
        ),
        Case(
            "copy_rows_16x16",
            copy_rows,
            (4, 2),
            (16, 16),
            lambda: (whole(31, 50), _zeros(31, 50)),
            lambda A, C: {1: A},
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
            "volume",
            volume,
            (3, 2, 2),
            (8, 4, 4),
            lambda: (whole(7, 6, 19), _zeros(7, 6, 19)),
            lambda A, C: {1: 2 * A},
        ),
        Case(
            "partial_warp",
            partial_warp,
            4,
            50,
            lambda: (whole(200), _zeros(200)),
            lambda a, out: {1: a + np.float32(1)},
        ),
        Case("early_return", early_return, 4, 128, lambda: (whole(410), _zeros(410)), _survivors),
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
        Case(
            "row_sums",
            row_sums,
            2,
            64,
            lambda: (whole(100, 37), _zeros(100)),
            lambda A, out: {1: A.sum(1)},
        ),
        Case(
            "column_sums",
            column_sums,
            2,
            64,
            lambda: (whole(37, 100), _zeros(100)),
            lambda A, out: {1: A.sum(0)},
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
            "shared_int8",
            shared_int8,
            1,
            256,
            lambda: (bytes_(256), _zeros(256, dtype=i32)),
            lambda a, out: {1: a[np.arange(256) * 4 % 256].astype(i32) + a[::-1]},
        ),
        Case(
            "dynamic_reverse",
            dynamic_reverse,
            3,
            96,
            lambda: (whole(288), _zeros(288)),
            lambda a, out: {1: a.reshape(3, 96)[:, ::-1].reshape(-1)},
            shared_bytes=96 * 4,
        ),
        Case(
            "transpose_global",
            transpose_global,
            (2, 5),
            (32, 8),
            lambda: (whole(37, 50), _zeros(50, 37)),
            lambda A, C: {1: A.T.copy()},
        ),
        Case(
            "transpose_swizzled",
            transpose_swizzled,
            (3, 2),
            (32, 8),
            lambda: (whole(64, 96), _zeros(96, 64)),
            lambda A, C: {1: A.T.copy()},
        ),
        Case(
            "matvec_shared",
            matvec_shared,
            2,
            64,
            lambda: (whole(100, 130), whole(130, seed=2), _zeros(100)),
            lambda A, x, y: {2: A @ x},
        ),
        Case(
            "local_window",
            local_window,
            2,
            64,
            lambda: (whole(512), _zeros(128)),
            lambda a, out: {1: a.reshape(-1, 4) @ np.array([1, -1, 1, -1], np.float32)},
        ),
        Case("collatz", collatz, 2, 48, lambda: (_zeros(96, dtype=i32),), _collatz),
    ]
