"""Hopper's own instructions: TMA copies whole tiles, `wgmma` multiplies them from shared memory.

For sm_90a. Load a pair of tiles, multiply it, and load the next: nothing overlaps yet.
"""

from dataclasses import dataclass

from kernels import ptx
from kernels.engine import cuda, float32, uint8, uint64
from kernels.engine.vector import unrolled
from kernels.host.tensor_cores import HopperRung, HopperTiles
from kernels.rungs import mma

BM, BN, BK = 128, 256, 64
TILE_A, TILE_B = BM * BK * 2, BK * BN * 2  # bytes
PANEL = BK * 128  # bytes of 64 columns of B
GROUP = 8  # tiles of C that the blocks go down before one to the right
SUMS = BN // 2  # of a thread


def make_wgmma(dtype="bfloat16", out_dtype="float32"):
    multiply_add = ptx.wgmma(BN, dtype)

    @cuda.jit(launch_bounds=(256, 1))
    def wgmma(map_A, map_B, C, M, N, K):
        tiles = cuda.shared.array(0, uint8, alignment=1024)
        barrier = cuda.shared.array(1, uint64)
        acc = cuda.local.array(SUMS, float32)
        sA, loaded = ptx.shared_address(tiles), ptx.shared_address(barrier)
        sB = sA + TILE_A

        block = cuda.blockIdx.y * cuda.gridDim.x + cuda.blockIdx.x
        first = block // (GROUP * cuda.gridDim.x) * GROUP
        height = min(GROUP, cuda.gridDim.y - first)
        within = block - first * cuda.gridDim.x
        row0, col0 = (first + within % height) * BM, within // height * BN

        if cuda.threadIdx.x == 0:
            ptx.mbarrier_init(loaded, 1)
            ptx.fence_mbarrier_init()
        cuda.syncthreads()

        upper = cuda.threadIdx.x // 128 * 64  # this warpgroup's first row of the tile
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
                a = ptx.matrix_descriptor(sA + upper * 128 + k * 2, 16)
                b = ptx.matrix_descriptor(sB + k * 128, PANEL)
                multiply_add(acc, a, b, k0 + k)  # the first product finds no sums
            unrolled()
            ptx.wgmma_commit_group()
            ptx.wgmma_wait_group(0, acc, SUMS)
            # The next tiles may come only when all warps are done with these.
            cuda.syncthreads()

        lane = cuda.threadIdx.x % 32
        row = row0 + cuda.threadIdx.x // 32 * 16 + lane // 4
        for j in range(BN // 8):
            col = col0 + 8 * j + lane % 4 * 2
            if row < M and col < N:
                ptx.store_pair(C, row, col, acc[4 * j], acc[4 * j + 1])
            if row + 8 < M and col < N:
                ptx.store_pair(C, row + 8, col, acc[4 * j + 2], acc[4 * j + 3])
        unrolled()

    return wgmma


@dataclass(frozen=True)
class Options(HopperTiles):
    """None: the kernel is written for two warpgroups per block, and 128 × 256 elements of C."""

    BN = 256
    stages = {256: 1}
    block_dim = (256,)


RUNG = HopperRung(
    name="wgmma",
    title="wgmma and TMA",
    chapter="08-tensor-cores",
    Options=Options,
    make=make_wgmma,
    engines=("numba", "cpp"),
    choices={"numba": ({},), "cpp": ({},)},
    instead=mma.RUNG,
)
