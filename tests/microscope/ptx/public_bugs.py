"""Bugs of asynchronous kernels that people found in public, as small kernels of ours.

Each comes twice: as it was, and mended. What one was told to be wrong with, and is not, comes too.
"""

import functools
from dataclasses import dataclass, field

import numpy as np

from kernels import cuda, float32, ptx, uint32
from kernels.backend.vector import unrolled
from microscope.ptx import TensorMap
from microscope.sites import Kind
from tests.microscope.ptx.products import bfloat16, matrices

int32, uint8, uint64 = cuda.int32, cuda.uint8, cuda.uint64
ROUNDS = 6


@functools.cache
def in_turn(mended):
    """Each round loads a box, doubles it in place by ordinary stores, and stores it by TMA.

    The stores need a proxy fence before the TMA unit reads them. A persistent kernel of PyTorch's
    had none: https://dev-discuss.pytorch.org/t/3355; nor had the states of FlashKDA:
    https://github.com/MoonshotAI/FlashKDA/issues/24
    """

    @cuda.jit
    def in_turn(map_A, map_C):
        box = cuda.shared.array(0, float32, alignment=1024)
        bars = cuda.shared.array(1, uint64)
        at, bar = ptx.shared_address(box), ptx.shared_address(bars)
        tid = int32(cuda.threadIdx.x)
        if tid == 0:
            ptx.mbarrier_init(bar, 1)
            ptx.fence_mbarrier_init()
        cuda.syncthreads()
        for t in range(ROUNDS):
            if tid == 0:
                ptx.mbarrier_arrive_expect_tx(bar, 1024)
                ptx.cp_async_bulk_tensor_2d_load(at, map_A, 0, 8 * t, bar)
            ptx.mbarrier_wait_parity(bar, uint32(t) & uint32(1))
            for k in range(4):
                box[tid + 64 * k] *= 2
            if mended:
                ptx.fence_proxy_async()
            cuda.syncthreads()
            if tid == 0:
                ptx.cp_async_bulk_tensor_2d_store(map_C, 0, 8 * t, at)
                ptx.cp_async_bulk_commit_group()
                ptx.cp_async_bulk_wait_group_read(0)
            cuda.syncthreads()

    return in_turn


@functools.cache
def handed_back(mended):
    """One warp asks for boxes, another adds up their columns: two boxes take turns.

    Ordinary reads need a proxy fence before the TMA unit overwrites what they read; without it:
    https://github.com/NVIDIA/TransformerEngine/pull/2695 and
    https://github.com/mlc-ai/TIRx-kernels/pull/8. With it the kernel is sound, though
    compute-sanitizer sees hazards in such loops around an mbarrier where bulk copies have no tensor
    map: https://github.com/Dao-AILab/flash-attention/blob/main/AI/RACECHECK_TMA_HAZARD.md
    """

    @cuda.jit
    def handed_back(map_A, C):
        boxes = cuda.shared.array(0, float32, alignment=1024)
        bars = cuda.shared.array(4, uint64)
        at, full = ptx.shared_address(boxes), ptx.shared_address(bars)
        empty = full + uint32(16)
        warp, lane = int32(cuda.threadIdx.x) // 32, int32(cuda.threadIdx.x) % 32
        if warp == 0 and lane == 0:
            for slot in range(2):
                ptx.mbarrier_init(full + uint32(8 * slot), 1)
                ptx.mbarrier_init(empty + uint32(8 * slot), 1)
            ptx.fence_mbarrier_init()
        cuda.syncthreads()
        for t in range(ROUNDS):
            slot, parity = uint32(t % 2), uint32(t // 2 % 2)
            if warp == 0 and lane == 0:
                ptx.mbarrier_wait_parity(empty + uint32(8) * slot, parity ^ uint32(1))
                ptx.mbarrier_arrive_expect_tx(full + uint32(8) * slot, 1024)
                to = at + uint32(1024) * slot
                ptx.cp_async_bulk_tensor_2d_load(to, map_A, 0, 8 * t, full + uint32(8) * slot)
            if warp == 1:
                ptx.mbarrier_wait_parity(full + uint32(8) * slot, parity)
                total = float32(0)
                for row in range(8):
                    column = (lane // 4 ^ row) * 4 + lane % 4  # under the swizzle
                    total += boxes[int32(slot) * 256 + row * 32 + column]
                C[t, lane] = total
                if mended:
                    ptx.fence_proxy_async()
                cuda.syncwarp()
                if lane == 0:
                    ptx.mbarrier_arrive(empty + uint32(8) * slot)

    return handed_back


@functools.cache
def passed_on(mended):
    """One thread copies boxes through shared memory, two of which take turns.

    Before it loads into a box again, its store must have read it: of all groups, not of all but
    one. https://github.com/deepseek-ai/DeepEP/issues/657
    """
    PENDING = 0 if mended else 1

    @cuda.jit
    def passed_on(map_A, map_C):
        boxes = cuda.shared.array(0, float32, alignment=1024)
        bars = cuda.shared.array(2, uint64)
        at, bar = ptx.shared_address(boxes), ptx.shared_address(bars)
        if cuda.threadIdx.x == 0:
            for slot in range(2):
                ptx.mbarrier_init(bar + uint32(8 * slot), 1)
            ptx.fence_mbarrier_init()
            for t in range(ROUNDS + 2):
                slot = uint32(t % 2)
                box, loaded = at + uint32(1024) * slot, bar + uint32(8) * slot
                if t >= 2:
                    ptx.mbarrier_wait_parity(loaded, uint32((t - 2) // 2 % 2))
                    ptx.cp_async_bulk_tensor_2d_store(map_C, 0, 8 * (t - 2), box)
                    ptx.cp_async_bulk_commit_group()
                    ptx.cp_async_bulk_wait_group_read(PENDING)
                if t < ROUNDS:
                    ptx.mbarrier_arrive_expect_tx(loaded, 1024)
                    ptx.cp_async_bulk_tensor_2d_load(box, map_A, 0, 8 * t, loaded)
            ptx.cp_async_bulk_wait_group_read(0)

    return passed_on


PANEL = 64 * 128


@functools.cache
def two_warpgroups(mended):
    """Two warpgroups multiply their rows of A by the same tile of B; one thread loads the next.

    Each waits for its own products: the other's may still read B, so all must meet before it is
    overwritten. https://github.com/triton-lang/triton/issues/11047
    """

    multiply_add = ptx.wgmma(64, "bfloat16")

    @cuda.jit(launch_bounds=(256, 1))
    def two_warpgroups(map_A, map_B, C, K):
        tiles = cuda.shared.array(0, uint8, alignment=1024)
        bars = cuda.shared.array(1, uint64)
        sA, bar = ptx.shared_address(tiles), ptx.shared_address(bars)
        sB = sA + uint32(2 * PANEL)
        group, tid = int32(cuda.threadIdx.x // 128), int32(cuda.threadIdx.x % 128)
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_init(bar, 1)
            ptx.fence_mbarrier_init()
        cuda.syncthreads()
        acc = cuda.local.array(32, float32)
        for step in range(int32(K // 64)):
            if cuda.threadIdx.x == 0:
                ptx.mbarrier_arrive_expect_tx(bar, 3 * PANEL)
                ptx.cp_async_bulk_tensor_2d_load(sA, map_A, 64 * step, 0, bar)
                ptx.cp_async_bulk_tensor_2d_load(sB, map_B, 0, 64 * step, bar)
            ptx.mbarrier_wait_parity(bar, uint32(step % 2))
            ptx.wgmma_fence()
            for k in range(4):
                a = ptx.matrix_descriptor(sA + uint32(PANEL * group + 32 * k), 16)
                b = ptx.matrix_descriptor(sB + uint32(2048 * k), PANEL)
                multiply_add(acc, a, b, int32(step + k > 0))
            unrolled()
            ptx.wgmma_commit_group()
            ptx.wgmma_wait_group(0, acc, 32)
            if mended:
                cuda.syncthreads()
        row = group * 64 + tid // 32 * 16 + tid % 32 // 4
        for j in range(8):
            col = 8 * j + tid % 4 * 2
            C[row, col] = acc[4 * j]
            C[row, col + 1] = acc[4 * j + 1]
            C[row + 8, col] = acc[4 * j + 2]
            C[row + 8, col + 1] = acc[4 * j + 3]
        unrolled()

    return two_warpgroups


@functools.cache
def one_barrier(mended):
    """Three stages that share one mbarrier, which ends a phase each step.

    Its parity changes every step, not every time the ring has gone round:
    https://github.com/tile-ai/tilelang/pull/3087
    """
    multiply_add = ptx.wgmma(64, "bfloat16")
    STAGES, STAGE = 3, 2 * PANEL
    PER_PHASE = 1 if mended else STAGES

    @cuda.jit(launch_bounds=(128, 1))
    def one_barrier(map_A, map_B, C, K):
        tiles = cuda.shared.array(0, uint8, alignment=1024)
        bars = cuda.shared.array(1, uint64)
        ring, bar = ptx.shared_address(tiles), ptx.shared_address(bars)
        tid = int32(cuda.threadIdx.x)
        if tid == 0:
            ptx.mbarrier_init(bar, 1)
            ptx.fence_mbarrier_init()
        cuda.syncthreads()
        acc = cuda.local.array(32, float32)
        for step in range(int32(K // 64)):
            sA = ring + uint32(step % STAGES * STAGE)
            sB = sA + uint32(PANEL)
            if tid == 0:
                ptx.mbarrier_arrive_expect_tx(bar, STAGE)
                ptx.cp_async_bulk_tensor_2d_load(sA, map_A, 64 * step, 0, bar)
                ptx.cp_async_bulk_tensor_2d_load(sB, map_B, 0, 64 * step, bar)
            ptx.mbarrier_wait_parity(bar, uint32(step // PER_PHASE % 2))
            ptx.wgmma_fence()
            for k in range(4):
                a = ptx.matrix_descriptor(sA + uint32(32 * k), 16)
                b = ptx.matrix_descriptor(sB + uint32(2048 * k), PANEL)
                multiply_add(acc, a, b, int32(step + k > 0))
            unrolled()
            ptx.wgmma_commit_group()
            ptx.wgmma_wait_group(0, acc, 32)
            cuda.syncthreads()
        row = tid // 32 * 16 + tid % 32 // 4
        for j in range(8):
            col = 8 * j + tid % 4 * 2
            C[row, col] = acc[4 * j]
            C[row, col + 1] = acc[4 * j + 1]
            C[row + 8, col] = acc[4 * j + 2]
            C[row + 8, col + 1] = acc[4 * j + 3]
        unrolled()

    return one_barrier


@dataclass(frozen=True)
class Bug:
    """A kernel as it was, or mended.

    Attributes
    ----------
    make : callable
        Returns the kernel; says whether it is mended.
    mended : bool
    kinds : tuple of str
        What is wrong with the one that is not: one of these is reported.
    """

    make: object
    mended: bool
    kinds: tuple[str, ...] = field(default=())

    @property
    def name(self) -> str:
        return f"{self.make.__name__}, {'mended' if self.mended else 'as it was'}"

    def launched(self):
        """As `hardware.of` returns a case."""
        kernel = self.make(self.mended)
        if self.make in (two_warpgroups, one_barrier):
            M, K = (128 if self.make is two_warpgroups else 64), 64 * ROUNDS
            A, B, C = matrices(M, 64, K)
            maps = TensorMap(bfloat16(A), (M, 64), "bfloat16"), _map(bfloat16(B), (64, 64))
            shared = 3 * PANEL if self.make is two_warpgroups else 6 * PANEL
            return kernel, (1, 2 * M, *maps, C, K), shared, {"C": A @ B}, self.name
        A = np.random.default_rng(0).integers(-8, 9, (8 * ROUNDS, 32)).astype(np.float32)
        map_A, C = TensorMap(A, (8, 32), "float32"), np.full_like(A, np.nan)
        if self.make is handed_back:
            expected = A.reshape(ROUNDS, 8, 32).sum(1)
            launch = 1, 64, map_A, np.full_like(expected, np.nan)
            return kernel, launch, 2048, {"C": expected}, self.name
        launch = 1, 64, map_A, TensorMap(C, (8, 32), "float32")
        expected = 2 * A if self.make is in_turn else A
        return kernel, launch, 2048, {"map_C": expected}, self.name


def _map(array, box) -> TensorMap:
    return TensorMap(array, box, "bfloat16")


WRONG = {
    in_turn: (Kind.PROXY_FENCE,),
    handed_back: (Kind.PROXY_FENCE,),
    passed_on: (Kind.OVERWRITTEN,),
    two_warpgroups: (Kind.OVERWRITTEN,),
    one_barrier: (Kind.TOO_EARLY, Kind.DEADLOCK),
}
CASES = [bug for make, kinds in WRONG.items() for bug in (Bug(make, False, kinds), Bug(make, True))]
