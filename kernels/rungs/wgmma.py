"""Hopper's own instructions: TMA copies whole tiles, `wgmma` multiplies them from shared memory.

For sm_90a. Load a pair of tiles, multiply it, and load the next: nothing overlaps yet.
"""

from dataclasses import dataclass

from kernels import ptx
from kernels.backend import cuda, float32, uint8, uint64
from kernels.backend.vector import unrolled
from kernels.host.tensor_cores import HopperRung, HopperTiles
from kernels.rungs import mma

BM, BN, BK = 128, 128, 64
TILE_A, TILE_B = BM * BK * 2, BK * BN * 2  # bytes
PANEL = BK * 128  # bytes of 64 columns of B
SUMS = BN // 2  # of a thread, for 64 rows


def make_wgmma(dtype="bfloat16", out_dtype="float32"):
    multiply_add = ptx.wgmma(BN, dtype)

    @cuda.jit(launch_bounds=(128, 1))
    def wgmma(map_A, map_B, C, M, N, K):
        tiles = cuda.shared.array(0, uint8, alignment=1024)
        barrier = cuda.shared.array(1, uint64)
        sA, loaded = ptx.shared_address(tiles), ptx.shared_address(barrier)
        sB = sA + TILE_A

        row0, col0 = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN

        if cuda.threadIdx.x == 0:
            ptx.mbarrier_init(loaded, 1)
            ptx.fence_mbarrier_init()
        cuda.syncthreads()

        upper = cuda.local.array(SUMS, float32)  # rows 0 to 63 of the tile of C
        lower = cuda.local.array(SUMS, float32)  # rows 64 to 127
        parity = 0
        for k0 in range(0, K, BK):
            if cuda.threadIdx.x == 0:
                ptx.mbarrier_arrive_expect_tx(loaded, TILE_A + TILE_B)
                ptx.cp_async_bulk_tensor_2d_load(sA, map_A, k0, row0, loaded)
                for panel in range(BN // 64):
                    x, to = col0 + 64 * panel, sB + panel * PANEL
                    ptx.cp_async_bulk_tensor_2d_load(to, map_B, x, k0, loaded)
            ptx.mbarrier_wait_parity(loaded, parity)
            parity ^= 1

            ptx.wgmma_fence()
            for k in range(0, BK, 16):
                a = ptx.matrix_descriptor(sA + k * 2, 16)
                below = ptx.matrix_descriptor(sA + 64 * 128 + k * 2, 16)
                b = ptx.matrix_descriptor(sB + k * 128, PANEL)
                # At k = 0, wgmma overwrites the accumulators.
                multiply_add(upper, a, b, k0 + k)
                multiply_add(lower, below, b, k0 + k)
            unrolled()
            ptx.wgmma_commit_group()
            ptx.wgmma_wait_group(0, upper, SUMS)
            # One wait is enough; this one tells the compiler that lower changes, too.
            ptx.wgmma_wait_group(0, lower, SUMS)
            # A precaution: thread 0 has waited for the products of all four warps.
            cuda.syncthreads()

        lane = cuda.threadIdx.x % 32
        row = row0 + cuda.threadIdx.x // 32 * 16 + lane // 4
        for j in range(BN // 8):
            col = col0 + 8 * j + lane % 4 * 2
            if row < M and col < N:
                ptx.store_pair(C, row, col, upper[4 * j], upper[4 * j + 1])
            if row + 8 < M and col < N:
                ptx.store_pair(C, row + 8, col, upper[4 * j + 2], upper[4 * j + 3])
            if row + 64 < M and col < N:
                ptx.store_pair(C, row + 64, col, lower[4 * j], lower[4 * j + 1])
            if row + 72 < M and col < N:
                ptx.store_pair(C, row + 72, col, lower[4 * j + 2], lower[4 * j + 3])
        unrolled()

    return wgmma


@dataclass(frozen=True)
class Options(HopperTiles):
    """None: the kernel is written for one warpgroup per block, and 128 × 128 elements of C."""

    BN = 128
    stages = {128: 1}
    block_dim = (128,)


RUNG = HopperRung(
    name="wgmma",
    title="wgmma and TMA",
    chapter="08b-hopper",
    Options=Options,
    make=make_wgmma,
    engines=("numba", "cpp"),
    choices={"numba": ({},), "cpp": ({},)},
    instead=mma.RUNG,
)
