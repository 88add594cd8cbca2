"""Products on Hopper's instructions, as kernels that tests run, break and count.

They are smaller than the rungs, and say what they do in the same words.
"""

import functools

from kernels import cuda, float32, ptx, uint32
from kernels.backend.vector import unrolled

int32, uint8 = cuda.int32, cuda.uint8
BK = 64  # values of k in a step: 128 bytes of bfloat16


@functools.cache
def specialized(BM=128, BN=256, STAGES=4, dtype="bfloat16", A_ROWS=None, B_ROWS=64, B_FIRST=False):
    """A producer, and BM / 64 warpgroups of consumers; C is float32, with an even row length.

    A tile of A comes in boxes of A_ROWS rows (all of it, if left out), a panel of B in boxes of
    B_ROWS, and B before A with B_FIRST.
    """
    multiply_add = ptx.wgmma(BN, dtype)
    CONSUMERS = BM // 64
    # What all threads have together must fit into an SM: 65536 registers.
    FEW, MANY = (32, 160) if CONSUMERS == 3 else (40, 232)
    TILE_A, PANEL = BM * BK * 2, BK * 128
    STAGE = TILE_A + BK * BN * 2
    PANELS = BN // 64
    A_ROWS = A_ROWS or BM
    ACC = BN // 2

    @cuda.jit(launch_bounds=(128 * (1 + CONSUMERS), 1))
    def specialized(map_A, map_B, C, K):
        memory = cuda.shared.array(0, uint8)
        ring = (ptx.shared_address(memory) + uint32(1023)) & uint32(0xFFFFFC00)
        full = ring + uint32(STAGES * STAGE)
        empty = full + uint32(8 * STAGES)
        role = int32(cuda.threadIdx.x // 128)
        tid = int32(cuda.threadIdx.x % 128)
        row0, col0 = int32(cuda.blockIdx.y * BM), int32(cuda.blockIdx.x * BN)
        if cuda.threadIdx.x == 0:
            for slot in range(STAGES):
                ptx.mbarrier_init(full + uint32(8 * slot), 1)
                ptx.mbarrier_init(empty + uint32(8 * slot), CONSUMERS)
            ptx.fence_mbarrier_init()
        cuda.syncthreads()
        steps = int32((K + BK - 1) // BK)
        if role == 0:
            ptx.setmaxnreg_dec(FEW)
            if tid == 0:
                for step in range(steps):
                    slot = uint32(step) % uint32(STAGES)
                    parity = uint32(step) // uint32(STAGES) & uint32(1)
                    ptx.mbarrier_wait_parity(empty + uint32(8) * slot, parity ^ uint32(1))
                    arrived = full + uint32(8) * slot
                    sA = ring + slot * uint32(STAGE)
                    sB = sA + uint32(TILE_A)
                    ptx.mbarrier_arrive_expect_tx(arrived, STAGE)
                    for turn in range(2):
                        if (turn == 0) != B_FIRST:
                            for box in range(BM // A_ROWS):
                                to, y = sA + uint32(box * A_ROWS * 128), row0 + box * A_ROWS
                                ptx.cp_async_bulk_tensor_2d_load(to, map_A, step * BK, y, arrived)
                        else:
                            for panel in range(PANELS):
                                for box in range(BK // B_ROWS):
                                    to = sB + uint32(panel * PANEL + box * B_ROWS * 128)
                                    x, y = col0 + 64 * panel, step * BK + box * B_ROWS
                                    ptx.cp_async_bulk_tensor_2d_load(to, map_B, x, y, arrived)
        else:
            ptx.setmaxnreg_inc(MANY)
            acc = cuda.local.array(ACC, float32)
            upper = uint32(role - 1) * uint32(64 * 128)
            for step in range(steps):
                slot = uint32(step) % uint32(STAGES)
                parity = uint32(step) // uint32(STAGES) & uint32(1)
                ptx.mbarrier_wait_parity(full + uint32(8) * slot, parity)
                sA = ring + slot * uint32(STAGE) + upper
                sB = ring + slot * uint32(STAGE) + uint32(TILE_A)
                ptx.wgmma_fence()
                for k in range(BK // 16):
                    a = ptx.matrix_descriptor(sA + uint32(32 * k), 16)
                    b = ptx.matrix_descriptor(sB + uint32(16 * 128 * k), PANEL)
                    multiply_add(acc, a, b, int32(step + k > 0))
                unrolled()
                ptx.wgmma_commit_group()
                ptx.wgmma_wait_group(1, acc, ACC)
                if step > 0 and tid == 0:
                    previous = uint32(step - 1) % uint32(STAGES)
                    ptx.mbarrier_arrive(empty + uint32(8) * previous)
            ptx.wgmma_wait_group(0, acc, ACC)
            lane = tid % 32
            row = row0 + (role - 1) * 64 + tid // 32 * 16 + lane // 4
            for j in range(BN // 8):
                col = col0 + 8 * j + lane % 4 * 2
                if col < C.shape[1]:
                    if row < C.shape[0]:
                        C[row, col] = acc[4 * j]
                        C[row, col + 1] = acc[4 * j + 1]
                    if row + 8 < C.shape[0]:
                        C[row + 8, col] = acc[4 * j + 2]
                        C[row + 8, col + 1] = acc[4 * j + 3]
            unrolled()

    specialized.shared_bytes = STAGES * STAGE + 1024 + 16 * STAGES
    return specialized


@functools.cache
def copied(k=16, dtype="bfloat16"):
    """``cp.async`` in two stages, ``ldmatrix`` and ``mma``: a warp for 16 rows and 8 columns.

    A is M×K and B N×K (its transpose), rows of a multiple of 16 bytes; one warp a block.
    """
    multiply_add = ptx.mma(k, dtype)
    STAGE = 24 * 32  # 16 rows of A and 8 of B, 32 bytes each
    PER_STEP = 16

    @cuda.jit
    def copied(A, B, C, K):
        memory = cuda.shared.array(0, uint8)
        start = ptx.shared_address(memory)
        lane = int32(cuda.threadIdx.x)
        row0, col0 = int32(cuda.blockIdx.y * 16), int32(cuda.blockIdx.x * 8)
        a, b = ptx.global_address(A), ptx.global_address(B)
        acc = cuda.local.array(4, float32)
        fa, fb = cuda.local.array(4, uint32), cuda.local.array(2, uint32)
        for i in range(4):
            acc[i] = 0
        unrolled()
        steps = int32(K // PER_STEP)
        for step in range(steps + 1):
            if step < steps:
                to = start + uint32(step % 2 * STAGE)
                here, right = lane // 2, lane % 2
                size = uint32(16 if row0 + here < A.shape[0] else 0)
                source = a + ((row0 + here) * K + step * PER_STEP + 8 * right) * 2
                ptx.cp_async_16(to + uint32(here * 32 + right * 16), source, size)
                if lane < 16:
                    source = b + ((col0 + here) * K + step * PER_STEP + 8 * right) * 2
                    ptx.cp_async_16(to + uint32(512 + here * 32 + right * 16), source, 16)
            ptx.cp_async_commit_group()
            if step > 0:
                ptx.cp_async_wait_group(1)
                cuda.syncthreads()
                there = start + uint32((step - 1) % 2 * STAGE)
                at = there + uint32(lane % 16 * 32 + lane // 16 * 16)
                fa[0], fa[1], fa[2], fa[3] = ptx.ldmatrix_x4(at)
                at = there + uint32(512 + lane % 8 * 32 + lane // 8 % 2 * 16)
                fb[0], fb[1] = ptx.ldmatrix_x2(at)
                multiply_add(acc, fa, fb)
                cuda.syncthreads()
        row, col = row0 + lane // 4, col0 + lane % 4 * 2
        for half in range(2):
            if row + 8 * half < C.shape[0]:
                C[row + 8 * half, col] = acc[2 * half]
                C[row + 8 * half, col + 1] = acc[2 * half + 1]
        unrolled()

    copied.shared_bytes = 2 * STAGE
    return copied


@functools.cache
def persistent(BM=64, BN=128, STAGES=3, CLUSTER=2, DOWN=True):
    """Blocks that stay, in clusters that share B; C leaves by TMA, in two boxes that take turns.

    They go down the tiles of C before one to the right, or the other way round. One producer warp,
    one warpgroup of consumers; the grid has one axis.
    """
    multiply_add = ptx.wgmma(BN, "bfloat16")
    clusters_of = ptx.cluster_dims(CLUSTER)
    TILE_A, PANEL = BM * BK * 2, BK * 128
    STAGE = TILE_A + BK * BN * 2
    SHARE = BN // 64 // CLUSTER
    ACC, RANKS = BN // 2, (1 << CLUSTER) - 1
    BOX = 64 * 128

    @cuda.jit(launch_bounds=(256, 1))
    def persistent(map_A, map_B, map_C, M, N, K):
        clusters_of()
        memory = cuda.shared.array(0, uint8)
        ring = (ptx.shared_address(memory) + uint32(1023)) & uint32(0xFFFFFC00)
        boxes = ring + uint32(STAGES * STAGE)
        full = boxes + uint32(2 * BOX)
        empty = full + uint32(8 * STAGES)
        role = int32(cuda.threadIdx.x // 128)
        tid = int32(cuda.threadIdx.x % 128)
        rank = int32(ptx.cluster_ctarank())
        if cuda.threadIdx.x == 0:
            for s in range(STAGES):
                ptx.mbarrier_init(full + uint32(8 * s), 1)
                ptx.mbarrier_init(empty + uint32(8 * s), CLUSTER)
            ptx.fence_mbarrier_init()
        ptx.cluster_sync()
        down = int32((M + BM * CLUSTER - 1) // (BM * CLUSTER))
        across = int32((N + BN - 1) // BN)
        steps = int32((K + BK - 1) // BK)
        clusters = int32(cuda.gridDim.x) // int32(CLUSTER)
        count = uint32(0)
        if role == 0:
            if tid == 0:
                for t in range(int32(cuda.blockIdx.x) // int32(CLUSTER), down * across, clusters):
                    i = t % down if DOWN else t // across
                    j = t // down if DOWN else t % across
                    row0 = (i * int32(CLUSTER) + rank) * int32(BM)
                    col0 = j * int32(BN)
                    for step in range(steps):
                        slot = count % uint32(STAGES)
                        parity = count // uint32(STAGES) & uint32(1)
                        count += uint32(1)
                        ptx.mbarrier_wait_parity(empty + uint32(8) * slot, parity ^ uint32(1))
                        arrived = full + uint32(8) * slot
                        sA = ring + slot * uint32(STAGE)
                        sB = sA + uint32(TILE_A)
                        ptx.mbarrier_arrive_expect_tx(arrived, STAGE)
                        ptx.cp_async_bulk_tensor_2d_load(sA, map_A, step * BK, row0, arrived)
                        for i in range(SHARE):
                            panel = rank * SHARE + i
                            ptx.cp_async_bulk_tensor_2d_load_multicast(
                                sB + uint32(panel * PANEL),
                                map_B,
                                col0 + 64 * panel,
                                step * BK,
                                arrived,
                                RANKS,
                            )
        else:
            acc = cuda.local.array(ACC, float32)
            lane = tid % 32
            line = tid // 32 * 16 + lane // 4
            for t in range(int32(cuda.blockIdx.x) // int32(CLUSTER), down * across, clusters):
                i = t % down if DOWN else t // across
                j = t // down if DOWN else t % across
                row0 = (i * int32(CLUSTER) + rank) * int32(BM)
                col0 = j * int32(BN)
                previous = uint32(0)
                for step in range(steps):
                    slot = count % uint32(STAGES)
                    parity = count // uint32(STAGES) & uint32(1)
                    count += uint32(1)
                    ptx.mbarrier_wait_parity(full + uint32(8) * slot, parity)
                    sA = ring + slot * uint32(STAGE)
                    sB = sA + uint32(TILE_A)
                    ptx.wgmma_fence()
                    for k in range(BK // 16):
                        a = ptx.matrix_descriptor(sA + uint32(32 * k), 16)
                        b = ptx.matrix_descriptor(sB + uint32(16 * 128 * k), PANEL)
                        multiply_add(acc, a, b, int32(step + k > 0))
                    unrolled()
                    ptx.wgmma_commit_group()
                    ptx.wgmma_wait_group(1, acc, ACC)
                    if step > 0 and tid < CLUSTER:
                        ptx.mbarrier_arrive_cluster(empty + uint32(8) * previous, tid)
                    previous = slot
                ptx.wgmma_wait_group(0, acc, ACC)
                if tid < CLUSTER:
                    ptx.mbarrier_arrive_cluster(empty + uint32(8) * previous, tid)
                for box in range(BN // 32):
                    to = boxes + uint32(box % 2 * BOX)
                    if tid == 0:
                        ptx.cp_async_bulk_wait_group_read(1)
                    ptx.bar_sync(1, 128)
                    for j in range(4):
                        chunk = 2 * j + lane % 4 // 2
                        at = to + uint32(line * 128 + (chunk ^ (line % 8)) * 16 + lane % 2 * 8)
                        ptx.st_shared_v2_f32(at, acc[16 * box + 4 * j], acc[16 * box + 4 * j + 1])
                        ptx.st_shared_v2_f32(
                            at + uint32(8 * 128),
                            acc[16 * box + 4 * j + 2],
                            acc[16 * box + 4 * j + 3],
                        )
                    unrolled()
                    ptx.fence_proxy_async()
                    ptx.bar_sync(1, 128)
                    if tid == 0:
                        ptx.cp_async_bulk_tensor_2d_store(map_C, col0 + 32 * box, row0, to)
                        ptx.cp_async_bulk_commit_group()
                unrolled()
            if tid == 0:
                ptx.cp_async_bulk_wait_group_read(0)
        cuda.syncwarp()
        ptx.cluster_sync()

    persistent.shared_bytes = STAGES * STAGE + 2 * BOX + 1024 + 16 * STAGES
    return persistent


@functools.cache
def one_product(columns=64, dtype="bfloat16", a_in="shared", transposed_B=True):
    """C = A·B by one warpgroup: 64 rows of 128 bytes of A, in four products.

    A comes in one box. B comes in boxes of 64 columns if it is transposed as it is read, and
    otherwise in one of `columns` rows, the values of k side by side. A from registers comes through
    ``ldmatrix``.
    """
    multiply_add = ptx.wgmma(columns, dtype, a_in, transposed_B)
    SIZE = {"float16": 2, "bfloat16": 2, "tf32": 4, "e4m3": 1}[dtype]
    PANEL, PANELS = 64 * 128, columns // 64
    B_BYTES = PANEL * PANELS if transposed_B else columns * 128
    ALL = PANEL + B_BYTES
    IN_REGISTERS, ACC = a_in == "registers", columns // 2

    @cuda.jit
    def one_product(map_A, map_B, C):
        memory = cuda.shared.array(0, uint8)
        sA = (ptx.shared_address(memory) + uint32(1023)) & uint32(0xFFFFFC00)
        sB = sA + uint32(PANEL)
        bar = sB + uint32(B_BYTES)
        tid = int32(cuda.threadIdx.x)
        lane = tid % 32
        if tid == 0:
            ptx.mbarrier_init(bar, 1)
            ptx.fence_mbarrier_init()
        cuda.syncthreads()
        if tid == 0:
            ptx.mbarrier_arrive_expect_tx(bar, ALL)
            ptx.cp_async_bulk_tensor_2d_load(sA, map_A, 0, 0, bar)
            if transposed_B:
                for panel in range(PANELS):
                    to = sB + uint32(panel * PANEL)
                    ptx.cp_async_bulk_tensor_2d_load(to, map_B, 64 * panel, 0, bar)
            else:
                ptx.cp_async_bulk_tensor_2d_load(sB, map_B, 0, 0, bar)
        ptx.mbarrier_wait_parity(bar, 0)
        acc = cuda.local.array(ACC, float32)
        fragment = cuda.local.array((4, 4), uint32)
        if IN_REGISTERS:
            row = uint32(tid // 32 * 16 + lane % 16)
            for k in range(4):
                chunk = uint32(2 * k + lane // 16) ^ row % uint32(8)
                at = sA + row * uint32(128) + chunk * uint32(16)
                parts = ptx.ldmatrix_x4(at)
                for i in range(4):
                    fragment[k, i] = parts[i]
        ptx.wgmma_fence()
        for k in range(4):
            if transposed_B:
                b = ptx.matrix_descriptor(sB + uint32(16 * 128 * k), PANEL)
            else:
                b = ptx.matrix_descriptor(sB + uint32(32 * k), 16)
            if IN_REGISTERS:
                multiply_add(acc, fragment[k], b, int32(k > 0))
            else:
                multiply_add(acc, ptx.matrix_descriptor(sA + uint32(32 * k), 16), b, int32(k > 0))
        unrolled()
        ptx.wgmma_commit_group()
        ptx.wgmma_wait_group(0, acc, ACC)
        for j in range(columns // 8):
            row, col = tid // 32 * 16 + lane // 4, 8 * j + lane % 4 * 2
            C[row, col] = acc[4 * j]
            C[row, col + 1] = acc[4 * j + 1]
            C[row + 8, col] = acc[4 * j + 2]
            C[row + 8, col + 1] = acc[4 * j + 3]
        unrolled()

    one_product.shared_bytes = ALL + 1024 + 16
    one_product.size = SIZE
    return one_product
