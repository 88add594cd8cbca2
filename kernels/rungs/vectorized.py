"""Loads of 16 bytes: threads move four neighbours at once, between all memories."""

from functools import cache

import numpy as np

from kernels import host
from kernels.engine import cuda, float32, uint32
from kernels.engine.vector import aligned16, load4, load4_guarded, store4, store4_guarded, unrolled
from kernels.host import cdiv, cpp
from kernels.host.model import tile_model
from kernels.host.tiles import check_limits, check_multiple, check_whole_tiles, registers_of

PAD = 4  # elements between the rows of A's tile, so that its columns spread over the banks


def make_vectorized(BM, BN, BK, TM, TN):
    ACROSS, DOWN = BN // TN, BM // TM  # threads
    THREADS = ACROSS * DOWN
    PITCH = BM + PAD  # elements from row to row of A's tile in shared memory
    REGISTERS = registers_of(THREADS, TM * TN + TM + TN)

    @cuda.jit(max_registers=REGISTERS)
    def vectorized(A, B, C):
        # The tile of A is stored on its side: then the elements that a thread needs for one k
        # are neighbours, as those of B are.
        sA = cuda.shared.array((BK, PITCH), float32, alignment=16)
        sB = cuda.shared.array((BK, BN), float32, alignment=16)
        acc = cuda.local.array((TM, TN), float32)
        a = cuda.local.array(TM, float32)
        b = cuda.local.array(TN, float32)
        t = uint32(cuda.threadIdx.x)
        # A thread's results are squares of 4 × 4 elements, 4·DOWN rows and 4·ACROSS columns apart.
        tx = t % uint32(ACROSS) * uint32(4)
        ty = t // uint32(ACROSS) * uint32(4)
        row0 = uint32(cuda.blockIdx.y * BM)
        col0 = uint32(cuda.blockIdx.x * BN)
        K = uint32(A.shape[1])
        # Rows that do not begin at a multiple of 16 bytes are loaded element by element.
        wide_A, wide_B, wide_C = aligned16(A), aligned16(B), aligned16(C)

        for i in range(TM):
            for j in range(TN):
                acc[i, j] = float32(0)
        for k0 in range(uint32(0), K, uint32(BK)):
            for first in range(0, BM * BK, 4 * THREADS):
                row = (t * uint32(4) + uint32(first)) // uint32(BK)
                k = (t * uint32(4) + uint32(first)) % uint32(BK)
                p, q, r, s = load4_guarded(A, row0 + row, k0 + k, wide_A)
                sA[k, row] = p
                sA[k + uint32(1), row] = q
                sA[k + uint32(2), row] = r
                sA[k + uint32(3), row] = s
            for first in range(0, BK * BN, 4 * THREADS):
                k = (t * uint32(4) + uint32(first)) // uint32(BN)
                col = (t * uint32(4) + uint32(first)) % uint32(BN)
                p, q, r, s = load4_guarded(B, k0 + k, col0 + col, wide_B)
                store4(sB, k, col, p, q, r, s)
            cuda.syncthreads()
            for k in range(BK):
                for i in range(0, TM, 4):
                    a[i], a[i + 1], a[i + 2], a[i + 3] = load4(sA, k, ty + uint32(i * DOWN))
                for j in range(0, TN, 4):
                    b[j], b[j + 1], b[j + 2], b[j + 3] = load4(sB, k, tx + uint32(j * ACROSS))
                for i in range(TM):
                    for j in range(TN):
                        acc[i, j] += a[i] * b[j]
            unrolled()  # the loop over k
            cuda.syncthreads()

        for i in range(TM):
            row = row0 + ty + uint32(i // 4 * 4 * DOWN + i % 4)
            for j in range(0, TN, 4):
                col = col0 + tx + uint32(j * ACROSS)
                store4_guarded(
                    C, row, col, acc[i, j], acc[i, j + 1], acc[i, j + 2], acc[i, j + 3], wide_C
                )
            unrolled()
        unrolled()  # so that each element of acc is a register

    return vectorized


def tiles(BM, BN, BK, TM, TN):
    """Return the checked sizes, and the threads of a block."""
    BM, BN, BK, TM, TN = check_whole_tiles(BM=BM, BN=BN, BK=BK, TM=TM, TN=TN)
    for name, size in {"TM": TM, "TN": TN, "BK": BK}.items():
        check_multiple(**{name: size, "the elements of 16 bytes": 4})
    check_multiple(BM=BM, TM=TM)
    check_multiple(BN=BN, TN=TN)
    threads = BM // TM * (BN // TN)
    loaded = (("BM·BK", BM * BK, 4 * threads), ("BK·BN", BK * BN, 4 * threads))
    check_limits(threads, 4 * BK * (BM + PAD + BN), TM * TN + TM + TN, loaded)
    return BM, BN, BK, TM, TN, threads


@cache
def kernel(BM=128, BN=128, BK=8, TM=8, TN=8):
    """Return the kernel with 16-byte loads, compiled for these tiles."""
    *sizes, _ = tiles(BM, BN, BK, TM, TN)
    return make_vectorized(*sizes)


def launch(M, N, BM=128, BN=128, BK=8, TM=8, TN=8):
    """Return (grid, block): one block of threads for each BM × BN elements of C (M×N)."""
    BM, BN, *_, threads = tiles(BM, BN, BK, TM, TN)
    host.check_sizes(M=M, N=N)
    return host.check_grid(cdiv(N, BN), cdiv(M, BM)), (threads, 1)


def model(M, N, K, BM=128, BN=128, BK=8, TM=8, TN=8):
    """Predict the traffic: that of a thread tile, in a quarter of the requests."""
    BM, BN, BK, TM, TN, threads = tiles(BM, BN, BK, TM, TN)
    host.check_sizes(M=M, N=N, K=K)
    across, down = BN // TN, BM // TM
    t, i, j = np.arange(threads), np.arange(TM)[:, None, None], np.arange(0, TN, 4)[:, None]
    row = t // across * 4 + i // 4 * 4 * down + i % 4
    return tile_model(M, N, K, BM, BN, BK, 4, row, t % across * 4 + j * across)


def matmul(A, B, out=None, engine="numba", BM=128, BN=128, BK=8, TM=8, TN=8):
    """Return C = A·B, computed with loads of 16 bytes where the arrays allow them.

    Parameters
    ----------
    A, B, out, engine
        As in `kernels.rungs.tiled.matmul`.
    BM, BN : int
        Rows and columns of C that a block computes.
    BK : int
        Steps of K that a block loads at a time.
    TM, TN : int
        Rows and columns of the results of a thread, multiples of 4.

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
    sizes = {"BM": BM, "BN": BN, "BK": BK, "TM": TM, "TN": TN}
    grid, threads = launch(product.M, product.N, **sizes)
    if engine == "cpp":
        arguments = product.cpp_arguments()
        twin = cpp.load("vectorized", WIDE=host.wide(*arguments[:3]), **sizes)
        twin(grid, threads, arguments)
    else:
        kernel(**sizes)[grid, threads](*product.arguments())
    return product.result()
