"""The general product of 16-bit numbers on Hopper: any layout, an epilogue, batches, parts of K.

For sm_90a. It is the rung `persistent` with everything a library needs around the same loop. A box
is 64 × 64 numbers, of A or of B, whichever way they lie: a transposed operand changes the two
coordinates of its boxes and the descriptors that wgmma reads them by, and is not copied.

The TMA unit copies from 16-byte boundaries alone. An operand whose rows start anywhere comes as it
lies in memory, each row with a few numbers before it; one more warpgroup moves the rows, within
shared memory, to where wgmma takes them from. Large tiles have no room for that: there such an
operand is copied before.
"""

from dataclasses import dataclass, replace

import numpy as np

from kernels import host, ptx
from kernels.backend import cuda, cupy, float32, int32, uint8, uint32, uint64
from kernels.backend.vector import unrolled
from kernels.host import cdiv, half, option, rows
from kernels.host.follow import prepared
from kernels.host.rung import made
from kernels.host.tensor_cores import HopperRung, sms
from kernels.host.tma import EVERY, WIDE, tensor_map, tensor_maps
from kernels.rungs import mma
from kernels.rungs.gemm import GemmProduct, epilogue_of, pair_of, put_of

BK, SIDE, BOX = 64, 64, 64 * 128  # a box: 64 rows of 128 bytes
PITCH = 2 * WIDE  # bytes from a row to the next in a box whose rows start anywhere
RAW = SIDE * PITCH
FAN = 16  #: parts of K that a warpgroup adds up
BOXES = 2  # in which each warpgroup stores C
ROOM = 227 * 1024 - 1024  # bytes of shared memory, less what barriers take


def make_gemm_f16(
    BM=128, BN=256, group=8, cluster=2, split=1, dtype="bfloat16", out_dtype="float32",
    down_A=False, down_B=True, activation="", bias="", adds=False, grouped=False, by_tma=True,
    near_C=True, many=False, odd_A=False, odd_B=False, parted=False, pairs=False,
):  # fmt: skip
    """`down_A`, `down_B`: whether neighbours in memory are rows of A, columns of B (not k).

    Rows of an `odd` operand start anywhere; its maps are eight (`tensor_maps`).

    With `pairs`, what C holds is added, two numbers of 16 bits at a time: those of a box are on
    their way while the box before it is written.
    """
    CONSUMERS, PANELS = BM // SIDE, BN // SIDE
    ODD = odd_A or odd_B
    FIRST = 2 if ODD else 1  # warpgroup of those that multiply
    THREADS = 128 * (FIRST + CONSUMERS)
    TILE_A, STAGE = BM * 128, (BM + BN) * 128  # bytes
    STAGES, RAWS = Options(BM, BN, group, cluster).rings(ODD)
    RAW_A, RAW_B = CONSUMERS * RAW * odd_A, PANELS * RAW * odd_B
    DIRECT = STAGE - TILE_A * odd_A - BN * 128 * odd_B  # bytes that need not be moved
    BARRIERS, SUMS = 2 * STAGES + 2 * RAWS, BN // 2
    AT_ONCE = 4 if BN == 64 else 1  # parts of K whose sums are on their way together
    SHARE = PANELS // cluster  # panels of B that each block loads
    EVERYONE = (1 << cluster) - 1
    BOX_COLS = 32 if out_dtype == "float32" else 64  # 128 bytes
    PENDING, DOWN = BOXES - 1, BM * cluster
    # From 16 values of k to the next, and from a panel to the next, as wgmma finds them.
    STEP_A, LEADING_A = (16 * 128, BOX) if down_A else (32, 16)
    STEP_B, LEADING_B = (16 * 128, BOX) if down_B else (32, 16)
    SIZE, ADDED = 4 if out_dtype == "float32" else 2, BN if bias else 1
    ALL_ADDED = CONSUMERS * ADDED
    has_bias, follows = bool(bias), bool(activation or bias or adds)
    multiply_add = ptx.wgmma(BN, dtype, transposed_A=down_A, transposed_B=down_B)
    clusters_of = ptx.cluster_dims(cluster)
    pack = ptx.cvt_rn_bf16x2 if dtype == "bfloat16" else ptx.cvt_rn_f16x2
    biased, before, finish = epilogue_of(activation, bias, adds, out_dtype)
    put, pair = put_of(out_dtype), pair_of(out_dtype)

    # Divisions are of uint32: of int64 each would take a hundred instructions, which come from
    # memory as well.

    @cuda.jit(device=True, inline="always")
    def tile_of(unit, tiles, across, strips):
        # Part of K by part, and in each down `group` strips, then one to the right: clusters at
        # work at the same time share rows of A and columns of B in L2.
        part, t = uint32(0), uint32(unit)
        if parted:
            part = uint32(t // uint32(tiles))
            t = uint32(t - part * uint32(tiles))
        a_group = uint32(group * across)
        first = uint32(t // a_group)
        within = uint32(t - first * a_group)
        first = uint32(first * uint32(group))
        height = min(uint32(group), uint32(strips - first))
        right = uint32(within // height)
        strip = uint32(first + within - right * height)
        return int32(part), int32(t), int32(strip), int32(right * uint32(BN))

    @cuda.jit(device=True, inline="always")
    def matrix_of(strip, per):
        # Of several matrices which one, and which of its strips.
        if many:
            z = uint32(uint32(strip) // uint32(per))
            return int32(z), int32(strip - z * per)
        return int32(0), int32(strip)

    @cuda.jit(device=True, inline="always")
    def steps_of(part, parts, steps):
        # The first step of a part, and the one behind its last.
        if parted:
            each = uint32(uint32(steps) // uint32(parts))
            rest = uint32(steps - each * parts)
            first = uint32(each * part + min(uint32(part), rest))
            return int32(first), int32(first + each + (uint32(1) if part < rest else uint32(0)))
        return int32(0), int32(steps)

    @cuda.jit(device=True, inline="always")
    def load_odd(to, maps, x, y, z, bar):
        # A box of 64 rows that start anywhere.
        for j in range(EVERY):
            at = to + j * (RAW // EVERY)
            ptx.cp_async_bulk_tensor_3d_load(at, maps[j], x, y // EVERY, z, bar)

    @cuda.jit(device=True, inline="always")
    def realign(to, box, shifts, warp, lane):
        # A warp moves the rows of two maps, two numbers per thread.
        for n in range(2):
            j = 2 * warp + n
            shift = shifts >> 4 * j & 7
            source = box + j * (RAW // EVERY) + (lane + shift // 2) * 4
            there = to + j * 128 + (lane * 4 ^ j * 16)
            for i in range(SIDE // EVERY):
                low = ptx.ld_shared_u32(source + i * PITCH)
                high = ptx.ld_shared_u32(source + i * PITCH + 4)
                both = uint64(low) | uint64(high) << uint64(32)
                word = uint32(both >> uint64(16 * (shift % 2)))
                ptx.st_shared_u32(there + i * EVERY * 128, word)
            unrolled()

    @cuda.jit(device=True, inline="always")
    def fetch(held, number, C, z, row, col, end, N):
        # What C holds where a thread's sums of a box go.
        if pairs:
            for i in range(16):
                r, c = row + 8 * (i % 2), col + number * BOX_COLS + i // 2 * 8
                r, c = min(r, end - 1), min(c, N - 2)
                place = uint64(z * C.strides[0] + r * C.strides[1] + c * 2)
                held[number % 2, i] = ptx.ld_global_u32(ptx.global_address(C) + place)
            unrolled()

    @cuda.jit(device=True, inline="always")
    def follow(acc, j, alpha, beta, added, first, held, C, z, row, col, end, N):
        # What follows the sums of eight columns, of which a thread has two, in two rows.
        if follows:
            b0, b1 = float32(0), float32(0)
            if has_bias:
                b0 = added[uint64(first + uint64(8 * j))]
                b1 = added[uint64(first + uint64(8 * j + 1))]
            if pairs:
                c0, c1 = pair(held[j // 8 % 2, j % 8 * 2])
                c2, c3 = pair(held[j // 8 % 2, j % 8 * 2 + 1])
            else:
                c0 = before(C, z, row, col + 8 * j, end, N)
                c1 = before(C, z, row, col + 8 * j + 1, end, N)
                c2 = before(C, z, row + 8, col + 8 * j, end, N)
                c3 = before(C, z, row + 8, col + 8 * j + 1, end, N)
            acc[4 * j] = finish(acc[4 * j], alpha, beta, b0, c0)
            acc[4 * j + 1] = finish(acc[4 * j + 1], alpha, beta, b1, c1)
            acc[4 * j + 2] = finish(acc[4 * j + 2], alpha, beta, b0, c2)
            acc[4 * j + 3] = finish(acc[4 * j + 3], alpha, beta, b1, c3)
        else:
            for i in range(4):
                acc[4 * j + i] = alpha * acc[4 * j + i]
            unrolled()

    @cuda.jit(device=True, inline="always")
    def store_rows(box, C, z, row0, col0, end, N, warp, lane):
        # Each warp stores 16 rows of a box, a thread a word of each.
        r = warp * 16
        rows_left, cols_left = end - row0 - r, N - col0
        source = box + r * 128
        if near_C:
            place = ptx.global_address(C) + uint64(z * C.strides[0] + (row0 + r) * C.strides[1])
            place += uint64(SIZE * col0 + 4 * lane)
            one = lane * (4 // SIZE) < cols_left
            other = SIZE == 2 and 2 * lane + 1 < cols_left
            for i in range(16):
                word = ptx.ld_shared_u32(source + i * 128 + (lane * 4 ^ i % 8 * 16))
                if SIZE == 4:
                    if one and i < rows_left:
                        ptx.st_global_u32(place, word)
                else:
                    if one and i < rows_left:
                        ptx.st_global_u16(place, word)
                    if other and i < rows_left:
                        ptx.st_global_u16(place + uint64(2), word >> uint32(16))
                place += uint64(C.strides[1])
            unrolled()
        else:
            for i in range(min(16, rows_left)):
                word = ptx.ld_shared_u32(source + i * 128 + (lane * 4 ^ i % 8 * 16))
                if SIZE == 4:
                    if lane < cols_left:
                        put(C, z, row0 + r + i, col0 + lane, ptx.uint_as_float(word))
                else:
                    first, second = pair(word)
                    col = 2 * lane
                    if col < cols_left:
                        put(C, z, row0 + r + i, col0 + col, first)
                    if col + 1 < cols_left:
                        put(C, z, row0 + r + i, col0 + col + 1, second)

    @cuda.jit(launch_bounds=(THREADS, 1))
    def gemm_f16(
        map_A, map_B, map_C, C, biases, table, alpha, beta, M, N, K, strips, parts, step_A, step_B,
        shifts_A, shifts_B, left, ended,
    ):  # fmt: skip
        clusters_of()
        stages = cuda.shared.array(0, uint8, alignment=1024)
        barriers = cuda.shared.array(BARRIERS, uint64)
        last = cuda.shared.array(CONSUMERS, int32)
        added = cuda.shared.array(ALL_ADDED, float32)  # the bias
        ring = ptx.shared_address(stages)
        boxes = ring + STAGES * STAGE
        full = ptx.shared_address(barriers)
        empty = full + 8 * STAGES
        raws = boxes + CONSUMERS * BOXES * BOX
        raw_full = empty + 8 * STAGES
        raw_empty = raw_full + 8 * RAWS
        role, tid = cuda.threadIdx.x // 128, cuda.threadIdx.x % 128
        rank = cuda.blockIdx.x % cluster  # within the cluster

        # The maps of an odd operand come together: one after the other they would take their time.
        if odd_A and cuda.threadIdx.x < EVERY:
            ptx.prefetch_tensormap(map_A[cuda.threadIdx.x])
        if odd_B and cuda.threadIdx.x < EVERY:
            ptx.prefetch_tensormap(map_B[cuda.threadIdx.x])
        if cuda.threadIdx.x == 0:
            if not odd_A:
                ptx.prefetch_tensormap(map_A)
            if not odd_B:
                ptx.prefetch_tensormap(map_B)
            ptx.prefetch_tensormap(map_C)
            for slot in range(STAGES):
                # The TMA fills a slot, or four warps, or all of them.
                ptx.mbarrier_init(full + 8 * slot, int(DIRECT > 0) + 4 * ODD)
                ptx.mbarrier_init(empty + 8 * slot, CONSUMERS * cluster)
            for slot in range(RAWS):
                ptx.mbarrier_init(raw_full + 8 * slot, 1)
                ptx.mbarrier_init(raw_empty + 8 * slot, 4)
            ptx.fence_mbarrier_init()
        # No block may deliver to another whose barriers are not ready.
        ptx.cluster_sync()

        per = int32(uint32(M + DOWN - 1) // uint32(DOWN))  # strips of a matrix
        across = int32(uint32(N + BN - 1) // uint32(BN))
        steps = int32(uint32(K + BK - 1) // uint32(BK))
        tiles = int32(strips * across)
        start = int32(uint32(cuda.blockIdx.x) // uint32(cluster))
        clusters = int32(uint32(cuda.gridDim.x) // uint32(cluster))
        slot, parity = 0, 0  # parity: how often the ring has gone round, modulo 2
        raw, raw_parity = 0, 0
        if role == 0:
            if CONSUMERS == 2 and not ODD:
                ptx.setmaxnreg_dec(40)
            if tid == 0:
                for unit in range(start, int32(tiles * parts), clusters):
                    part, t, strip, col0 = tile_of(unit, tiles, across, strips)
                    if grouped:
                        row0, z, z_A, z_B = table[strip, 0] + rank * BM, 0, 0, table[strip, 2]
                    else:
                        z, strip = matrix_of(strip, per)
                        row0, z_A, z_B = (strip * cluster + rank) * BM, z * step_A, z * step_B
                    if pairs:
                        # While a tile is multiplied, what C holds comes into L2.
                        for i in range(BM // SIDE):
                            for n in range(BN // BOX_COLS):
                                x, y = col0 + n * BOX_COLS, row0 + SIDE * i
                                ptx.cp_async_bulk_prefetch_tensor_3d(map_C, x, y, z)
                    begin, stop = steps_of(part, parts, steps)
                    for step in range(begin, stop):
                        k = step * BK
                        loaded, sA = full + 8 * slot, ring + slot * STAGE
                        sB = sA + TILE_A
                        if ODD:
                            ptx.mbarrier_wait_parity(raw_empty + 8 * raw, raw_parity ^ 1)
                            came, at = raw_full + 8 * raw, raws + raw * (RAW_A + RAW_B)
                            ptx.mbarrier_arrive_expect_tx(came, RAW_A + RAW_B)
                            if odd_A:
                                for i in range(CONSUMERS):
                                    row = row0 + SIDE * i
                                    x, y = (row, k) if down_A else (k, row)
                                    load_odd(at + RAW * i, map_A, x, y, z_A, came)
                            if odd_B:
                                for i in range(PANELS):
                                    col, to = col0 + SIDE * i, at + RAW_A + RAW * i
                                    x, y = (col, k) if down_B else (k, col)
                                    load_odd(to, map_B, x, y, z_B, came)
                            raw += 1
                            if raw == RAWS:
                                raw = 0
                                raw_parity ^= 1
                        if DIRECT > 0:
                            # All consumers of the cluster have to empty a slot: our part of B goes
                            # to all of them.
                            ptx.mbarrier_wait_parity(empty + 8 * slot, parity ^ 1)
                            ptx.mbarrier_arrive_expect_tx(loaded, DIRECT)
                        if not odd_A:
                            for i in range(CONSUMERS):
                                row = row0 + SIDE * i
                                x, y = (row, k) if down_A else (k, row)
                                ptx.cp_async_bulk_tensor_3d_load(
                                    sA + BOX * i, map_A, x, y, z_A, loaded
                                )
                        if not odd_B:
                            for i in range(SHARE):
                                panel = rank * SHARE + i
                                col, to = col0 + SIDE * panel, sB + BOX * panel
                                x, y = (col, k) if down_B else (k, col)
                                if cluster == 1:
                                    ptx.cp_async_bulk_tensor_3d_load(to, map_B, x, y, z_B, loaded)
                                else:
                                    ptx.cp_async_bulk_tensor_3d_load_multicast(
                                        to, map_B, x, y, z_B, loaded, EVERYONE
                                    )
                        slot += 1
                        if slot == STAGES:
                            slot = 0
                            parity ^= 1
        elif ODD and role == 1:
            warp, lane = tid // 32, tid % 32
            for unit in range(start, int32(tiles * parts), clusters):
                part, _, _, _ = tile_of(unit, tiles, across, strips)
                begin, stop = steps_of(part, parts, steps)
                for _ in range(begin, stop):
                    ptx.mbarrier_wait_parity(raw_full + 8 * raw, raw_parity)
                    ptx.mbarrier_wait_parity(empty + 8 * slot, parity ^ 1)
                    at, sA = raws + raw * (RAW_A + RAW_B), ring + slot * STAGE
                    if odd_A:
                        for i in range(CONSUMERS):
                            realign(sA + BOX * i, at + RAW * i, shifts_A, warp, lane)
                    if odd_B:
                        for i in range(PANELS):
                            to, source = sA + TILE_A + BOX * i, at + RAW_A + RAW * i
                            realign(to, source, shifts_B, warp, lane)
                    ptx.fence_proxy_async()
                    cuda.syncwarp()
                    if lane == 0:
                        ptx.mbarrier_arrive(full + 8 * slot)
                        ptx.mbarrier_arrive(raw_empty + 8 * raw)
                    slot += 1
                    if slot == STAGES:
                        slot = 0
                        parity ^= 1
                    raw += 1
                    if raw == RAWS:
                        raw = 0
                        raw_parity ^= 1
        else:
            if CONSUMERS == 2 and not ODD:
                ptx.setmaxnreg_inc(232)
            upper = role - FIRST  # this warpgroup's 64 rows of the tile
            my_boxes = boxes + upper * BOXES * BOX
            acc = cuda.local.array(SUMS, float32)
            held = cuda.local.array((2, 16), uint32)  # of C
            warp, lane = tid // 32, tid % 32
            first_added = uint64(upper * ADDED + lane % 4 * 2)
            for unit in range(start, int32(tiles * parts), clusters):
                part, t, strip, col0 = tile_of(unit, tiles, across, strips)
                # Where in C: the matrix, our first row, and the row behind the last.
                if grouped:
                    row0, end, z = table[strip, 0] + rank * BM, table[strip, 1], 0
                else:
                    z, strip = matrix_of(strip, per)
                    row0, end = (strip * cluster + rank) * BM, M
                row0 += upper * SIDE
                if has_bias:
                    for i in range(tid, BN, 128):
                        added[upper * BN + i] = biased(biases, col0 + i, N)
                begin, stop = steps_of(part, parts, steps)
                previous = 0
                for step in range(begin, stop):
                    ptx.mbarrier_wait_parity(full + 8 * slot, parity)
                    sA = ring + slot * STAGE
                    sB = sA + TILE_A
                    ptx.wgmma_fence()
                    for k in range(4):
                        a = ptx.matrix_descriptor(sA + upper * BOX + STEP_A * k, LEADING_A)
                        b = ptx.matrix_descriptor(sB + STEP_B * k, LEADING_B)
                        multiply_add(acc, a, b, step - begin + k)  # first: scale-d = 0
                    unrolled()
                    ptx.wgmma_commit_group()
                    # Leave this group in flight; the previous one is complete.
                    ptx.wgmma_wait_group(1, acc, SUMS)
                    if step > begin and tid < cluster:
                        ptx.mbarrier_arrive_cluster(empty + 8 * previous, tid)
                    previous = slot
                    slot += 1
                    if slot == STAGES:
                        slot = 0
                        parity ^= 1
                row, col = row0 + warp * 16 + lane // 4, col0 + lane % 4 * 2
                fetch(held, 0, C, z, row, col, end, N)
                ptx.wgmma_wait_group(0, acc, SUMS)
                if tid < cluster:
                    ptx.mbarrier_arrive_cluster(empty + 8 * previous, tid)

                # Of several parts of K each leaves its sums in memory, as they lie in registers.
                # The one that comes last of `FAN` neighbours adds theirs, and of those that did so
                # the last adds what they have left: always in the same order.
                ends = True
                if parted:
                    mine = (t * cluster + rank) * CONSUMERS + upper
                    all_sums = uint64(tiles * cluster * CONSUMERS * SUMS * 512)  # bytes of a part
                    of_thread = ptx.global_address(left) + uint64(mine) * uint64(SUMS * 512)
                    of_thread += uint64(16 * tid)
                    groups = int32(uint32(parts + FAN - 1) // uint32(FAN))
                    counter = int32(mine * (groups + 1) + uint32(part) // uint32(FAN))
                    from_part = int32(uint32(part) // uint32(FAN) * uint32(FAN))
                    apart, count = int32(1), int32(min(int32(FAN), int32(parts - from_part)))
                    for _ in range(int32(1 if groups == 1 else 2)):
                        if ends:
                            place = of_thread + uint64(part) * all_sums
                            for j in range(0, SUMS, 4):
                                ptx.st_global_cg_v4_f32(
                                    place + uint64(512 * j),
                                    acc[j], acc[j + 1], acc[j + 2], acc[j + 3],
                                )  # fmt: skip
                            unrolled()
                            cuda.threadfence()
                            ptx.bar_sync(role, 128)
                            if tid == 0:
                                # From the last it goes back to 0, for the next launch.
                                came = cuda.atomic.inc(ended, counter, uint32(count - 1))
                                last[upper] = came == count - 1
                            ptx.bar_sync(role, 128)
                            ends = last[upper] != 0
                        if ends:
                            cuda.threadfence()
                            for i in range(SUMS):
                                acc[i] = float32(0)
                            unrolled()
                            for p in range(0, count, AT_ONCE):
                                for q in range(AT_ONCE):
                                    there = AT_ONCE == 1 or p + q < count
                                    n = int32(from_part + ((p + q) * apart if there else 0))
                                    place = of_thread + uint64(n) * all_sums
                                    for j in range(0, SUMS, 4):
                                        s0, s1, s2, s3 = ptx.ld_global_cg_v4_f32(
                                            place + uint64(512 * j)
                                        )
                                        acc[j] += s0 if there else float32(0)
                                        acc[j + 1] += s1 if there else float32(0)
                                        acc[j + 2] += s2 if there else float32(0)
                                        acc[j + 3] += s3 if there else float32(0)
                                    unrolled()
                                unrolled()
                        part, apart, count = from_part, int32(FAN), groups
                        from_part, counter = int32(0), int32(mine * (groups + 1) + groups)

                if ends:
                    # The TMA would store whole boxes, across the end of a matrix of a group.
                    boxed = by_tma and (not grouped or row0 + SIDE <= end)
                    if has_bias:
                        ptx.bar_sync(role, 128)  # it lies in shared memory
                    if row0 < end:
                        # C leaves box by box: while the TMA stores one, the threads write the next.
                        for number in range(BN // BOX_COLS):
                            box = my_boxes + number % BOXES * BOX
                            if number + 1 < BN // BOX_COLS:
                                fetch(held, number + 1, C, z, row, col, end, N)
                            for j in range(BOX_COLS // 8):
                                n = number * (BOX_COLS // 8) + j
                                follow(
                                    acc,
                                    n,
                                    alpha,
                                    beta,
                                    added,
                                    first_added,
                                    held,
                                    C,
                                    z,
                                    row,
                                    col,
                                    end,
                                    N,
                                )
                            unrolled()
                            if tid == 0:
                                ptx.cp_async_bulk_wait_group_read(
                                    PENDING
                                )  # of what was in this box
                            ptx.bar_sync(role, 128)
                            for j in range(4):
                                if BOX_COLS == 32:
                                    r = warp * 16 + lane // 4  # r % 8 is the same 8 rows below
                                    d, chunk = 16 * number + 4 * j, 2 * j + lane % 4 // 2
                                    place = box + r * 128 + (chunk ^ (r % 8)) * 16 + lane % 2 * 8
                                    ptx.st_shared_v2_f32(place, acc[d], acc[d + 1])
                                    ptx.st_shared_v2_f32(place + 8 * 128, acc[d + 2], acc[d + 3])
                                else:
                                    r = warp * 16 + lane % 16
                                    d, chunk = 32 * number + 8 * j, 2 * j + lane // 16
                                    ptx.stmatrix_x4(
                                        box + r * 128 + (chunk ^ (r % 8)) * 16,
                                        pack(acc[d], acc[d + 1]), pack(acc[d + 2], acc[d + 3]),
                                        pack(acc[d + 4], acc[d + 5]), pack(acc[d + 6], acc[d + 7]),
                                    )  # fmt: skip
                            unrolled()
                            ptx.fence_proxy_async()
                            ptx.bar_sync(role, 128)
                            if not boxed:
                                store_rows(
                                    box, C, z, row0, col0 + number * BOX_COLS, end, N, warp, lane
                                )
                            elif tid == 0:
                                x = col0 + number * BOX_COLS
                                ptx.cp_async_bulk_tensor_3d_store(map_C, x, row0, z, box)
                                ptx.cp_async_bulk_commit_group()
                        unrolled()
            if tid == 0:
                ptx.cp_async_bulk_wait_group_read(0)
        cuda.syncwarp()
        # No block may end while another may still deliver to it.
        ptx.cluster_sync()

    return gemm_f16


@dataclass(frozen=True)
class Options(host.Options):
    BM: int = option(128, (64, 128), "rows of C that a block computes", only=True)
    BN: int = option(256, (64, 128, 192, 256), "columns of C that a block computes", only=True)
    group: int = option(8, (4, 8, 16), "strips of C that are computed together, to share L2")
    cluster: int = option(2, (1, 2), "blocks that share the columns of B", only=True)
    split: int = option(1, (1, 2, 4, 8), "parts of K, each for blocks of its own")

    registers = 168

    def check(self):
        host.check_group(self.group, "group")
        if self.BN == 192 and self.cluster == 2:
            raise ValueError("BN=192 is three panels, which two blocks can't share: use cluster=1")

    @property
    def block_dim(self):
        return (128 * (1 + self.BM // SIDE),)  # and one warpgroup more for odd operands

    @property
    def block_tile(self):
        return self.BM, self.BN, BK

    @property
    def stages(self):
        """Pairs of tiles that fit beside the boxes for C; more than 8 hide nothing more."""
        return min(8, (ROOM - self.BM // SIDE * BOXES * BOX) // ((self.BM + self.BN) * 128))

    @property
    def moves(self) -> bool:
        """Whether rows that start anywhere are moved in shared memory; else they are copied."""
        return self.BN <= 128 and self.cluster == 1

    def rings(self, odd: bool) -> tuple[int, int]:
        """Pairs of tiles as wgmma takes them; and, of odd operands, as they lie in memory."""
        sides = (self.BM + self.BN) // SIDE
        return (8 // sides, 12 // sides) if odd else (self.stages, 0)

    @property
    def shared_bytes(self):
        return self.bytes_of(False)

    def bytes_of(self, odd: bool) -> int:
        """Shared memory of a block: both rings, and the boxes for C."""
        tiles, raws = self.rings(odd)
        sides = (self.BM + self.BN) // SIDE
        return sides * (tiles * BOX + raws * RAW) + self.BM // SIDE * BOXES * BOX

    def grid_of(self, units: int) -> tuple[int]:
        """As few clusters as need no more rounds than all SMs together would, for so many units."""
        rounds = cdiv(units, max(1, sms() // self.cluster))
        return host.check_grid(cdiv(units, rounds) * self.cluster)

    def grid_dim(self, M, N):
        return self.grid_of(cdiv(M, self.BM * self.cluster) * cdiv(N, self.BN) * self.split)

    def model(self, M, N, K):
        """A is loaded once per column of tiles of C, B once per row of clusters."""
        return half.half_model(M, N, K, cdiv(M, self.BM * self.cluster), cdiv(N, self.BN))


def lies(array) -> tuple:
    """Return a batch of matrices as a tensor map takes it, and whether it is transposed for that.

    One whose elements are neighbours along no axis, or whose rows start on no 16-byte boundaries,
    is None.
    """
    for transposed in (False, True):
        view = array.swapaxes(1, 2) if transposed else array
        strides = [s for n, s in zip(view.shape, view.strides, strict=True) if n > 1]
        near = view.shape[2] == 1 or view.strides[2] == view.itemsize
        apart = strides if view.shape[2] == 1 else strides[:-1]
        if near and host.address(view) % 16 == 0 and all(s % 16 == 0 and s > 0 for s in apart):
            return view, transposed
    return None, False


def anywhere(array) -> bool:
    """Whether matrices can be loaded whose rows start anywhere: a row's numbers side by side."""
    apart, step, near = array.strides
    alone = len(array) == 1 or apart > 0 == apart % 16
    return alone and step > 0 and (near == array.itemsize or array.shape[2] == 1)


class GemmF16(HopperRung):
    """The rung with its operands: 16 bits, as they lie."""

    def operands(self, A, B, out, engine):
        return GemmProduct(A, B, out)

    def check_resident(self, A, B, C):
        """Any strides are taken."""

    def launcher(self, product, options):
        A, B, bias, C = product.arrays
        split = min(options.split, cdiv(product.K, BK))
        height = options.BM * options.cluster
        table, strips = product.strips(height)
        grid = options.grid_of(strips * cdiv(product.N, options.BN) * split)
        tiles = strips * cdiv(product.N, options.BN) * options.cluster
        sums = split * tiles * options.BM * options.BN if split > 1 else 1
        counters = tiles * options.BM // SIDE * (cdiv(split, FAN) + 1)
        left, ended = product.workspace((sums,)), cupy.zeros(counters, np.uint32)
        size = C.dtype.itemsize
        dtype = "float32" if size == 4 else product.format
        grouped = product.sizes is not None
        # Rows of a group begin anywhere, a box along them on 16-byte boundaries alone. Of fewer
        # than 8 steps of k not all maps have one.
        moves = options.moves and product.K >= 8 and not grouped
        view_A, turned_A, odd_A = self.mapped(product, A, not grouped, moves)
        view_B, turned_B, odd_B = self.mapped(product, B, True, moves)
        view_C, turned_C = lies(C)
        # The TMA stores whole pieces of 16 bytes of a row.
        by_tma = view_C is not None and not turned_C and product.N * size % 16 == 0
        how = {
            "down_A": turned_A, "down_B": not turned_B, "odd_A": odd_A, "odd_B": odd_B,
            "near_C": C.strides[2] == size, "by_tma": by_tma, "grouped": grouped,
            "many": product.batch > 1, "parted": split > 1,
            "pairs": size == 2 and product.epilogue.beta != 0 and by_tma and not grouped,
        }  # fmt: skip
        (map_A, shifts_A), (map_B, shifts_B) = (
            tensor_maps(x, product.format) if odd else
            (tensor_map(x, SIDE, SIDE, product.format), np.int32(0))
            for x, odd in ((view_A, odd_A), (view_B, odd_B))
        )  # fmt: skip
        map_C = tensor_map(C, SIDE, 128 // size, dtype) if by_tma else tensor_map(
            left.reshape(1, 1, -1), SIDE, 32, "float32"
        )  # fmt: skip
        kernel = made(
            self.make, replace(options, split=1), dtype=product.format, **how, **product.formats
        )  # fmt: skip
        sizes = half.int32s(product.M, product.N, product.K, strips)
        steps = half.int32s(product.step(0), product.step(1))
        launch = prepared(
            kernel, grid, (options.block_dim[0] + 128 * (odd_A or odd_B),),
            (
                map_A, map_B, map_C, C, bias, table, *product.scales, *sizes,
                np.int32(split), *steps, shifts_A, shifts_B, left, ended,
            ),
            options.bytes_of(odd_A or odd_B),
        )  # fmt: skip
        launch.held = product, view_A, view_B, table, left, ended
        return launch

    @staticmethod
    def mapped(product, array, either, odd):
        """An operand for tensor maps, whether it is transposed for them, and whether rows are odd.

        It is as it lies, or a copy with rows on 16-byte boundaries: without `either`, transposed
        ones are copied, and without `odd`, those whose rows start anywhere.
        """
        view, turned = lies(array)
        if view is not None and (either or not turned):
            return view, turned, False
        turned = either and array.strides[1] == array.itemsize != array.strides[2]
        given = array.swapaxes(1, 2) if turned else array
        if odd and anywhere(given):
            return given, turned, True
        *outer, cols = given.shape
        with host.memory_errors(given.size * given.itemsize):
            wide = cupy.zeros((*outer, half.width_of_copy(cols, 8)), array.dtype)[..., :cols]
        for copy, original in zip(wide, given, strict=True):
            rows.copy(copy, original)
            product._copied.append((copy, original))
        return wide, turned, False


RUNG = GemmF16(
    name="gemm_f16",
    title="General, 16 bits",
    chapter="08b-hopper",
    Options=Options,
    make=make_gemm_f16,
    engines=("numba",),
    choices={
        "numba": (
            {},
            {"cluster": 1},
            {"BN": 192, "cluster": 1},
            {"BN": 128, "cluster": 1},
            {"BN": 64, "cluster": 1},
            {"BM": 64, "BN": 256, "cluster": 1},
            {"BM": 64, "BN": 128, "cluster": 1},
            {"BM": 64, "BN": 64, "cluster": 1},
        )
    },
    instead=mma.RUNG,
)
