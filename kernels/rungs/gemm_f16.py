"""The general product of 16-bit numbers on Hopper: any layout, an epilogue, batches, parts of K.

For sm_90a. It is the rung `persistent` with everything a library needs around the same loop. A box
is 64 × 64 numbers, of A or of B, whichever way they lie: a transposed operand changes the two
coordinates of its boxes and the descriptors that wgmma reads them by, and is not copied.
"""

from dataclasses import dataclass, replace

import numpy as np

from kernels import host, ptx
from kernels.engine import cuda, cupy, float32, int32, uint8, uint32, uint64
from kernels.engine.vector import unrolled
from kernels.host import cdiv, half, option, rows
from kernels.host.follow import prepared
from kernels.host.rung import made
from kernels.host.tensor_cores import HopperRung, sms
from kernels.host.tma import tensor_map, tensor_maps
from kernels.rungs import mma
from kernels.rungs.gemm import GemmProduct, epilogue_of, pair_of, put_of

BK, SIDE, BOX = 64, 64, 64 * 128  # a box: 64 rows of 128 bytes
PART = 8 * 128  # eight of them
BOXES = 2  # in which each warpgroup stores C
ROOM = 227 * 1024 - 1024  # bytes of shared memory, less what barriers take


def make_gemm_f16(
    BM=128, BN=256, group=8, cluster=2, split=1, dtype="bfloat16", out_dtype="float32",
    down_A=False, down_B=True, activation="", bias="", adds=False, grouped=False, by_tma=True,
    eights=False, parted=False, pairs=False,
):  # fmt: skip
    """`down_A`, `down_B`: whether neighbours in memory are rows of A, columns of B (not k).

    With `eights`, rows start anywhere, and the maps are eight for each matrix (`tensor_maps`): a box
    comes, and leaves, eight rows at a time, row 8i + j of it at place 8j + i. For A and C these are
    rows of C. For B they are steps of k, so A has to be read in the same order: a thread reads 16
    steps side by side into registers, and has two for each of 8 groups of 8 steps.

    With `pairs`, what C holds is added, two numbers of 16 bits at a time: those of a box are on
    their way while the box before it is written.
    """
    CONSUMERS, PANELS = BM // SIDE, BN // SIDE
    THREADS = 128 * (1 + CONSUMERS)
    TILE_A, STAGE = BM * 128, (BM + BN) * 128  # bytes
    STAGES = Options(BM, BN, group, cluster).stages
    BARRIERS, SUMS = 2 * STAGES, BN // 2
    SHARE = PANELS // cluster  # panels of B that each block loads
    EVERYONE = (1 << cluster) - 1
    BOX_COLS = 32 if out_dtype == "float32" else 64  # 128 bytes
    PENDING, DOWN = BOXES - 1, BM * cluster
    # From 16 values of k to the next, and from a panel to the next, as wgmma finds them.
    STEP_A, LEADING_A = (16 * 128, BOX) if down_A else (32, 16)
    STEP_B, LEADING_B = (16 * 128, BOX) if down_B else (32, 16)
    FEW, MANY = (56, 224) if eights else (40, 232)  # registers of the producer, of a consumer
    follows = bool(activation or bias or adds)
    # From the upper row of a thread's results to the lower, of a warp to the next warp's, of a
    # group of four threads to the next group's.
    BELOW, WARP_DOWN, FOUR_DOWN = (1, 2, 8) if eights else (8, 16, 1)
    multiply_add = ptx.wgmma(
        BN, dtype, "registers" if eights else "shared", down_B, transposed_A=down_A
    )
    clusters_of = ptx.cluster_dims(cluster)
    pack = ptx.cvt_rn_bf16x2 if dtype == "bfloat16" else ptx.cvt_rn_f16x2
    biased, before, finish = epilogue_of(activation, bias, adds, out_dtype)
    put, pair = put_of(out_dtype), pair_of(out_dtype)

    @cuda.jit(device=True, inline="always")
    def fetch(held, number, C, z, row, col, end, N):
        # What C holds where a thread's sums of a box go.
        if pairs:
            for i in range(16):
                r, c = row + BELOW * (i % 2), col + number * BOX_COLS + i // 2 * 8
                r, c = min(r, end - 1), min(c, N - 2)
                place = uint64(z * C.strides[0] + r * C.strides[1] + c * 2)
                held[number % 2, i] = ptx.ld_global_u32(ptx.global_address(C) + place)
            unrolled()

    @cuda.jit(device=True, inline="always")
    def follow(acc, j, alpha, beta, biases, held, C, z, row, col, end, N):
        # What follows the sums of eight columns, of which a thread has two, in two rows.
        if follows:
            b0, b1 = biased(biases, col + 8 * j, N), biased(biases, col + 8 * j + 1, N)
            if pairs:
                c0, c1 = pair(held[j // 8 % 2, j % 8 * 2])
                c2, c3 = pair(held[j // 8 % 2, j % 8 * 2 + 1])
            else:
                c0 = before(C, z, row, col + 8 * j, end, N)
                c1 = before(C, z, row, col + 8 * j + 1, end, N)
                c2 = before(C, z, row + BELOW, col + 8 * j, end, N)
                c3 = before(C, z, row + BELOW, col + 8 * j + 1, end, N)
            acc[4 * j] = finish(acc[4 * j], alpha, beta, b0, c0)
            acc[4 * j + 1] = finish(acc[4 * j + 1], alpha, beta, b1, c1)
            acc[4 * j + 2] = finish(acc[4 * j + 2], alpha, beta, b0, c2)
            acc[4 * j + 3] = finish(acc[4 * j + 3], alpha, beta, b1, c3)
        else:
            for i in range(4):
                acc[4 * j + i] = alpha * acc[4 * j + i]
            unrolled()

    @cuda.jit(launch_bounds=(THREADS, 1))
    def gemm_f16(
        map_A, map_B, map_C, C, biases, table, alpha, beta, M, N, K, strips, parts, step_A, step_B,
        shifts_A, shifts_B, shifts_C, left, ended,
    ):  # fmt: skip
        clusters_of()
        stages = cuda.shared.array(0, uint8, alignment=1024)
        barriers = cuda.shared.array(BARRIERS, uint64)
        last = cuda.shared.array(CONSUMERS, int32)
        ring = ptx.shared_address(stages)
        boxes = ring + STAGES * STAGE
        full = ptx.shared_address(barriers)
        empty = full + 8 * STAGES
        role, tid = cuda.threadIdx.x // 128, cuda.threadIdx.x % 128
        rank = cuda.blockIdx.x % cluster  # within the cluster

        if cuda.threadIdx.x == 0:
            if not eights:
                ptx.prefetch_tensormap(map_A)
                ptx.prefetch_tensormap(map_B)
                ptx.prefetch_tensormap(map_C)
            for slot in range(STAGES):
                ptx.mbarrier_init(full + 8 * slot, 1)
                ptx.mbarrier_init(empty + 8 * slot, CONSUMERS * cluster)
            ptx.fence_mbarrier_init()
        # No block may deliver to another whose barriers are not ready.
        ptx.cluster_sync()

        per = int32((M + DOWN - 1) // DOWN)  # strips of a matrix
        across, steps = int32((N + BN - 1) // BN), int32((K + BK - 1) // BK)
        tiles = int32(strips * across)
        start, clusters = int32(cuda.blockIdx.x // cluster), int32(cuda.gridDim.x // cluster)
        slot, parity = 0, 0  # parity: how often the ring has gone round, modulo 2
        if role == 0:
            if CONSUMERS == 2:
                ptx.setmaxnreg_dec(FEW)
            # Of boxes in eight parts each warp's first thread asks for two.
            if tid == 0 or eights and tid % 32 == 0:
                for unit in range(start, int32(tiles * parts), clusters):
                    # Part of K by part, and in each down `group` strips, then one to the right:
                    # clusters at work at the same time share rows of A and columns of B in L2.
                    part, t = unit // tiles, unit % tiles
                    first = t // (group * across) * group
                    height, within = min(group, strips - first), t - first * across
                    strip, col0 = first + within % height, within // height * BN
                    if grouped:
                        row0, z_A, z_B = table[strip, 0] + rank * BM, 0, table[strip, 2]
                    else:
                        row0 = (strip % per * cluster + rank) * BM
                        z_A, z_B = strip // per * step_A, strip // per * step_B
                    for step in range(steps * part // parts, steps * (part + 1) // parts):
                        # All consumers of the cluster have to empty a slot: our part of B goes to
                        # all of them.
                        ptx.mbarrier_wait_parity(empty + 8 * slot, parity ^ 1)
                        loaded, k = full + 8 * slot, step * BK
                        sA = ring + slot * STAGE
                        sB = sA + TILE_A
                        if tid == 0:
                            ptx.mbarrier_arrive_expect_tx(loaded, STAGE)
                        for i in range(CONSUMERS):
                            row, to = row0 + SIDE * i, sA + BOX * i
                            if eights:
                                for n in range(2):
                                    j = tid // 16 + n
                                    x, y, at = k + (shifts_A >> 4 * j & 7), row // 8, to + PART * j
                                    ptx.cp_async_bulk_tensor_3d_load(
                                        at, map_A[j], x, y, z_A, loaded
                                    )
                            else:
                                x, y = (row, k) if down_A else (k, row)
                                ptx.cp_async_bulk_tensor_3d_load(to, map_A, x, y, z_A, loaded)
                        for i in range(SHARE):
                            panel = rank * SHARE + i
                            col, to = col0 + SIDE * panel, sB + BOX * panel
                            if eights:
                                for n in range(2):
                                    j = tid // 16 + n
                                    x, y, at = col + (shifts_B >> 4 * j & 7), k // 8, to + PART * j
                                    if cluster == 1:
                                        ptx.cp_async_bulk_tensor_3d_load(
                                            at, map_B[j], x, y, z_B, loaded
                                        )
                                    else:
                                        ptx.cp_async_bulk_tensor_3d_load_multicast(
                                            at, map_B[j], x, y, z_B, loaded, EVERYONE
                                        )
                            else:
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
        else:
            if CONSUMERS == 2:
                ptx.setmaxnreg_inc(MANY)
            upper = role - 1  # this warpgroup's 64 rows of the tile
            my_boxes = boxes + upper * BOXES * BOX
            acc = cuda.local.array(SUMS, float32)
            words = cuda.local.array((4, 4), uint32)  # of A, two steps of k in each
            fragments = cuda.local.array((4, 4), uint32)
            held = cuda.local.array((2, 16), uint32)  # of C
            warp, lane = tid // 32, tid % 32
            for unit in range(start, int32(tiles * parts), clusters):
                part, t = unit // tiles, unit % tiles
                first = t // (group * across) * group
                height, within = min(group, strips - first), t - first * across
                strip, col0 = first + within % height, within // height * BN
                # Where in C: the matrix, our first row, and the row behind the last.
                if grouped:
                    row0, end, z = table[strip, 0] + rank * BM, table[strip, 1], 0
                else:
                    row0, end, z = (strip % per * cluster + rank) * BM, M, strip // per
                row0 += upper * SIDE
                previous, begin = 0, steps * part // parts
                for step in range(begin, steps * (part + 1) // parts):
                    ptx.mbarrier_wait_parity(full + 8 * slot, parity)
                    sA = ring + slot * STAGE
                    sB = sA + TILE_A
                    if eights:
                        # A thread's 16 steps of k, of its upper row and of its lower.
                        at = sA + upper * BOX + (warp * 16 + lane // 4) * 128
                        chunk = lane % 4 * 2 ^ lane // 4
                        for i in range(4):
                            w0, w1, w2, w3 = ptx.ld_shared_v4_u32(
                                at + i // 2 * 8 * 128 + (chunk ^ i % 2) * 16
                            )
                            words[i, 0], words[i, 1], words[i, 2], words[i, 3] = w0, w1, w2, w3
                        unrolled()
                        ptx.wgmma_wait_group(0, acc, SUMS)
                        for k in range(4):
                            for i in range(2):
                                low, high = words[2 * i, k], words[2 * i + 1, k]
                                fragments[k, i] = low & uint32(0xFFFF) | high << uint32(16)
                                fragments[k, 2 + i] = low >> uint32(16) | high & uint32(0xFFFF0000)
                            unrolled()
                        unrolled()
                    ptx.wgmma_fence()
                    for k in range(4):
                        b = ptx.matrix_descriptor(sB + STEP_B * k, LEADING_B)
                        # The first finds no sums.
                        if eights:
                            multiply_add(acc, fragments[k], b, step - begin + k)
                        else:
                            a = ptx.matrix_descriptor(sA + upper * BOX + STEP_A * k, LEADING_A)
                            multiply_add(acc, a, b, step - begin + k)
                    unrolled()
                    ptx.wgmma_commit_group()
                    # These products go on while the next are asked for; those before are done.
                    ptx.wgmma_wait_group(1, acc, SUMS)
                    if step > begin and tid < cluster:
                        ptx.mbarrier_arrive_cluster(empty + 8 * previous, tid)
                    previous = slot
                    slot += 1
                    if slot == STAGES:
                        slot = 0
                        parity ^= 1
                row, col = row0 + warp * WARP_DOWN + lane // 4 * FOUR_DOWN, col0 + lane % 4 * 2
                fetch(held, 0, C, z, row, col, end, N)
                ptx.wgmma_wait_group(0, acc, SUMS)
                if tid < cluster:
                    ptx.mbarrier_arrive_cluster(empty + 8 * previous, tid)

                # Of several parts of K each leaves its sums in memory, as they lie in registers. The
                # one that comes last adds all, always in the same order.
                ends = True
                if parted:
                    mine = (t * cluster + rank) * CONSUMERS + upper
                    all_sums = uint64(tiles * cluster * CONSUMERS * SUMS * 512)  # bytes of a part
                    first_sums = ptx.global_address(left) + uint64(mine) * uint64(SUMS * 512)
                    first_sums += uint64(16 * tid)
                    place = first_sums + uint64(part) * all_sums
                    for j in range(0, SUMS, 4):
                        ptx.st_global_cg_v4_f32(
                            place + uint64(512 * j), acc[j], acc[j + 1], acc[j + 2], acc[j + 3]
                        )
                    unrolled()
                    cuda.threadfence()
                    ptx.bar_sync(role, 128)
                    if tid == 0:
                        # From the last it goes back to 0, for the next launch.
                        came = cuda.atomic.inc(ended, mine, uint32(parts - 1))
                        last[upper] = came == parts - 1
                    ptx.bar_sync(role, 128)
                    ends = last[upper] != 0
                    if ends:
                        cuda.threadfence()
                        for i in range(SUMS):
                            acc[i] = float32(0)
                        unrolled()
                        for _ in range(parts):
                            for j in range(0, SUMS, 4):
                                s0, s1, s2, s3 = ptx.ld_global_cg_v4_f32(
                                    first_sums + uint64(512 * j)
                                )
                                acc[j] += s0
                                acc[j + 1] += s1
                                acc[j + 2] += s2
                                acc[j + 3] += s3
                            unrolled()
                            first_sums += all_sums

                if ends:
                    # The TMA would store whole boxes, across the end of a matrix of a group.
                    boxed = by_tma and (not grouped or row0 + SIDE <= end)
                    if not boxed and row0 < end:
                        for j in range(BN // 8):
                            follow(acc, j, alpha, beta, biases, held, C, z, row, col, end, N)
                            for i in range(4):
                                r, c = row + i // 2 * 8, col + 8 * j + i % 2
                                if r < end and c < N:
                                    put(C, z, r, c, acc[4 * j + i])
                            unrolled()
                        unrolled()
                    if boxed:
                        # C leaves box by box: while the TMA stores one, the threads write the next.
                        for number in range(BN // BOX_COLS):
                            box = my_boxes + number % BOXES * BOX
                            if number + 1 < BN // BOX_COLS:
                                fetch(held, number + 1, C, z, row, col, end, N)
                            for j in range(BOX_COLS // 8):
                                n = number * (BOX_COLS // 8) + j
                                follow(acc, n, alpha, beta, biases, held, C, z, row, col, end, N)
                            unrolled()
                            if tid == 0:
                                ptx.cp_async_bulk_wait_group_read(PENDING)  # of what was in this box
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
                            if tid == 0:
                                x = col0 + number * BOX_COLS
                                if eights:
                                    for j in range(8):
                                        if row0 + j < M:  # of fewer rows than 8 not all maps are C's
                                            at, y = x + (shifts_C >> 4 * j & 7), row0 // 8
                                            ptx.cp_async_bulk_tensor_3d_store(
                                                map_C[j], at, y, z, box + PART * j
                                            )
                                else:
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
    BN: int = option(256, (64, 128, 256), "columns of C that a block computes", only=True)
    group: int = option(8, (4, 8, 16), "strips of C that are computed together, to share L2")
    cluster: int = option(2, (1, 2), "blocks that share the columns of B", only=True)
    split: int = option(1, (1, 2, 4, 8), "parts of K, each for blocks of its own")

    registers = 168

    def check(self):
        host.check_group(self.group, "group")

    @property
    def block_dim(self):
        return (128 * (1 + self.BM // SIDE),)

    @property
    def block_tile(self):
        return self.BM, self.BN, BK

    @property
    def stages(self):
        """Pairs of tiles that fit beside the boxes for C; more than 8 hide nothing more."""
        return min(8, (ROOM - self.BM // SIDE * BOXES * BOX) // ((self.BM + self.BN) * 128))

    @property
    def shared_bytes(self):
        return self.stages * (self.BM + self.BN) * 128 + self.BM // SIDE * BOXES * BOX

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


def in_eights(product, *arrays) -> bool:
    """Whether A, B and C are multiplied as they lie, though not all rows start on boundaries."""
    return (
        product.sizes is None
        and product.K >= 8  # steps of k: every map of B has rows
        and any(lies(array)[0] is None for array in arrays)
        and all(
            (x.shape[2] == 1 or x.strides[2] == x.itemsize)
            and x.strides[1] > 0
            and (len(x) == 1 or x.strides[0] % 16 == 0 and x.strides[0] > 0)
            for x in arrays
        )
    )


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
        left, ended = product.workspace((sums,)), cupy.zeros(tiles * options.BM // SIDE, np.uint32)
        size = C.dtype.itemsize
        dtype = "float32" if size == 4 else product.format
        shifts = half.int32s(0, 0, 0)
        if in_eights(product, A, B, C):
            how = {"eights": True}
            maps, shifts = zip(
                tensor_maps(A, SIDE, product.format), tensor_maps(B, SIDE, product.format),
                tensor_maps(C, 128 // size, dtype), strict=True,
            )  # fmt: skip
            held = A, B
        else:
            # Rows of a group begin anywhere, a box along them on 16-byte boundaries alone.
            view_A, turned_A = self.mapped(product, A, product.sizes is None)
            view_B, turned_B = self.mapped(product, B)
            held = view_A, view_B
            view_C, turned_C = lies(C)
            how = {"down_A": turned_A, "down_B": not turned_B, "grouped": product.sizes is not None}
            how["by_tma"] = view_C is not None and not turned_C
            how["pairs"] = (
                product.epilogue.beta != 0 and size == 2 and product.N % 2 == 0 and how["by_tma"]
                and product.sizes is None
            )  # fmt: skip
            map_A, map_B = (tensor_map(x, SIDE, SIDE, product.format) for x in held)
            maps = map_A, map_B, tensor_map(C, SIDE, 128 // size, dtype) if how["by_tma"] else map_A
        kernel = made(
            self.make, replace(options, split=1), dtype=product.format, parted=split > 1, **how,
            **product.formats,
        )  # fmt: skip
        sizes = half.int32s(product.M, product.N, product.K, strips)
        steps = half.int32s(product.step(0), product.step(1))
        launch = prepared(
            kernel, grid, options.block_dim,
            (
                *maps, C, bias, table, *product.scales, *sizes, np.int32(split), *steps, *shifts,
                left, ended,
            ),
            options.shared_bytes,
        )  # fmt: skip
        launch.held = product, held, table, left, ended
        return launch

    @staticmethod
    def mapped(product, array, either=True):
        """An operand for a tensor map: as it lies, or a copy with rows on 16-byte boundaries.

        Without `either`, transposed ones are copied, too.
        """
        view, turned = lies(array)
        if view is not None and (either or not turned):
            return view, turned
        turned = either and array.strides[1] == array.itemsize != array.strides[2]
        given = array.swapaxes(1, 2) if turned else array
        *outer, cols = given.shape
        with host.memory_errors(given.size * given.itemsize):
            wide = cupy.zeros((*outer, cdiv(cols, 8) * 8), array.dtype)[..., :cols]
        for copy, original in zip(wide, given, strict=True):
            rows.copy(copy, original)
            product._copied.append((copy, original))
        return wide, turned


RUNG = GemmF16(
    name="gemm_f16",
    title="General, 16 bits",
    chapter="08-tensor-cores",
    Options=Options,
    make=make_gemm_f16,
    engines=("numba",),
    choices={
        "numba": (
            {},
            {"cluster": 1},
            {"BN": 128, "cluster": 1},
            {"BM": 64, "BN": 256, "cluster": 1},
            {"BM": 64, "BN": 128, "cluster": 1},
            {"BM": 64, "BN": 64, "cluster": 1},
        )
    },
    instead=mma.RUNG,
)
