"""Warps with roles: one asks for tiles as long as there is room, eight multiply them (sm_90a)."""

from dataclasses import dataclass

from kernels import ptx
from kernels.backend import cuda, float32, uint8, uint64
from kernels.backend.vector import unrolled
from kernels.host import option
from kernels.host.tensor_cores import HopperRung, HopperTiles
from kernels.rungs import mma

BM, BK, CONSUMERS = 128, 64, 2
THREADS = 128 * (1 + CONSUMERS)
PANEL = BK * 128  # bytes of 64 columns of B
GROUP = 16  # tiles of C that the blocks go down before one to the right


def make_specialized(BN=256, dtype="bfloat16", out_dtype="float32"):
    STAGES = HopperTiles.stages[BN]
    TILE_A, TILE_B = BM * BK * 2, BK * BN * 2  # bytes
    STAGE, SUMS, BARRIERS = TILE_A + TILE_B, BN // 2, 2 * STAGES
    multiply_add = ptx.wgmma(BN, dtype)

    @cuda.jit(launch_bounds=(THREADS, 1))
    def specialized(map_A, map_B, C, M, N, K):
        stages = cuda.shared.array(0, uint8, alignment=1024)
        barriers = cuda.shared.array(BARRIERS, uint64)
        ring = ptx.shared_address(stages)
        full = ptx.shared_address(barriers)
        empty = full + 8 * STAGES
        role, tid = cuda.threadIdx.x // 128, cuda.threadIdx.x % 128

        block = cuda.blockIdx.y * cuda.gridDim.x + cuda.blockIdx.x
        first = block // (GROUP * cuda.gridDim.x) * GROUP
        height = min(GROUP, cuda.gridDim.y - first)
        within = block - first * cuda.gridDim.x
        row0, col0 = (first + within % height) * BM, within // height * BN

        if cuda.threadIdx.x == 0:
            for slot in range(STAGES):
                ptx.mbarrier_init(full + 8 * slot, 1)
                ptx.mbarrier_init(empty + 8 * slot, CONSUMERS)
            ptx.fence_mbarrier_init()
        cuda.syncthreads()

        steps = (K + BK - 1) // BK
        slot, parity = 0, 0  # parity: how often the ring has gone round, modulo 2
        if role == 0:
            # One thread does all the producer's work: leave the registers to the consumers.
            ptx.setmaxnreg_dec(40)
            if tid == 0:
                for step in range(steps):
                    # On the first round nobody has to empty a slot: the phase
                    # before the first counts as over.
                    ptx.mbarrier_wait_parity(empty + 8 * slot, parity ^ 1)
                    loaded = full + 8 * slot
                    sA = ring + slot * STAGE
                    sB = sA + TILE_A
                    ptx.mbarrier_arrive_expect_tx(loaded, STAGE)
                    ptx.cp_async_bulk_tensor_2d_load(sA, map_A, step * BK, row0, loaded)
                    for panel in range(BN // 64):
                        x, to = col0 + 64 * panel, sB + panel * PANEL
                        ptx.cp_async_bulk_tensor_2d_load(to, map_B, x, step * BK, loaded)
                    slot += 1
                    if slot == STAGES:
                        slot = 0
                        parity ^= 1
        else:
            ptx.setmaxnreg_inc(232)
            upper = (role - 1) * 64  # this warpgroup's first row of the tile
            acc = cuda.local.array(SUMS, float32)
            previous = 0
            for step in range(steps):
                ptx.mbarrier_wait_parity(full + 8 * slot, parity)
                sA = ring + slot * STAGE
                sB = sA + TILE_A
                ptx.wgmma_fence()
                for k in range(0, BK, 16):
                    a = ptx.matrix_descriptor(sA + upper * 128 + k * 2, 16)
                    b = ptx.matrix_descriptor(sB + k * 128, PANEL)
                    multiply_add(acc, a, b, step + k)  # the first overwrites acc
                unrolled()
                ptx.wgmma_commit_group()
                # Leave this group in flight; the previous one is complete.
                ptx.wgmma_wait_group(1, acc, SUMS)
                if step > 0 and tid == 0:
                    ptx.mbarrier_arrive(empty + 8 * previous)
                previous = slot
                slot += 1
                if slot == STAGES:
                    slot = 0
                    parity ^= 1
            ptx.wgmma_wait_group(0, acc, SUMS)

            lane = tid % 32
            row = row0 + upper + tid // 32 * 16 + lane // 4
            for j in range(BN // 8):
                col = col0 + 8 * j + lane % 4 * 2
                if row < M and col < N:
                    ptx.store_pair(C, row, col, acc[4 * j], acc[4 * j + 1])
                if row + 8 < M and col < N:
                    ptx.store_pair(C, row + 8, col, acc[4 * j + 2], acc[4 * j + 3])
            unrolled()

    return specialized


@dataclass(frozen=True)
class Options(HopperTiles):
    BN: int = option(256, (128, 256), "columns of C that a block computes", only=True)

    @property
    def macros(self):
        return {"BN": self.BN, "STAGES": self.stages[self.BN]}


RUNG = HopperRung(
    name="specialized",
    title="Specialised",
    chapter="08b-hopper",
    Options=Options,
    make=make_specialized,
    engines=("numba", "cpp"),
    choices={"numba": ({},), "cpp": ({},)},
    instead=mma.RUNG,
)
