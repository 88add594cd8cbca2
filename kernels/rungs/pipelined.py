"""Two tiles in flight: the next one is fetched while this one is multiplied."""

from functools import cache

import numpy as np

from kernels import host
from kernels.engine import cuda, float32, uint32
from kernels.engine.vector import aligned16, load4, load4_guarded, store4, store4_guarded, unrolled
from kernels.host import cdiv, cpp
from kernels.host.model import tile_model
from kernels.host.tiles import (
    check_limits,
    check_multiple,
    check_rows,
    check_whole_tiles,
    registers_of,
)

PAD = 4  # elements between the rows of A's tile, so that its columns spread over the banks


def make_pipelined(BM, BN, BK, TM, TN):
    ACROSS, DOWN = BN // TN, BM // TM  # threads
    THREADS = ACROSS * DOWN
    LOADS_A, LOADS_B = BM * BK // (4 * THREADS), BK * BN // (4 * THREADS)  # of a thread, a tile
    ROWS, PITCH = 2 * BK, BM + PAD  # of A's tiles in shared memory
    REGISTERS = registers_of(THREADS, TM * TN + TM + TN + 4 * (LOADS_A + LOADS_B))

    @cuda.jit(max_registers=REGISTERS)
    def pipelined(A, B, C):
        # Two tiles of each: one is read while the other is filled.
        sA = cuda.shared.array((ROWS, PITCH), float32, alignment=16)
        sB = cuda.shared.array((ROWS, BN), float32, alignment=16)
        acc = cuda.local.array((TM, TN), float32)
        a = cuda.local.array(TM, float32)
        b = cuda.local.array(TN, float32)
        # On their way from global to shared memory elements wait in registers.
        next_A = cuda.local.array((LOADS_A, 4), float32)
        next_B = cuda.local.array((LOADS_B, 4), float32)
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
        # Which of the two tiles is computed: it starts at row 0 or at row BK.
        now = uint32(0)
        for k0 in range(uint32(0), K + uint32(BK), uint32(BK)):
            # Ask for the next tile, and do not wait for it. (Past the end there are only zeros.)
            for i in range(LOADS_A):
                row = (t * uint32(4) + uint32(i * 4 * THREADS)) // uint32(BK)
                k = (t * uint32(4) + uint32(i * 4 * THREADS)) % uint32(BK)
                next_A[i, 0], next_A[i, 1], next_A[i, 2], next_A[i, 3] = load4_guarded(
                    A, row0 + row, k0 + k, wide_A
                )
            for i in range(LOADS_B):
                k = (t * uint32(4) + uint32(i * 4 * THREADS)) // uint32(BN)
                col = (t * uint32(4) + uint32(i * 4 * THREADS)) % uint32(BN)
                next_B[i, 0], next_B[i, 1], next_B[i, 2], next_B[i, 3] = load4_guarded(
                    B, k0 + k, col0 + col, wide_B
                )
            # Meanwhile compute the tile that has come. Before the first there is none.
            if k0 > uint32(0):
                for step in range(BK):
                    k = now + uint32(step)
                    for i in range(0, TM, 4):
                        a[i], a[i + 1], a[i + 2], a[i + 3] = load4(sA, k, ty + uint32(i * DOWN))
                    for j in range(0, TN, 4):
                        b[j], b[j + 1], b[j + 2], b[j + 3] = load4(sB, k, tx + uint32(j * ACROSS))
                    for i in range(TM):
                        for j in range(TN):
                            acc[i, j] += a[i] * b[j]
                unrolled()  # the loop over k
            # Now the next tile must be there. It goes where no thread is reading.
            now = uint32(BK) - now
            for i in range(LOADS_A):
                row = (t * uint32(4) + uint32(i * 4 * THREADS)) // uint32(BK)
                k = (t * uint32(4) + uint32(i * 4 * THREADS)) % uint32(BK) + now
                for part in range(4):
                    sA[k + uint32(part), row] = next_A[i, part]
            for i in range(LOADS_B):
                k = (t * uint32(4) + uint32(i * 4 * THREADS)) // uint32(BN) + now
                col = (t * uint32(4) + uint32(i * 4 * THREADS)) % uint32(BN)
                store4(sB, k, col, next_B[i, 0], next_B[i, 1], next_B[i, 2], next_B[i, 3])
            # One barrier a tile: whoever passes it has also finished with the tile before.
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

    return pipelined


def tiles(BM, BN, BK, TM, TN):
    """Return the checked sizes, and the threads of a block."""
    BM, BN, BK, TM, TN = check_whole_tiles(BM=BM, BN=BN, BK=BK, TM=TM, TN=TN)
    for name, size in {"TM": TM, "TN": TN, "BK": BK}.items():
        check_multiple(**{name: size, "the elements of 16 bytes": 4})
    check_multiple(BM=BM, TM=TM)
    check_multiple(BN=BN, TN=TN)
    threads = BM // TM * (BN // TN)
    loaded = (("BM·BK", BM * BK, 4 * threads), ("BK·BN", BK * BN, 4 * threads))
    waiting = (BM + BN) * BK // threads
    check_limits(threads, 8 * BK * (BM + PAD + BN), TM * TN + TM + TN + waiting, loaded)
    check_rows(4 * threads, BK=BK, BN=BN)
    return BM, BN, BK, TM, TN, threads


@cache
def kernel(BM=128, BN=128, BK=8, TM=8, TN=8):
    """Return the kernel that fetches a tile ahead, compiled for these tiles."""
    *sizes, _ = tiles(BM, BN, BK, TM, TN)
    return make_pipelined(*sizes)


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
    """Return C = A·B, computed while the next tile is on its way.

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
        twin = cpp.load("pipelined", WIDE=host.wide(*arguments[:3]), **sizes)
        twin(grid, threads, arguments)
    else:
        kernel(**sizes)[grid, threads](*product.arguments())
    return product.result()
