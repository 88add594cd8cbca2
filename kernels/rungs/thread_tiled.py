"""Thread tiles in two dimensions: TM × TN results per thread, from TM + TN elements read."""

from kernels.backend import cuda, float32, uint32
from kernels.backend.vector import unrolled
from kernels.host.rung import Rung
from kernels.host.tiles import ThreadTiles, registers_of


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


RUNG = Rung(
    name="thread_tiled",
    title="Thread tile, 2-D",
    chapter="07-register-tiling",
    Options=ThreadTiles,
    make=make_thread_tiled,
    choices={"numba": ({},), "cpp": ({"BK": 16},)},
)
