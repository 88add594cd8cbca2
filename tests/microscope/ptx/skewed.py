"""Does one warp's wait for a product speak for its whole warpgroup? A question for a GPU.

One warp of a warpgroup asks for its product and waits, while the others sleep first. Behind its
wait it overwrites B. If a product is one operation of all four warps, whoever waits for it waits
for the sleepers too, and C is right; if each warp's share goes on its own, theirs has another B.
"""

import functools
from dataclasses import dataclass

import numpy as np

from kernels import cuda, float32, ptx, uint32
from kernels.backend.vector import unrolled
from microscope.ptx import TensorMap
from tests.microscope.ptx.products import bfloat16, matrices

int32, uint8 = cuda.int32, cuda.uint8
PANEL = 64 * 128
BLOCKS = 200


@functools.cache
def skewed(ahead: int):
    """The kernel in which warp `ahead` does not sleep; each block writes 64 rows of C."""
    multiply_add = ptx.wgmma(64, "bfloat16")

    @cuda.jit
    def skewed(map_A, map_B, C, nanoseconds):
        memory = cuda.shared.array(0, uint8)
        sA = (ptx.shared_address(memory) + uint32(1023)) & uint32(0xFFFFFC00)
        sB = sA + uint32(PANEL)
        bar = sB + uint32(PANEL)
        tid = int32(cuda.threadIdx.x)
        warp, lane = tid // 32, tid % 32
        if tid == 0:
            ptx.mbarrier_init(bar, 1)
            ptx.fence_mbarrier_init()
        cuda.syncthreads()
        if tid == 0:
            ptx.mbarrier_arrive_expect_tx(bar, 2 * PANEL)
            ptx.cp_async_bulk_tensor_2d_load(sA, map_A, 0, 0, bar)
            ptx.cp_async_bulk_tensor_2d_load(sB, map_B, 0, 0, bar)
        ptx.mbarrier_wait_parity(bar, 0)
        acc = cuda.local.array(32, float32)
        if warp != ahead and nanoseconds > 0:
            cuda.nanosleep(uint32(nanoseconds))
        ptx.wgmma_fence()
        for k in range(4):
            a = ptx.matrix_descriptor(sA + uint32(32 * k), 16)
            b = ptx.matrix_descriptor(sB + uint32(16 * 128 * k), PANEL)
            multiply_add(acc, a, b, int32(k > 0))
        unrolled()
        ptx.wgmma_commit_group()
        ptx.wgmma_wait_group(0, acc, 32)
        if warp == ahead and nanoseconds > 0:
            for k in range(PANEL // 512):
                ptx.st_shared_v4_f32(sB + uint32(512 * k + 16 * lane), 1, 1, 1, 1)
            ptx.fence_proxy_async()
        row = int32(cuda.blockIdx.x) * 64 + warp * 16 + lane // 4
        for j in range(8):
            col = 8 * j + lane % 4 * 2
            C[row, col] = acc[4 * j]
            C[row, col + 1] = acc[4 * j + 1]
            C[row + 8, col] = acc[4 * j + 2]
            C[row + 8, col + 1] = acc[4 * j + 3]
        unrolled()

    return skewed


@dataclass(frozen=True)
class Skew:
    """Which warp is ahead, and by how many nanoseconds."""

    ahead: int
    nanoseconds: int

    def launched(self):
        """As `hardware.of` returns a case."""
        A, B, _ = matrices(64, 64, 64)
        C = np.full((64 * BLOCKS, 64), np.nan, np.float32)
        maps = (TensorMap(bfloat16(X), (64, 64), "bfloat16") for X in (A, B))
        launch = BLOCKS, 128, *maps, C, self.nanoseconds
        expected = {"C": np.tile(A @ B, (BLOCKS, 1))}
        return skewed(self.ahead), launch, 2 * PANEL + 1024 + 16, expected, str(self)


CASES = [Skew(0, 0)] + [Skew(w, ns) for w in (0, 2) for ns in (500, 5_000, 100_000)]
