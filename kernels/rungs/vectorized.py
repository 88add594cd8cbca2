"""Loads of 16 bytes: threads move four neighbours at once, between all memories."""

from dataclasses import dataclass

from kernels.backend import cuda, float32, uint32
from kernels.backend.vector import aligned16, load4, load4_guarded, store4, store4_guarded, unrolled
from kernels.host import option
from kernels.host.rung import Rung
from kernels.host.tiles import ThreadTiles, registers_of

PAD = 4  # elements between the rows of A's tile, so that its columns spread over the banks


def make_vectorized(BM, BN, BK, TM, TN):
    ACROSS, DOWN = BN // TN, BM // TM  # threads
    THREADS = ACROSS * DOWN
    PITCH = BM + PAD  # elements from row to row of A's tile in shared memory
    REGISTERS = registers_of(THREADS, TM * TN + TM + TN)

    @cuda.jit(max_registers=REGISTERS)
    def vectorized(A, B, C):
        # The tile of A is stored transposed: then the elements that a thread needs for one k
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


@dataclass(frozen=True)
class Options(ThreadTiles):
    TM: int = option(8, (4, 8, 16), "rows of C that a thread computes, a multiple of 4")
    TN: int = option(8, (4, 8, 16), "columns of C that a thread computes, a multiple of 4")

    at_once = 4, 4
    pad = PAD


RUNG = Rung(
    name="vectorized",
    title="16-byte loads",
    chapter="07-register-tiling",
    Options=Options,
    make=make_vectorized,
    choices={"numba": ({"BK": 16},), "cpp": ({"BK": 32}, {})},
    wide=True,
)
