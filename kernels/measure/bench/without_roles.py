"""wgmma without roles: the warps that multiply also ask for the next tiles (sm_90a).

What lies between `mma` and `specialized`, with the tile and the stages of both: first `mma`'s
copies with `wgmma` behind them, then TMA in place of these copies. No reader needs it.
"""

from dataclasses import dataclass

from kernels import ptx
from kernels.backend import cuda, float32, uint8, uint32, uint64
from kernels.backend.vector import unrolled
from kernels.host import option
from kernels.host.tensor_cores import HalfRung, HopperRung, HopperTiles
from kernels.rungs import mma

BM, BK, STAGES, THREADS = 128, 64, 4, 256
TILE_A, PANEL = BM * BK * 2, BK * 128  # bytes
AHEAD, PENDING = STAGES - 1, STAGES - 2


def copies_by_threads(BN):
    """Return how a thread asks for its part of a pair of tiles, and how it waits for all of it."""
    CHUNKS_A, CHUNKS_B = BK // 8, BN // 8  # of 16 bytes in a row
    APART_A, APART_B = THREADS // CHUNKS_A, THREADS // CHUNKS_B  # rows that a thread copies of

    @cuda.jit(device=True, inline="always")
    def ask(A, B, sA, loaded, row0, col0, step, M, N, K, pitch):
        # Beyond the end of K copies bring zeros: the count of groups stays in step.
        tid, k0 = uint32(cuda.threadIdx.x), uint32(step * BK)
        row, chunk = uint32(tid // CHUNKS_A), uint32(tid % CHUNKS_A)
        source = ptx.global_address(A) + uint64(row0 + row) * uint64(2 * pitch)
        source += uint64(2 * k0 + chunk * 16)
        to = uint32(sA + row * 128 + uint32(chunk ^ uint32(row % 8)) * 16)
        inside_K = uint32(k0 + chunk * 8) < uint32(K)
        for i in range(BM // APART_A):
            size = 16 if inside_K & (uint32(row0 + row + i * APART_A) < uint32(M)) else 0
            ptx.cp_async_16(to + i * (APART_A * 128), source, size)
            source += uint64(2 * APART_A * pitch)
        unrolled()
        row, chunk = uint32(tid // CHUNKS_B), uint32(tid % CHUNKS_B)
        source = ptx.global_address(B) + uint64(k0 + row) * uint64(2 * N)
        source += uint64(2 * col0 + chunk * 16)
        within = uint32(uint32(chunk % 8) ^ uint32(row % 8))
        to = uint32(sA + TILE_A + uint32(chunk // 8) * PANEL + row * 128 + within * 16)
        inside_N = uint32(col0 + chunk * 8) < uint32(N)
        for i in range(BK // APART_B):
            size = 16 if inside_N & (uint32(k0 + row + i * APART_B) < uint32(K)) else 0
            ptx.cp_async_16(to + i * (APART_B * 128), source, size)
            source += uint64(2 * APART_B * N)
        unrolled()
        ptx.cp_async_commit_group()

    @cuda.jit(device=True, inline="always")
    def await_tiles(loaded, parity):
        # This thread's part is there; then everyone's, where wgmma sees it.
        ptx.cp_async_wait_group(PENDING)
        ptx.fence_proxy_async()
        cuda.syncthreads()

    return ask, await_tiles


def copies_by_tma(BN):
    """Return how one thread asks for a pair of tiles, and how each waits for it."""
    STAGE = TILE_A + BK * BN * 2

    @cuda.jit(device=True, inline="always")
    def ask(map_A, map_B, sA, loaded, row0, col0, step, M, N, K, pitch):
        if cuda.threadIdx.x == 0 and step * BK < K:
            ptx.mbarrier_arrive_expect_tx(loaded, STAGE)
            ptx.cp_async_bulk_tensor_2d_load(sA, map_A, step * BK, row0, loaded)
            for panel in range(BN // 64):
                x, to = col0 + 64 * panel, sA + TILE_A + panel * PANEL
                ptx.cp_async_bulk_tensor_2d_load(to, map_B, x, step * BK, loaded)

    @cuda.jit(device=True, inline="always")
    def await_tiles(loaded, parity):
        ptx.mbarrier_wait_parity(loaded, parity)

    return ask, await_tiles


def make_without_roles(BN=256, group=16, tma=1, dtype="bfloat16", out_dtype="float32"):
    STAGE, SUMS = TILE_A + BK * BN * 2, BN // 2
    multiply_add = ptx.wgmma(BN, dtype)
    ask, await_tiles = copies_by_tma(BN) if tma else copies_by_threads(BN)

    @cuda.jit(launch_bounds=(THREADS, 1))
    def without_roles(A, B, C, M, N, K, pitch):
        stages = cuda.shared.array(0, uint8, alignment=1024)
        barriers = cuda.shared.array(STAGES, uint64)
        ring, full = ptx.shared_address(stages), ptx.shared_address(barriers)
        tid = cuda.threadIdx.x % 128

        block = cuda.blockIdx.y * cuda.gridDim.x + cuda.blockIdx.x
        first = block // (group * cuda.gridDim.x) * group
        height = min(group, cuda.gridDim.y - first)
        within = block - first * cuda.gridDim.x
        row0, col0 = (first + within % height) * BM, within // height * BN

        if cuda.threadIdx.x == 0:
            for slot in range(STAGES):
                ptx.mbarrier_init(full + 8 * slot, 1)
            ptx.fence_mbarrier_init()
        cuda.syncthreads()

        for step in range(AHEAD):
            ask(A, B, ring + step * STAGE, full + 8 * step, row0, col0, step, M, N, K, pitch)
        upper = cuda.threadIdx.x // 128 * 64  # this warpgroup's first row of the tile
        acc = cuda.local.array(SUMS, float32)
        slot, parity, before = 0, 0, AHEAD
        for step in range((K + BK - 1) // BK):
            await_tiles(full + 8 * slot, parity)
            sA = ring + slot * STAGE
            sB = sA + TILE_A
            ptx.wgmma_fence()
            for k in range(0, BK, 16):
                a = ptx.matrix_descriptor(sA + upper * 128 + k * 2, 16)
                b = ptx.matrix_descriptor(sB + k * 128, PANEL)
                multiply_add(acc, a, b, step + k)  # the first overwrites acc (scale-d = 0)
            unrolled()
            ptx.wgmma_commit_group()
            # Leave this group in flight; the previous one is complete.
            ptx.wgmma_wait_group(1, acc, SUMS)
            cuda.syncthreads()
            to, loaded = ring + before * STAGE, full + 8 * before
            ask(A, B, to, loaded, row0, col0, step + AHEAD, M, N, K, pitch)
            before = slot
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

    return without_roles


@dataclass(frozen=True)
class Options(HopperTiles):
    BN: int = option(256, (128, 256), "columns of C that a block computes", only=True)
    group: int = option(16, (8, 16), "tiles of C that the blocks go down before one to the right")
    tma: int = option(1, (0, 1), "whether the TMA copies, or the threads do, by cp.async")

    stages = {128: STAGES, 256: STAGES}
    block_dim = (THREADS,)


class WithoutRoles(HopperRung):
    """A kernel that takes matrices where its threads copy, and tensor maps where the TMA does."""

    def arguments(self, product, options):
        matrices = HalfRung.arguments(self, product, options)
        maps = super().arguments(product, options) if options.tma else matrices
        return *maps[:2], *matrices[2:]


RUNG = WithoutRoles(
    name="without_roles",
    title="wgmma without roles",
    chapter="08b-hopper",
    Options=Options,
    make=make_without_roles,
    engines=("numba",),
    choices={"numba": ({},)},
    instead=mma.RUNG,
)
