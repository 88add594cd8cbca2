"""Blocks that stay: they share what they load, and load the next tile while C is stored.

For sm_90a. The blocks of a cluster own tiles below each other, and each loads a part of the columns
of B for all.
"""

from dataclasses import dataclass

from kernels import ptx
from kernels.backend import cuda, float32, int32, uint8, uint64
from kernels.backend.vector import unrolled
from kernels.host import cdiv, check_group, half, option
from kernels.host.tensor_cores import (
    BM,
    HopperRung,
    HopperTiles,
    map_of_result,
    most_clusters,
    sms,
)
from kernels.rungs import mma

BN, BK, CONSUMERS = 256, 64, 2
THREADS = 128 * (1 + CONSUMERS)
TILE_A, TILE_B = BM * BK * 2, BK * BN * 2  # bytes
STAGE = TILE_A + TILE_B
PANEL = BK * 128  # bytes of 64 columns of B
STAGES, BOXES, BOX = 4, 2, 64 * 128
BARRIERS = 2 * STAGES
SUMS = BN // 2  # of a thread


def make_persistent(group=8, cluster=2, dtype="bfloat16", out_dtype="float32"):
    SHARE = BN // 64 // cluster  # panels that each block loads
    EVERYONE = (1 << cluster) - 1
    BOX_COLS = 32 if out_dtype == "float32" else 64  # 128 bytes
    PENDING = BOXES - 1
    multiply_add, clusters_of = ptx.wgmma(BN, dtype), ptx.cluster_dims(cluster)
    pack = ptx.cvt_rn_bf16x2 if dtype == "bfloat16" else ptx.cvt_rn_f16x2

    @cuda.jit(launch_bounds=(THREADS, 1))
    def persistent(map_A, map_B, map_C, M, N, K):
        clusters_of()
        stages = cuda.shared.array(0, uint8, alignment=1024)
        barriers = cuda.shared.array(BARRIERS, uint64)
        ring = ptx.shared_address(stages)
        boxes = ring + STAGES * STAGE
        full = ptx.shared_address(barriers)
        empty = full + 8 * STAGES
        role, tid = cuda.threadIdx.x // 128, cuda.threadIdx.x % 128
        rank = cuda.blockIdx.x % cluster  # within the cluster

        if cuda.threadIdx.x == 0:
            for slot in range(STAGES):
                ptx.mbarrier_init(full + 8 * slot, 1)
                ptx.mbarrier_init(empty + 8 * slot, CONSUMERS * cluster)
            ptx.fence_mbarrier_init()
        # No block may deliver to another whose barriers are not ready.
        ptx.cluster_sync()

        down = int32((M + BM * cluster - 1) // (BM * cluster))
        across, steps = int32((N + BN - 1) // BN), int32((K + BK - 1) // BK)
        start, clusters = int32(cuda.blockIdx.x // cluster), int32(cuda.gridDim.x // cluster)
        slot, parity = 0, 0  # parity: how often the ring has gone round, modulo 2
        if role == 0:
            ptx.setmaxnreg_dec(40)
            if tid == 0:
                for t in range(start, int32(down * across), clusters):
                    # Down `group` tiles, then one to the right: clusters at work at the same time
                    # share rows of A and columns of B in L2.
                    first = t // (group * across) * group
                    height, within = min(group, down - first), t - first * across
                    row0 = ((first + within % height) * cluster + rank) * BM
                    col0 = within // height * BN
                    for step in range(steps):
                        # All consumers of the cluster have to empty a slot: our part of B goes to
                        # all of them.
                        ptx.mbarrier_wait_parity(empty + 8 * slot, parity ^ 1)
                        loaded = full + 8 * slot
                        sA = ring + slot * STAGE
                        sB = sA + TILE_A
                        ptx.mbarrier_arrive_expect_tx(loaded, STAGE)
                        ptx.cp_async_bulk_tensor_2d_load(sA, map_A, step * BK, row0, loaded)
                        for i in range(SHARE):
                            panel = rank * SHARE + i
                            x, to = col0 + 64 * panel, sB + panel * PANEL
                            if cluster == 1:
                                ptx.cp_async_bulk_tensor_2d_load(to, map_B, x, step * BK, loaded)
                            else:
                                ptx.cp_async_bulk_tensor_2d_load_multicast(
                                    to, map_B, x, step * BK, loaded, EVERYONE
                                )
                        slot += 1
                        if slot == STAGES:
                            slot = 0
                            parity ^= 1
        else:
            ptx.setmaxnreg_inc(232)
            upper = (role - 1) * 64  # this warpgroup's first row of the tile
            my_boxes = boxes + (role - 1) * BOXES * BOX
            acc = cuda.local.array(SUMS, float32)
            warp, lane = tid // 32, tid % 32
            for t in range(start, int32(down * across), clusters):
                first = t // (group * across) * group
                height, within = min(group, down - first), t - first * across
                row0 = ((first + within % height) * cluster + rank) * BM
                col0 = within // height * BN
                previous = 0
                for step in range(steps):
                    ptx.mbarrier_wait_parity(full + 8 * slot, parity)
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
                    if step > 0 and tid < cluster:
                        ptx.mbarrier_arrive_cluster(empty + 8 * previous, tid)
                    previous = slot
                    slot += 1
                    if slot == STAGES:
                        slot = 0
                        parity ^= 1
                ptx.wgmma_wait_group(0, acc, SUMS)
                if tid < cluster:
                    ptx.mbarrier_arrive_cluster(empty + 8 * previous, tid)

                # C leaves box by box: while the TMA stores one, the threads write the next.
                for number in range(BN // BOX_COLS):
                    box = my_boxes + number % BOXES * BOX
                    if tid == 0:
                        ptx.cp_async_bulk_wait_group_read(PENDING)  # of what was in this box
                    ptx.bar_sync(role, 128)
                    for j in range(4):
                        if BOX_COLS == 32:
                            row = warp * 16 + lane // 4  # row % 8 is the same 8 rows below
                            d, chunk = 16 * number + 4 * j, 2 * j + lane % 4 // 2
                            place = box + row * 128 + (chunk ^ (row % 8)) * 16 + lane % 2 * 8
                            ptx.st_shared_v2_f32(place, acc[d], acc[d + 1])
                            ptx.st_shared_v2_f32(place + 8 * 128, acc[d + 2], acc[d + 3])
                        else:
                            row = warp * 16 + lane % 16
                            d, chunk = 32 * number + 8 * j, 2 * j + lane // 16
                            ptx.stmatrix_x4(
                                box + row * 128 + (chunk ^ (row % 8)) * 16,
                                pack(acc[d], acc[d + 1]), pack(acc[d + 2], acc[d + 3]),
                                pack(acc[d + 4], acc[d + 5]), pack(acc[d + 6], acc[d + 7]),
                            )  # fmt: skip
                    unrolled()
                    ptx.fence_proxy_async()
                    ptx.bar_sync(role, 128)
                    if tid == 0:
                        x = col0 + number * BOX_COLS
                        ptx.cp_async_bulk_tensor_2d_store(map_C, x, row0 + upper, box)
                        ptx.cp_async_bulk_commit_group()
                unrolled()
            if tid == 0:
                ptx.cp_async_bulk_wait_group_read(0)
        cuda.syncwarp()
        # No block may end while another may still deliver to it.
        ptx.cluster_sync()

    return persistent


@dataclass(frozen=True)
class Options(HopperTiles):
    group: int = option(8, (4, 8, 16), "rows of tiles that are computed together, to share L2")
    cluster: int = option(2, (1, 2), "blocks that share the columns of B", only=True)

    BN = 256
    boxes = 2

    @property
    def macros(self):
        return super().macros | {"STAGES": self.stages[self.width], "BOXES": self.boxes}

    def grid_dim(self, M, N):
        """As few blocks as need no more rounds than all SMs together would.

        A round is one tile of C for each block. Blocks beyond would end a round earlier and gain
        nothing, but take power from the others.
        """
        tiles = cdiv(M, BM * self.cluster) * cdiv(N, self.width)
        rounds = cdiv(tiles, most_clusters(self.cluster, sms()))
        return (cdiv(tiles, rounds) * self.cluster,)

    def model(self, M, N, K):
        """A is loaded once per column of tiles of C, B once per row of clusters."""
        return half.half_model(M, N, K, cdiv(M, BM * self.cluster), cdiv(N, self.width))

    def check(self):
        check_group(self.group, "group")


class Persistent(HopperRung):
    """C leaves through shared memory, by TMA."""

    def arguments(self, product, options):
        map_A, map_B, C, *sizes = super().arguments(product, options)
        return map_A, map_B, map_of_result(C), *sizes


RUNG = Persistent(
    name="persistent",
    title="Persistent",
    chapter="08b-hopper",
    Options=Options,
    make=make_persistent,
    engines=("numba", "cpp"),
    choices={"numba": ({},), "cpp": ({},)},
    instead=mma.RUNG,
)
