"""Thread tiles: each thread computes several results, so that what it reads serves several times.

Two rungs: `thread_tiled_1d`, a column of TM results a thread, and `thread_tiled`, TM × TN of them.
"""

from functools import cache

import numpy as np

from kernels import host
from kernels.engine import cuda, float32, uint32
from kernels.engine.vector import unrolled
from kernels.host import cdiv, cpp
from kernels.host.model import tile_model
from kernels.host.tiles import check_limits, check_multiple, check_whole_tiles, registers_of

# ------------------------------------------------------------------- a column of results a thread


def make_thread_tiled_1d(BM, BN, BK, TM):
    THREADS = BM // TM * BN

    @cuda.jit
    def thread_tiled_1d(A, B, C):
        sA = cuda.shared.array((BM, BK), float32)
        sB = cuda.shared.array((BK, BN), float32)
        acc = cuda.local.array(TM, float32)
        t = uint32(cuda.threadIdx.x)
        # Neighbours in a warp own neighbours in a row of C.
        tx = t % uint32(BN)
        ty = t // uint32(BN)
        row0 = uint32(cuda.blockIdx.y * BM)
        col0 = uint32(cuda.blockIdx.x * BN)
        M, N, K = uint32(C.shape[0]), uint32(C.shape[1]), uint32(A.shape[1])

        for i in range(TM):
            acc[i] = float32(0)
        for k0 in range(uint32(0), K, uint32(BK)):
            # All threads load, side by side, as many elements as it takes.
            for first in range(0, BM * BK, THREADS):
                row = (t + uint32(first)) // uint32(BK)
                k = (t + uint32(first)) % uint32(BK)
                inside = row0 + row < M and k0 + k < K
                sA[row, k] = A[row0 + row, k0 + k] if inside else float32(0)
            for first in range(0, BK * BN, THREADS):
                k = (t + uint32(first)) // uint32(BN)
                col = (t + uint32(first)) % uint32(BN)
                inside = k0 + k < K and col0 + col < N
                sB[k, col] = B[k0 + k, col0 + col] if inside else float32(0)
            cuda.syncthreads()
            for k in range(BK):
                # One element of B serves TM results.
                b = sB[k, tx]
                for i in range(TM):
                    acc[i] += sA[ty * uint32(TM) + uint32(i), k] * b
            unrolled()  # the loop over k
            cuda.syncthreads()

        for i in range(TM):
            row = row0 + ty * uint32(TM) + uint32(i)
            if row < M and col0 + tx < N:
                C[row, col0 + tx] = acc[i]

    return thread_tiled_1d


def tiles_1d(BM, BN, BK, TM):
    """Return the checked sizes, and the threads of a block."""
    BM, BN, BK, TM = check_whole_tiles(BM=BM, BN=BN, BK=BK, TM=TM)
    check_multiple(BM=BM, TM=TM)
    threads = BM // TM * BN
    loaded = (("BM·BK", BM * BK, threads), ("BK·BN", BK * BN, threads))
    check_limits(threads, 4 * BK * (BM + BN), TM + 2, loaded)
    return BM, BN, BK, TM, threads


@cache
def kernel_1d(BM=64, BN=64, BK=8, TM=8):
    """Return the kernel with TM results of one column a thread, compiled for these tiles."""
    *tiles, _ = tiles_1d(BM, BN, BK, TM)
    return make_thread_tiled_1d(*tiles)


def launch_1d(M, N, BM=64, BN=64, BK=8, TM=8):
    """Return (grid, block): one block of BM·BN/TM threads for each BM × BN elements of C (M×N)."""
    BM, BN, *_, threads = tiles_1d(BM, BN, BK, TM)
    host.check_sizes(M=M, N=N)
    return host.check_grid(cdiv(N, BN), cdiv(M, BM)), (threads, 1)


def model_1d(M, N, K, BM=64, BN=64, BK=8, TM=8):
    """Predict the traffic: A is loaded once a column of tiles of C, B once a row of them."""
    BM, BN, BK, TM, threads = tiles_1d(BM, BN, BK, TM)
    host.check_sizes(M=M, N=N, K=K)
    t, i = np.arange(threads), np.arange(TM)[:, None]
    return tile_model(M, N, K, BM, BN, BK, 1, t // BN * TM + i, t % BN)


def matmul_1d(A, B, out=None, engine="numba", BM=64, BN=64, BK=8, TM=8):
    """Return C = A·B, computed with a column of TM results a thread.

    Parameters
    ----------
    A, B, out, engine
        As in `kernels.rungs.tiled.matmul`.
    BM, BN : int
        Rows and columns of C that a block computes.
    BK : int
        Steps of K that a block loads at a time.
    TM : int
        Results of a thread, one below the other.

    Returns
    -------
    array of float32, shape (M, N)
        `out`, or a new array of the kind of A and B.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        One line that names the value, the limit and the way out.
    """
    product = host.Product(A, B, out, engine)
    tiles = {"BM": BM, "BN": BN, "BK": BK, "TM": TM}
    grid, threads = launch_1d(product.M, product.N, **tiles)
    if engine == "cpp":
        twin = cpp.load("thread_tiled", "thread_tiled_1d", **tiles)
        twin(grid, threads, product.cpp_arguments())
    else:
        kernel_1d(**tiles)[grid, threads](*product.arguments())
    return product.result()


# ---------------------------------------------------------------- a rectangle of results a thread


def make_thread_tiled(BM, BN, BK, TM, TN):
    ACROSS, DOWN = BN // TN, BM // TM  # threads
    THREADS = ACROSS * DOWN
    REGISTERS = registers_of(THREADS, TM * TN + TM + TN)

    @cuda.jit(max_registers=REGISTERS)
    def thread_tiled(A, B, C):
        sA = cuda.shared.array((BM, BK), float32)
        sB = cuda.shared.array((BK, BN), float32)
        acc = cuda.local.array((TM, TN), float32)
        a = cuda.local.array(TM, float32)
        b = cuda.local.array(TN, float32)
        t = uint32(cuda.threadIdx.x)
        # A thread's results lie DOWN rows and ACROSS columns apart, so that neighbours in a warp
        # read neighbours in shared memory and store neighbours in C.
        tx = t % uint32(ACROSS)
        ty = t // uint32(ACROSS)
        row0 = uint32(cuda.blockIdx.y * BM)
        col0 = uint32(cuda.blockIdx.x * BN)
        M, N, K = uint32(C.shape[0]), uint32(C.shape[1]), uint32(A.shape[1])

        for i in range(TM):
            for j in range(TN):
                acc[i, j] = float32(0)
        for k0 in range(uint32(0), K, uint32(BK)):
            for first in range(0, BM * BK, THREADS):
                row = (t + uint32(first)) // uint32(BK)
                k = (t + uint32(first)) % uint32(BK)
                inside = row0 + row < M and k0 + k < K
                sA[row, k] = A[row0 + row, k0 + k] if inside else float32(0)
            for first in range(0, BK * BN, THREADS):
                k = (t + uint32(first)) // uint32(BN)
                col = (t + uint32(first)) % uint32(BN)
                inside = k0 + k < K and col0 + col < N
                sB[k, col] = B[k0 + k, col0 + col] if inside else float32(0)
            cuda.syncthreads()
            for k in range(BK):
                # TM + TN elements into registers; they serve TM·TN multiplications.
                for i in range(TM):
                    a[i] = sA[ty + uint32(i * DOWN), k]
                for j in range(TN):
                    b[j] = sB[k, tx + uint32(j * ACROSS)]
                for i in range(TM):
                    for j in range(TN):
                        acc[i, j] += a[i] * b[j]
            unrolled()  # the loop over k
            cuda.syncthreads()

        for i in range(TM):
            for j in range(TN):
                row = row0 + ty + uint32(i * DOWN)
                col = col0 + tx + uint32(j * ACROSS)
                if row < M and col < N:
                    C[row, col] = acc[i, j]

    return thread_tiled


def tiles_2d(BM, BN, BK, TM, TN):
    """Return the checked sizes, and the threads of a block."""
    BM, BN, BK, TM, TN = check_whole_tiles(BM=BM, BN=BN, BK=BK, TM=TM, TN=TN)
    check_multiple(BM=BM, TM=TM)
    check_multiple(BN=BN, TN=TN)
    threads = BM // TM * (BN // TN)
    loaded = (("BM·BK", BM * BK, threads), ("BK·BN", BK * BN, threads))
    check_limits(threads, 4 * BK * (BM + BN), TM * TN + TM + TN, loaded)
    return BM, BN, BK, TM, TN, threads


@cache
def kernel(BM=128, BN=128, BK=8, TM=8, TN=8):
    """Return the kernel with TM × TN results a thread, compiled for these tiles."""
    *tiles, _ = tiles_2d(BM, BN, BK, TM, TN)
    return make_thread_tiled(*tiles)


def launch(M, N, BM=128, BN=128, BK=8, TM=8, TN=8):
    """Return (grid, block): one block of threads for each BM × BN elements of C (M×N)."""
    BM, BN, *_, threads = tiles_2d(BM, BN, BK, TM, TN)
    host.check_sizes(M=M, N=N)
    return host.check_grid(cdiv(N, BN), cdiv(M, BM)), (threads, 1)


def model(M, N, K, BM=128, BN=128, BK=8, TM=8, TN=8):
    """Predict the traffic: A is loaded once a column of tiles of C, B once a row of them."""
    BM, BN, BK, TM, TN, threads = tiles_2d(BM, BN, BK, TM, TN)
    host.check_sizes(M=M, N=N, K=K)
    across, down = BN // TN, BM // TM
    t, i, j = np.arange(threads), np.arange(TM)[:, None, None], np.arange(TN)[:, None]
    return tile_model(M, N, K, BM, BN, BK, 1, t // across + i * down, t % across + j * across)


def matmul(A, B, out=None, engine="numba", BM=128, BN=128, BK=8, TM=8, TN=8):
    """Return C = A·B, computed with TM × TN results a thread.

    Parameters
    ----------
    A, B, out, engine
        As in `kernels.rungs.tiled.matmul`.
    BM, BN : int
        Rows and columns of C that a block computes.
    BK : int
        Steps of K that a block loads at a time.
    TM, TN : int
        Rows and columns of the results of a thread.

    Returns
    -------
    array of float32, shape (M, N)
        `out`, or a new array of the kind of A and B.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        One line that names the value, the limit and the way out.
    """
    product = host.Product(A, B, out, engine)
    tiles = {"BM": BM, "BN": BN, "BK": BK, "TM": TM, "TN": TN}
    grid, threads = launch(product.M, product.N, **tiles)
    if engine == "cpp":
        cpp.load("thread_tiled", **tiles)(grid, threads, product.cpp_arguments())
    else:
        kernel(**tiles)[grid, threads](*product.arguments())
    return product.result()
