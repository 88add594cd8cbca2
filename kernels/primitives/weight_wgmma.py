"""Products with weights of 4 or 8 bits for more rows of X, on Hopper's tensor cores (``wgmma``).

Every block reads X as a whole, so from some ten rows of X on, blocks should have many rows of W.
Here the TMA unit copies tiles of both to shared memory. A warpgroup takes 64 rows of W as its A,
makes bfloat16 of them in registers, and takes all X of a step as its B. Unlike in `weight_only`,
k is in its natural order: of eight weights of 4 bits each of four threads takes two.
"""

from collections.abc import Callable
from functools import cache

import numpy as np

from kernels import host, ptx
from kernels.backend import cuda, float32, int32, uint8, uint32, uint64
from kernels.backend.device import device
from kernels.backend.vector import unrolled
from kernels.host import cdiv, half
from kernels.host.follow import prepared
from kernels.host.tma import tensor_map
from kernels.primitives.matvec_int4 import GROUP

ROWS = 64  #: of W, of a warpgroup
LINE = 128  # bytes of a row of W in a step, and of X in a panel
SLAB = ROWS * LINE
ROOM = 226 * 1024  # bytes of shared memory on a multiprocessor


@cache
def make_weight_wgmma(four, BN, CONSUMERS, STAGES, BLOCKS):
    """Return the kernel, launched ``(map_W, map_X, scales, Y, M, N, K)``.

    Parameters
    ----------
    four : bool
        Whether weights have 4 bits, with a scale per group; otherwise they're e4m3, with one per
        row.
    BN : int
        Rows of X, filled up to a multiple of 8.
    CONSUMERS : int
        Warpgroups of a block that multiply.
    STAGES : int
        Steps of k that a block has in shared memory.
    BLOCKS : int
        Blocks on a multiprocessor at the same time.
    """
    THREADS = 128 * (1 + CONSUMERS)
    GROUPS = 2 if four else 1  # in a step
    PANELS, PANEL = 2 * GROUPS, BN * LINE
    STAGE = CONSUMERS * SLAB + PANELS * PANEL
    BARRIERS, SUMS = 2 * STAGES, BN // 2
    EVEN = 65536 // (BLOCKS * THREADS) // 8 * 8  # registers of a thread before they're shared out
    MANY = min(240, ((1 + CONSUMERS) * EVEN - 24) // CONSUMERS // 8 * 8)
    multiply_add = ptx.wgmma(BN, "bfloat16", "registers", transposed_B=False)

    @cuda.jit(device=True)
    def two_of_four(word, choice):
        # Of a byte one weight goes to the lower half and one to the upper, where its bits are the
        # number times 2⁻¹³³ and 2⁻¹²⁹, by gradual underflow. Weights are 2⁶ times these, less 8.
        bits = uint32(ptx.prmt(word, uint32(0), choice) & uint32(0x00F0000F))
        return ptx.fma_rn_bf16x2(bits, uint32(0x7D007F00), uint32(0xBE00BE00))

    @cuda.jit(device=True)
    def two_of_eight(word, choice):
        bits = ptx.prmt(word, uint32(0), choice)
        sign, rest = bits & uint32(0x80008000), uint32(bits >> uint32(4)) & uint32(0x07F007F0)
        return ptx.fma_rn_bf16x2(uint32(sign | rest), uint32(0x7B807B80), uint32(0x80008000))

    @cuda.jit(device=True, inline="always")
    def fetch(scale, scales, row, step, N, K):
        for r in range(2):
            for g in range(GROUPS):
                group = min(int32(step * GROUPS + g), int32(K // GROUP - 1))
                scale[r, g] = scales[min(int32(row + 8 * r), int32(N - 1)), group]
            unrolled()
        unrolled()

    @cuda.jit(launch_bounds=(THREADS, BLOCKS))
    def weight_wgmma(map_W, map_X, scales, Y, M, N, K):
        stages = cuda.shared.array(0, uint8, alignment=1024)
        barriers = cuda.shared.array(BARRIERS, uint64)
        ring, full = ptx.shared_address(stages), ptx.shared_address(barriers)
        empty = full + 8 * STAGES
        role, tid = cuda.threadIdx.x // 128, cuda.threadIdx.x % 128
        row0 = cuda.blockIdx.x * (ROWS * CONSUMERS)
        if cuda.threadIdx.x == 0:
            for slot in range(STAGES):
                ptx.mbarrier_init(full + 8 * slot, 1)
                ptx.mbarrier_init(empty + 8 * slot, 4 * CONSUMERS)
            ptx.fence_mbarrier_init()
        cuda.syncthreads()

        steps = int32((K + GROUPS * GROUP - 1) // (GROUPS * GROUP))
        slot, parity = uint32(0), uint32(0)  # parity: how often round the ring, modulo 2
        if role == 0:
            ptx.setmaxnreg_dec(24)
            if tid == 0:
                for step in range(steps):
                    ptx.mbarrier_wait_parity(empty + 8 * slot, parity ^ 1)
                    ptx.mbarrier_arrive_expect_tx(full + 8 * slot, STAGE)
                    to = ring + slot * STAGE
                    for i in range(CONSUMERS):
                        ptx.cp_async_bulk_tensor_2d_load(
                            to + i * SLAB, map_W, LINE * step, row0 + i * ROWS, full + 8 * slot
                        )
                    for i in range(PANELS):
                        place = to + CONSUMERS * SLAB + i * PANEL
                        ptx.cp_async_bulk_tensor_2d_load(
                            place, map_X, 64 * (PANELS * step + i), 0, full + 8 * slot
                        )
                    slot = uint32(slot + 1)
                    if slot == STAGES:
                        slot, parity = uint32(0), uint32(parity ^ 1)
        else:
            ptx.setmaxnreg_inc(MANY)
            lane, place = int32(tid % 32), int32(tid % 4)
            within = int32(tid // 32 * 16 + lane // 4)  # the thread's upper row of the 64
            row = int32(row0 + (role - 1) * ROWS + within)
            total = cuda.local.array(SUMS, float32)
            acc = cuda.local.array(SUMS, float32)
            a = cuda.local.array((8, 4), uint32)
            scale = cuda.local.array((2, 2), float32)
            ahead = cuda.local.array((2, 2), float32)
            choice = uint32(0x4040 + 0x0101 * place)
            if not four:
                choice = uint32(0x1404 + 0x2020 * (place % 2))
            for i in range(SUMS):
                total[i] = float32(0)
            unrolled()
            if four:
                fetch(ahead, scales, row, 0, N, K)
            for step in range(steps):
                if four:
                    for i in range(4):
                        scale[i // 2, i % 2] = ahead[i // 2, i % 2]
                    unrolled()
                    fetch(ahead, scales, row, step + 1, N, K)
                ptx.mbarrier_wait_parity(full + 8 * slot, parity)
                mine = ring + slot * STAGE + (role - 1) * SLAB + within * LINE
                panels = ring + slot * STAGE + CONSUMERS * SLAB
                for g in range(GROUPS):
                    if four:
                        for i in range(4):
                            at = mine + ((4 * g + i) ^ (within % 8)) * 16
                            for low in range(2):  # the upper row, and that eight below
                                w0, w1, w2, w3 = ptx.ld_shared_v4_f32(at + low * 8 * LINE)
                                a[2 * i, low] = two_of_four(ptx.float_as_uint(w0), choice)
                                a[2 * i, 2 + low] = two_of_four(ptx.float_as_uint(w1), choice)
                                a[2 * i + 1, low] = two_of_four(ptx.float_as_uint(w2), choice)
                                a[2 * i + 1, 2 + low] = two_of_four(ptx.float_as_uint(w3), choice)
                            unrolled()
                        unrolled()
                    else:
                        for i in range(8):
                            at = mine + (i ^ (within % 8)) * 16 + place // 2 * 4
                            for low in range(2):
                                for k in range(2):
                                    word = ptx.ld_shared_u32(at + low * 8 * LINE + 8 * k)
                                    a[i, 2 * k + low] = two_of_eight(word, choice)
                                unrolled()
                            unrolled()
                        unrolled()
                    ptx.wgmma_fence()
                    for i in range(8):
                        x = panels + (2 * g + i // 4) * PANEL + i % 4 * 32
                        b = ptx.matrix_descriptor(x, 16)
                        if four:  # the first overwrites the sums of the group before
                            multiply_add(acc, a[i], b, i)
                        else:
                            multiply_add(total, a[i], b, 1)
                    unrolled()
                    ptx.wgmma_commit_group()
                    if four:
                        ptx.wgmma_wait_group(0, acc, SUMS)
                        for i in range(SUMS):
                            total[i] += scale[i % 4 // 2, g] * acc[i]
                        unrolled()
                    else:
                        ptx.wgmma_wait_group(0, total, SUMS)
                unrolled()
                ptx.fence_proxy_async()
                if lane == 0:
                    ptx.mbarrier_arrive(empty + 8 * slot)
                cuda.syncwarp()
                slot = uint32(slot + 1)
                if slot == STAGES:
                    slot, parity = uint32(0), uint32(parity ^ 1)

            for i in range(SUMS):
                m, n = i // 4 * 8 + place * 2 + i % 2, row + i % 4 // 2 * 8
                if m < M and n < N:
                    x = total[i] * (float32(64) if four else scales[n, 0])
                    Y[m, n] = ptx.cvt_rn_bf16x2(x, float32(0)) & uint32(0xFFFF)
            unrolled()

    return weight_wgmma


def shared_bytes_of(four: bool, BN: int, consumers: int, stages: int) -> int:
    """Return the bytes of shared memory that a block asks for: a ring of stages."""
    return stages * (consumers * SLAB + (4 if four else 2) * BN * LINE)


def pays(four: bool, M: int, N: int) -> bool:
    """Whether this kernel is faster than `weight_only`'s, on a GPU that has its instructions."""
    gpu = device()
    if gpu.compute_capability is None or gpu.compute_capability[0] != 9:
        return False
    return M > 16 or (four and M > 8 and N >= 2 * ROWS * gpu.sms)


def launcher(weights, scales, X, Y, four: bool) -> Callable[[], object]:
    """Return a function that launches the kernel on CuPy arrays, contiguous, on 16-byte boundaries.

    X, of at most 64 rows, and Y hold the bits of bfloat16.
    """
    (M, K), N = X.shape, len(weights)
    BN = cdiv(M, 8) * 8
    consumers = 2 if N >= 2 * ROWS * (device().sms or 1) else 1
    blocks = 2 if four and BN <= 16 else 1  # more sums leave too few registers
    stages = min(6, ROOM // blocks // shared_bytes_of(four, BN, consumers, 1))
    maps = (
        tensor_map(weights.view(np.uint8), ROWS, LINE, "uint8"),
        tensor_map(X, BN, 64, "bfloat16"),
    )
    kernel = make_weight_wgmma(four, BN, consumers, stages, blocks)
    arguments = *maps, scales.reshape(N, -1), Y, *half.int32s(M, N, K)
    grid = host.check_grid(cdiv(N, ROWS * consumers))
    asked = shared_bytes_of(four, BN, consumers, stages)
    launch = prepared(kernel, grid, (128 * (1 + consumers),), arguments, asked)
    return lambda held=(weights, X): launch()
