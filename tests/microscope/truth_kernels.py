"""Ten launches whose hardware counters were recorded first (``counters/h200-first.json``)."""

import numpy as np

from kernels.engine import cuda, float32
from tests.microscope.cases import Case, whole


@cuda.jit
def vec_add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@cuda.jit
def stride2(a, c):
    i = cuda.grid(1)
    if 2 * i < c.size:
        c[2 * i] = a[2 * i]


@cuda.jit
def naive(A, B, C):
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc


@cuda.jit
def swapped(A, B, C):
    row = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    col = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc


def tiled(tile):
    @cuda.jit
    def tiled(A, B, C):
        sA = cuda.shared.array((tile, tile), float32)
        sB = cuda.shared.array((tile, tile), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        row = cuda.blockIdx.y * tile + ty
        col = cuda.blockIdx.x * tile + tx
        acc = float32(0)
        for t in range((A.shape[1] + tile - 1) // tile):
            ka = t * tile + tx
            kb = t * tile + ty
            sA[ty, tx] = A[row, ka] if row < A.shape[0] and ka < A.shape[1] else float32(0)
            sB[ty, tx] = B[kb, col] if kb < B.shape[0] and col < B.shape[1] else float32(0)
            cuda.syncthreads()
            for k in range(tile):
                acc += sA[ty, k] * sB[k, tx]
            cuda.syncthreads()
        if row < C.shape[0] and col < C.shape[1]:
            C[row, col] = acc

    return tiled


def transpose(width):
    @cuda.jit
    def transpose(A, C):
        s = cuda.shared.array((32, width), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        s[ty, tx] = A[cuda.blockIdx.y * 32 + ty, cuda.blockIdx.x * 32 + tx]
        cuda.syncthreads()
        C[cuda.blockIdx.x * 32 + ty, cuda.blockIdx.y * 32 + tx] = s[tx, ty]

    return transpose


def _matmul(name, kernel, grid, block, M=64, N=64, K=64):
    def make():
        return whole(M, K, seed=2), whole(K, N, seed=3), np.zeros((M, N), np.float32)

    return Case(name, kernel, grid, block, make, lambda A, B, C: {2: A @ B})


def _transpose(name, width):
    return Case(
        name,
        transpose(width),
        (2, 2),
        (32, 32),
        lambda: (whole(64, 64), np.zeros((64, 64), np.float32)),
        lambda A, C: {1: A.T.copy()},
    )


def _every_second(a, c):
    c[::2] = a[::2]
    return {1: c}


def cases() -> list[Case]:
    """The ten launches, named as in the counters."""
    return [
        Case(
            "vec_add",
            vec_add,
            4,
            256,
            lambda: (whole(1000), whole(1000, seed=2), np.zeros(1000, np.float32)),
            lambda a, b, c: {2: a + b},
        ),
        Case(
            "stride2",
            stride2,
            4,
            256,
            lambda: (whole(2048), np.zeros(2048, np.float32)),
            _every_second,
        ),
        _matmul("naive_32", naive, (2, 2), (32, 32)),
        _matmul("naive_16", naive, (4, 4), (16, 16)),
        _matmul("swapped_32", swapped, (2, 2), (32, 32)),
        _matmul("naive_rect_16", naive, (3, 4), (16, 16), 50, 45, 70),
        _matmul("tiled16", tiled(16), (4, 4), (16, 16)),
        _matmul("tiled32", tiled(32), (2, 2), (32, 32)),
        _transpose("transpose_bad", 32),
        _transpose("transpose_pad", 33),
    ]
