"""Tensor cores as Turing has them: `mma` lets a warp multiply small matrices in one instruction.

For GPUs from Turing on, such as the T4. A block of 8 warps owns 128 × 128 elements of C, a warp
64 × 32; tiles of A and B pass through shared memory.
"""

from dataclasses import dataclass

from kernels import host, ptx
from kernels.backend import cuda, float32, uint8, uint32, uint64
from kernels.backend.vector import unrolled
from kernels.host import cdiv, half
from kernels.host.tensor_cores import HalfRung

BM, BN, BK = 128, 128, 32
WM, WN = 64, 32  # of C, for one warp: 2 × 4 warps per block
WARPS_ACROSS = BN // WN
THREADS = 32 * (BM // WM) * WARPS_ACROSS
# 8 more elements in a row of shared memory: the 8 rows of a block that ldmatrix reads at once then
# start in different banks. In bytes:
PITCH_A, PITCH_B = 2 * (BK + 8), 2 * (BN + 8)
SHARED_A, SHARED_B = BM * PITCH_A, BK * PITCH_B
# 16-byte pieces of a row of each tile, and of a tile that each thread copies.
ACROSS_A, ACROSS_B = BK // 8, BN // 8
PIECES_A, PIECES_B = BM * ACROSS_A // THREADS, BK * ACROSS_B // THREADS
DOWN, ACROSS = WM // 16, WN // 8  # fragments of a warp's part of C


def make_mma_sm75(dtype="float16", out_dtype="float32"):
    multiply_add = ptx.mma(8, dtype)

    @cuda.jit(launch_bounds=(THREADS, 1))
    def mma_sm75(A, B, C, M, N, K, pitch):
        sA = ptx.shared_address(cuda.shared.array(SHARED_A, uint8, alignment=16))
        sB = ptx.shared_address(cuda.shared.array(SHARED_B, uint8, alignment=16))
        tid = uint32(cuda.threadIdx.x)
        lane, warp = uint32(tid % 32), uint32(tid // 32)
        row0, col0 = uint32(cuda.blockIdx.y * BM), uint32(cuda.blockIdx.x * BN)
        warp_row, warp_col = uint32(warp // WARPS_ACROSS * WM), uint32(warp % WARPS_ACROSS * WN)
        from_A, from_B = ptx.global_address(A), ptx.global_address(B)

        # The next tiles wait in registers while the tensor cores work on the present ones.
        next_A = cuda.local.array((PIECES_A, 4), uint32)
        next_B = cuda.local.array((PIECES_B, 4), uint32)
        a = cuda.local.array((DOWN, 4), uint32)
        b = cuda.local.array((ACROSS, 2), uint32)
        acc = cuda.local.array((DOWN, ACROSS, 4), float32)
        for i in range(DOWN):
            for j in range(ACROSS):
                for k in range(4):
                    acc[i, j, k] = 0
                unrolled()
            unrolled()
        unrolled()

        for i in range(PIECES_A):
            piece = uint32(tid + i * THREADS)
            row, k = uint32(row0 + piece // ACROSS_A), uint32(piece % ACROSS_A * 8)
            next_A[i, 0], next_A[i, 1], next_A[i, 2], next_A[i, 3] = 0, 0, 0, 0
            if row < M and k < K:
                place = from_A + uint64(row) * uint64(2 * pitch) + uint64(2 * k)
                (
                    next_A[i, 0], next_A[i, 1], next_A[i, 2], next_A[i, 3],
                ) = ptx.ld_global_v4_u32(place)  # fmt: skip
        unrolled()
        for i in range(PIECES_B):
            piece = uint32(tid + i * THREADS)
            k, col = uint32(piece // ACROSS_B), uint32(col0 + piece % ACROSS_B * 8)
            next_B[i, 0], next_B[i, 1], next_B[i, 2], next_B[i, 3] = 0, 0, 0, 0
            if k < K and col < N:
                place = from_B + uint64(k) * uint64(2 * N) + uint64(2 * col)
                (
                    next_B[i, 0], next_B[i, 1], next_B[i, 2], next_B[i, 3],
                ) = ptx.ld_global_v4_u32(place)  # fmt: skip
        unrolled()

        for k0 in range(0, K, BK):
            for i in range(PIECES_A):
                piece = uint32(tid + i * THREADS)
                to = piece // ACROSS_A * PITCH_A + piece % ACROSS_A * 16 + sA
                ptx.st_shared_v4_u32(to, next_A[i, 0], next_A[i, 1], next_A[i, 2], next_A[i, 3])
            unrolled()
            for i in range(PIECES_B):
                piece = uint32(tid + i * THREADS)
                to = piece // ACROSS_B * PITCH_B + piece % ACROSS_B * 16 + sB
                ptx.st_shared_v4_u32(to, next_B[i, 0], next_B[i, 1], next_B[i, 2], next_B[i, 3])
            unrolled()
            # No warp may read the tiles before every thread has written its part.
            cuda.syncthreads()
            for i in range(PIECES_A):
                piece = uint32(tid + i * THREADS)
                row, k = uint32(row0 + piece // ACROSS_A), uint32(k0 + BK + piece % ACROSS_A * 8)
                next_A[i, 0], next_A[i, 1], next_A[i, 2], next_A[i, 3] = 0, 0, 0, 0
                if row < M and k < K:
                    place = from_A + uint64(row) * uint64(2 * pitch) + uint64(2 * k)
                    (
                        next_A[i, 0], next_A[i, 1], next_A[i, 2], next_A[i, 3],
                    ) = ptx.ld_global_v4_u32(place)  # fmt: skip
            unrolled()
            for i in range(PIECES_B):
                piece = uint32(tid + i * THREADS)
                k, col = uint32(k0 + BK + piece // ACROSS_B), uint32(col0 + piece % ACROSS_B * 8)
                next_B[i, 0], next_B[i, 1], next_B[i, 2], next_B[i, 3] = 0, 0, 0, 0
                if k < K and col < N:
                    place = from_B + uint64(k) * uint64(2 * N) + uint64(2 * col)
                    (
                        next_B[i, 0], next_B[i, 1], next_B[i, 2], next_B[i, 3],
                    ) = ptx.ld_global_v4_u32(place)  # fmt: skip
            unrolled()

            for k in range(0, BK, 16):
                for i in range(DOWN):
                    row = uint32(16 * i + lane % 16 + warp_row)
                    place = row * PITCH_A + 2 * k + lane // 16 * 16 + sA
                    a[i, 0], a[i, 1], a[i, 2], a[i, 3] = ptx.ldmatrix_x4(place)
                unrolled()
                for j in range(0, ACROSS, 2):
                    place = (k + lane % 16) * PITCH_B + 16 * j + 2 * warp_col + lane // 16 * 16 + sB
                    b[j, 0], b[j, 1], b[j + 1, 0], b[j + 1, 1] = ptx.ldmatrix_x4_trans(place)
                unrolled()
                for i in range(DOWN):
                    for j in range(ACROSS):
                        # Two steps of k = 8, the most that sm_75 does in one instruction.
                        multiply_add(acc[i, j], a[i, :2], b[j, :1])
                        multiply_add(acc[i, j], a[i, 2:], b[j, 1:])
                    unrolled()
                unrolled()
            unrolled()
            # No thread may overwrite the tiles before every warp has read them.
            cuda.syncthreads()

        for i in range(DOWN):
            for j in range(ACROSS):
                row = 16 * i + lane // 4 + row0 + warp_row
                col = 8 * j + lane % 4 * 2 + col0 + warp_col
                if row < M and col < N:
                    ptx.store_pair(C, row, col, acc[i, j, 0], acc[i, j, 1])
                if row + 8 < M and col < N:
                    ptx.store_pair(C, row + 8, col, acc[i, j, 2], acc[i, j, 3])
            unrolled()
        unrolled()

    return mma_sm75


@dataclass(frozen=True)
class Options(host.Options):
    """None: the kernel is written for 8 warps per block, and 128 × 128 elements of C."""

    block_dim = (THREADS,)
    block_tile = BM, BN, BK
    registers = 134
    shared_bytes = SHARED_A + SHARED_B

    def model(self, M, N, K):
        """A is loaded once per column of 128 × 128 tiles, B once per row of them."""
        return half.half_model(M, N, K, cdiv(M, BM), cdiv(N, BN))


RUNG = HalfRung(
    name="mma_sm75",
    title="mma, sm_75",
    chapter="08-tensor-cores",
    Options=Options,
    make=make_mma_sm75,
    engines=("numba", "cpp"),
    choices={"numba": ({},), "cpp": ({},)},
    dtypes=("float16",),
    needs=(7, 5),
)
