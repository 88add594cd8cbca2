"""Products, transposes, rows and columns."""

import math

import numpy as np

from kernels import cuda, float32, float64
from tests.microscope.learners.cases import learner, whole

T = 8
PADDED = T + 1


@learner((2, 2), (8, 8))
def product_one_element_per_thread():
    @cuda.jit
    def kernel(A, B, C):
        i, j = cuda.grid(2)
        if i < C.shape[0] and j < C.shape[1]:
            tmp = 0.0
            for k in range(A.shape[1]):
                tmp += A[i, k] * B[k, j]
            C[i, j] = tmp

    A, B = whole(10, 7), whole(7, 12)
    return kernel, [A, B, np.zeros((10, 12), np.float32)], {2: A @ B}


@learner((2, 2), (T, T))
def product_with_tiles():
    @cuda.jit
    def kernel(A, B, C):
        sA = cuda.shared.array(shape=(T, T), dtype=float32)
        sB = cuda.shared.array(shape=(T, T), dtype=float32)
        x, y = cuda.grid(2)
        tx = cuda.threadIdx.x
        ty = cuda.threadIdx.y
        bpg = (A.shape[1] + T - 1) // T
        tmp = float32(0.0)
        for i in range(bpg):
            sA[ty, tx] = 0
            sB[ty, tx] = 0
            if y < A.shape[0] and (tx + i * T) < A.shape[1]:
                sA[ty, tx] = A[y, tx + i * T]
            if x < B.shape[1] and (ty + i * T) < B.shape[0]:
                sB[ty, tx] = B[ty + i * T, x]
            cuda.syncthreads()
            for j in range(T):
                tmp += sA[ty, j] * sB[j, tx]
            cuda.syncthreads()
        if y < C.shape[0] and x < C.shape[1]:
            C[y, x] = tmp

    A, B = whole(10, 13), whole(13, 12)
    return kernel, [A, B, np.zeros((10, 12), np.float32)], {2: A @ B}


@learner(1, 1)
def product_by_one_thread():
    @cuda.jit
    def kernel(A, B, C):
        for i in range(A.shape[0]):
            for j in range(B.shape[1]):
                C[i, j] = 0
                for k in range(A.shape[1]):
                    C[i, j] += A[i, k] * B[k, j]

    A, B = whole(4, 5), whole(5, 3)
    return kernel, [A, B, np.zeros((4, 3), np.float32)], {2: A @ B}


@learner(2, 8)
def matrix_times_vector():
    @cuda.jit
    def kernel(A, x, y):
        row = cuda.grid(1)
        if row < y.size:
            acc = 0.0
            for a, b in zip(A[row], x):  # noqa: B905
                acc += a * b
            y[row] = acc

    A, x = whole(13, 9), whole(9)
    return kernel, [A, x, np.zeros(13, np.float32)], {2: A @ x}


@learner((3, 3), (4, 4))
def transpose_straight():
    @cuda.jit
    def kernel(a, b):
        i, j = cuda.grid(2)
        if i < a.shape[0] and j < a.shape[1]:
            b[j, i] = a[i, j]

    a = whole(9, 11)
    return kernel, [a, np.zeros((11, 9), np.float32)], {1: a.T}


@learner((2, 2), (T, T))
def transpose_through_a_padded_tile():
    @cuda.jit
    def kernel(a, b):
        tile = cuda.shared.array((T, PADDED), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        x = cuda.blockIdx.x * T + tx
        y = cuda.blockIdx.y * T + ty
        if y < a.shape[0] and x < a.shape[1]:
            tile[ty, tx] = a[y, x]
        cuda.syncthreads()
        x = cuda.blockIdx.y * T + tx
        y = cuda.blockIdx.x * T + ty
        if y < b.shape[0] and x < b.shape[1]:
            b[y, x] = tile[tx, ty]

    a = whole(11, 14)
    return kernel, [a, np.zeros((14, 11), np.float32)], {1: a.T}


@learner((2, 2), (8, 8))
def outer_product():
    @cuda.jit
    def kernel(u, v, out):
        x, y = cuda.grid(2)
        if x >= v.size or y >= u.size:
            return
        out[y][x] = u[y] * v[x]

    u, v = whole(9), whole(12)
    return kernel, [u, v, np.zeros((9, 12), np.float32)], {2: np.outer(u, v)}


@learner(6, 32)
def softmax_of_rows():
    @cuda.jit
    def kernel(x, out):
        s = cuda.shared.array(32, float64)
        row, t = cuda.blockIdx.x, cuda.threadIdx.x
        n = x.shape[1]
        s[t] = x[row, t] if t < n else -math.inf
        cuda.syncthreads()
        largest = s[0]
        for k in range(1, n):
            largest = max(largest, s[k])
        cuda.syncthreads()
        e = math.exp(s[t] - largest)
        s[t] = e
        cuda.syncthreads()
        total = 0.0
        for k in range(n):
            total += s[k]
        if t < n:
            out[row, t] = e / total

    x = np.random.default_rng(6).normal(size=(6, 20))
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return kernel, [x, np.zeros_like(x)], {1: e / e.sum(axis=1, keepdims=True)}


@learner(1, 16)
def rows_normalised():
    @cuda.jit
    def kernel(m):
        r = cuda.threadIdx.x
        if r < len(m):
            mean = 0.0
            for k in range(m.shape[1]):
                mean += m[r, k]
            mean /= m.shape[1]
            var = 0.0
            for k in range(m.shape[1]):
                var += (m[r, k] - mean) ** 2
            var /= m.shape[1]
            for k in range(m.shape[1]):
                m[r, k] = (m[r, k] - mean) / math.sqrt(var + 1e-5)

    m = np.random.default_rng(7).normal(size=(10, 6))
    centred = m - m.mean(axis=1, keepdims=True)
    return kernel, [m], {0: centred / np.sqrt(m.var(axis=1, keepdims=True) + 1e-5)}


@learner((2, 2), (4, 4))
def identity_and_trace():
    @cuda.jit
    def kernel(m, trace):
        i, j = cuda.grid(2)
        if i < m.shape[0] and j < m.shape[1]:
            if i == j:
                cuda.atomic.add(trace, 0, m[i, j])
                m[i, j] = 1
            else:
                m[i, j] = 0

    m = whole(7, 7)
    return kernel, [m, np.zeros(1, np.float32)], {0: np.eye(7), 1: np.array([np.trace(m)])}


@learner(1, 16)
def triangular_system_solved_from_the_top():
    @cuda.jit
    def kernel(L, b, x):
        t = cuda.threadIdx.x
        n = b.size
        for i in range(n):
            if t == i:
                x[i] = b[i] / L[i, i]
            cuda.syncthreads()
            if t > i and t < n:
                b[t] -= L[t, i] * x[i]
            cuda.syncthreads()

    L = np.tril(whole(8, 8, dtype=np.float64), -1) / 8 + np.eye(8) * 2
    x = np.arange(8.0) - 3
    return kernel, [L, L @ x, np.zeros(8)], {2: x}


@learner(2, 32)
def sparse_rows_times_a_vector():
    @cuda.jit
    def kernel(values, columns, starts, x, y):
        row = cuda.grid(1)
        if row + 1 < starts.size:
            acc = 0.0
            for k in range(starts[row], starts[row + 1]):
                acc += values[k] * x[columns[k]]
            y[row] = acc

    m = whole(40, 20, low=-20, high=4, dtype=np.float64)
    m[m < 0] = 0
    rows, columns = np.nonzero(m)
    starts = np.searchsorted(rows, np.arange(41)).astype(np.int32)
    x = np.arange(20.0)
    given = [m[rows, columns], columns.astype(np.int32), starts, x, np.zeros(40)]
    return kernel, given, {4: m @ x}
