"""Two tiles in flight: the next one is fetched while this one is multiplied."""

from dataclasses import dataclass

from kernels.backend import cuda, float32, uint32
from kernels.backend.vector import aligned16, load4, load4_guarded, store4, store4_guarded, unrolled
from kernels.host import option
from kernels.host.rung import Rung
from kernels.host.tiles import ThreadTiles, registers_of

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


@dataclass(frozen=True)
class Options(ThreadTiles):
    TM: int = option(8, (4, 8, 16), "rows of C that a thread computes, a multiple of 4")
    TN: int = option(8, (4, 8, 16), "columns of C that a thread computes, a multiple of 4")

    at_once = 4, 4
    pad = PAD
    buffers = 2


RUNG = Rung(
    name="pipelined",
    title="Software prefetching",
    chapter="07-register-tiling",
    Options=Options,
    make=make_pipelined,
    choices={"numba": ({"BK": 16},), "cpp": ({"BK": 16}, {})},
    wide=True,
)
