"""Tiles divided along K, so that all blocks end together (Stream-K), on Hopper's tensor cores.

Whole tiles of C rarely come out even: of 34 tiles for 66 clusters of blocks, 32 clusters see none,
and of a thin C the most. Here the tiles of a round that would not be full are divided along K, and
their steps dealt out in equal shares. Where there are so few tiles that two blocks can take every
second step of each, such a pair swaps sums through the shared memory of its cluster. For sm_90a;
apart from that, and from launches that follow each other closely, it is the kernel of `persistent`.

Source: M. Osama, D. Merrill, C. Cecka, M. Garland and J. D. Owens, *Stream-K: Work-centric Parallel
Decomposition for Dense Matrix-Matrix Multiplication on the GPU*, PPoPP 2023.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from kernels import host, ptx
from kernels.backend import cuda, cupy, float32, int32, on_gpu, uint8, uint32, uint64
from kernels.backend.vector import unrolled
from kernels.host import cdiv, cpp, half, option, tensor_cores
from kernels.host.follow import follower, prepared
from kernels.host.rung import made
from kernels.host.tensor_cores import (
    HopperRung,
    HopperTiles,
    map_of_result,
    most_clusters,
)
from kernels.rungs import mma

BM, BK, CONSUMERS = 128, 64, 2
THREADS = 128 * (1 + CONSUMERS)
TILE_A, PANEL, BOXES, BOX = BM * BK * 2, BK * 128, 2, 64 * 128  # bytes
GROUP = 8  # rows of tiles that are computed together, to share L2


def make_stream_k(BN=0, cluster=0, parts=1, dtype="bfloat16", out_dtype="float32"):
    BN, cluster = BN or 256, cluster or 2 // parts
    STAGES = HopperTiles.stages[BN]
    TILE_B = BK * BN * 2  # bytes
    STAGE, SUMS, BARRIERS = TILE_A + TILE_B, BN // 2, 2 * STAGES + CONSUMERS
    SHARE = BN // 64 // cluster  # panels that each block loads
    EVERYONE = (1 << cluster) - 1
    # Blocks that share the columns of B, or one tile: never both.
    BLOCKS = cluster * parts  # of a cluster
    HALF = SUMS // 2  # of the sums, where two blocks share a tile
    BOX_COLS = 32 if out_dtype == "float32" else 64  # 128 bytes
    HALF_BOXES, PENDING = BN // BOX_COLS // 2, BOXES - 1
    multiply_add, clusters_of = ptx.wgmma(BN, dtype), ptx.cluster_dims(BLOCKS)
    pack = ptx.cvt_rn_bf16x2 if dtype == "bfloat16" else ptx.cvt_rn_f16x2

    @cuda.jit(launch_bounds=(THREADS, 1))
    def stream_k(map_A, map_B, map_C, down, across, steps, whole, sharers, sums, ready):
        clusters_of()
        stages = cuda.shared.array(0, uint8, alignment=1024)
        barriers = cuda.shared.array(BARRIERS, uint64)
        ring = ptx.shared_address(stages)
        boxes = uint32(ring + STAGES * STAGE)
        full = ptx.shared_address(barriers)
        empty = uint32(full + 8 * STAGES)
        arrived = uint32(empty + 8 * STAGES)  # for each consumer: the other block's sums
        role, tid = int32(cuda.threadIdx.x // 128), int32(cuda.threadIdx.x % 128)
        number, rank = int32(cuda.blockIdx.x // BLOCKS), int32(cuda.blockIdx.x % cluster)
        part = int32(cuda.blockIdx.x % parts)  # of the steps

        ptx.griddepcontrol_launch_dependents()
        if cuda.threadIdx.x == 0:
            ptx.prefetch_tensormap(map_A)
            ptx.prefetch_tensormap(map_B)
            ptx.prefetch_tensormap(map_C)
            for slot in range(STAGES):
                ptx.mbarrier_init(full + 8 * slot, 1)
                ptx.mbarrier_init(empty + 8 * slot, CONSUMERS * cluster)
            for consumer in range(CONSUMERS):
                ptx.mbarrier_init(arrived + 8 * consumer, 1)
            ptx.fence_mbarrier_init()
        # No block may deliver to another whose barriers are not ready.
        ptx.cluster_sync()

        # Tiles 0 to whole - 1 go to the clusters in turn; of the others each of the first `sharers`
        # clusters gets an equal share of the steps, the first ones a step more.
        clusters = int32(cuda.gridDim.x // BLOCKS)
        turns = int32((whole - number + clusters - 1) // clusters)
        all_steps = (down * across - whole) * steps
        share, more = int32(all_steps // max(sharers, 1)), int32(all_steps % max(sharers, 1))
        # A share is shorter than a tile's walk along K, so it touches two tiles at most. The later
        # one comes first: of that one the sums are left for another cluster, so nobody waits for
        # who is waiting.
        pieces = turns
        if number < sharers:
            begin = share * number + min(number, more)
            end = share * (number + 1) + min(number + 1, more)
            pieces = int32(turns + (2 if begin // steps < (end - 1) // steps else 1))
        slot, parity = int32(0), int32(0)  # parity: how often the ring has gone round, modulo 2
        if role == 0:
            ptx.setmaxnreg_dec(56)
            if tid == 0:
                ptx.griddepcontrol_wait()
                for i in range(pieces):
                    tile, start, stop = int32(number + i * clusters), int32(0), int32(steps)
                    if tile >= whole:
                        begin = share * number + min(number, more)
                        end = share * (number + 1) + min(number + 1, more)
                        shared = (end - 1) // steps if tile < whole + clusters else begin // steps
                        tile, start = int32(whole + shared), int32(max(begin - shared * steps, 0))
                        stop = int32(min(end - shared * steps, steps))
                    first = int32(tile // (GROUP * across) * GROUP)
                    height = int32(min(GROUP, down - first))
                    within = int32(tile - first * across)
                    row0 = int32(((first + within % height) * cluster + rank) * BM)
                    col0 = int32(within // height * BN)
                    for step in range(int32(start + part), stop, int32(parts)):
                        # All consumers of the cluster have to empty a slot: our part of B goes to
                        # all of them.
                        ptx.mbarrier_wait_parity(empty + 8 * slot, parity ^ 1)
                        loaded = full + 8 * slot
                        sA = ring + slot * STAGE
                        sB = sA + TILE_A
                        ptx.mbarrier_arrive_expect_tx(loaded, STAGE)
                        ptx.cp_async_bulk_tensor_2d_load(sA, map_A, step * BK, row0, loaded)
                        for j in range(SHARE):
                            panel = rank * SHARE + j
                            x, to = col0 + 64 * panel, sB + panel * PANEL
                            if cluster == 1:
                                ptx.cp_async_bulk_tensor_2d_load(to, map_B, x, step * BK, loaded)
                            else:
                                ptx.cp_async_bulk_tensor_2d_load_multicast(
                                    to, map_B, x, step * BK, loaded, EVERYONE
                                )
                        slot = int32(slot + 1)
                        if slot == STAGES:
                            slot, parity = int32(0), int32(parity ^ 1)
        else:
            ptx.setmaxnreg_inc(224)
            upper = int32((role - 1) * 64)  # this warpgroup's first row of the tile
            my_boxes = uint32(boxes + (role - 1) * BOXES * BOX)
            acc = cuda.local.array(SUMS, float32)
            warp, lane = int32(tid // 32), int32(tid % 32)
            ptx.griddepcontrol_wait()
            for i in range(pieces):
                tile, start, stop = int32(number + i * clusters), int32(0), int32(steps)
                if tile >= whole:
                    begin = share * number + min(number, more)
                    end = share * (number + 1) + min(number + 1, more)
                    shared = (end - 1) // steps if tile < whole + clusters else begin // steps
                    tile, start = int32(whole + shared), int32(max(begin - shared * steps, 0))
                    stop = int32(min(end - shared * steps, steps))
                previous = int32(0)
                for step in range(int32(start + part), stop, int32(parts)):
                    ptx.mbarrier_wait_parity(full + 8 * slot, parity)
                    sA = ring + slot * STAGE
                    sB = sA + TILE_A
                    ptx.wgmma_fence()
                    for k in range(0, BK, 16):
                        a = ptx.matrix_descriptor(sA + upper * 128 + k * 2, 16)
                        b = ptx.matrix_descriptor(sB + k * 128, PANEL)
                        # The first wgmma overwrites the accumulators (scale-d = 0).
                        multiply_add(acc, a, b, step - start - part + k)
                    unrolled()
                    ptx.wgmma_commit_group()
                    # Leave this group in flight; the previous one is complete.
                    ptx.wgmma_wait_group(1, acc, SUMS)
                    if step > start + part and tid < cluster:
                        ptx.mbarrier_arrive_cluster(empty + 8 * previous, tid + part)
                    previous = slot
                    slot = int32(slot + 1)
                    if slot == STAGES:
                        slot, parity = int32(0), int32(parity ^ 1)
                ptx.wgmma_wait_group(0, acc, SUMS)
                if tid < cluster:
                    ptx.mbarrier_arrive_cluster(empty + 8 * previous, tid + part)

                first = int32(tile // (GROUP * across) * GROUP)
                height = int32(min(GROUP, down - first))
                within = int32(tile - first * across)
                row0 = int32(((first + within % height) * cluster + rank) * BM)
                col0 = int32(within // height * BN)
                if parts == 2:
                    # The two blocks of a tile have each added up every second step. Each completes
                    # one half of the columns, and sends its sums of the other to that block.
                    inbox, sent = uint32(my_boxes + 16 * tid), uint32(arrived + 8 * (role - 1))
                    there, counted = ptx.mapa(inbox, 1 - part), ptx.mapa(sent, 1 - part)
                    if tid == 0:
                        ptx.mbarrier_arrive_expect_tx(sent, 128 * HALF * 4)
                    for d in range(0, SUMS, 4):
                        if d // HALF != part:
                            to = there + d % HALF * 512
                            ptx.st_async_v4_f32(
                                to, acc[d], acc[d + 1], acc[d + 2], acc[d + 3], counted
                            )
                    unrolled()
                    ptx.mbarrier_wait_parity(sent, 0)
                    for d in range(0, SUMS, 4):
                        if d // HALF == part:
                            e, f, g, h = ptx.ld_shared_v4_f32(inbox + d % HALF * 512)
                            acc[d] += e
                            acc[d + 1] += f
                            acc[d + 2] += g
                            acc[d + 3] += h
                    unrolled()

                if stop < steps:
                    # Sums wait at this warpgroup's place in global memory, four of a thread side by
                    # side, those of its neighbour next to them; `ready` says that they are there.
                    place = uint64(cuda.blockIdx.x * CONSUMERS + role - 1)
                    sums_at = ptx.global_address(sums) + place * uint64(512 * SUMS)
                    for d in range(0, SUMS, 4):
                        at = sums_at + uint64(512 * d + 16 * tid)
                        ptx.st_global_cg_v4_f32(at, acc[d], acc[d + 1], acc[d + 2], acc[d + 3])
                    unrolled()
                    cuda.threadfence()
                    ptx.bar_sync(role, 128)
                    if tid == 0:
                        ptx.st_release_gpu_u32(ptx.global_address(ready) + uint64(4) * place, 1)
                else:
                    # The steps before ours were those of the clusters before us, back to the one
                    # whose share holds the first step of the tile.
                    other = number
                    while start > 0 and share * other + min(other, more) > (tile - whole) * steps:
                        other -= 1
                        place = uint64((other * cluster + rank) * CONSUMERS + role - 1)
                        sums_at = ptx.global_address(sums) + place * uint64(512 * SUMS)
                        if tid == 0:
                            there_yet = ptx.global_address(ready) + uint64(4) * place
                            while ptx.ld_acquire_gpu_u32(there_yet) == 0:
                                pass
                            ptx.st_release_gpu_u32(there_yet, 0)  # for the next launch
                        ptx.bar_sync(role, 128)
                        for d in range(0, SUMS, 4):
                            at = sums_at + uint64(512 * d + 16 * tid)
                            e, f, g, h = ptx.ld_global_cg_v4_f32(at)
                            acc[d] += e
                            acc[d + 1] += f
                            acc[d + 2] += g
                            acc[d + 3] += h
                        unrolled()

                    # C leaves box by box: while the TMA stores one, the threads write the next.
                    for piece in range(BN // BOX_COLS):
                        if parts == 1 or piece // HALF_BOXES == part:
                            box = my_boxes + piece % BOXES * BOX
                            if tid == 0:
                                ptx.cp_async_bulk_wait_group_read(
                                    PENDING
                                )  # of what was in this box
                            ptx.bar_sync(role, 128)
                            for j in range(4):
                                if BOX_COLS == 32:
                                    row = warp * 16 + lane // 4  # row % 8 is the same 8 rows below
                                    d, chunk = 16 * piece + 4 * j, 2 * j + lane % 4 // 2
                                    spot = box + row * 128 + (chunk ^ (row % 8)) * 16 + lane % 2 * 8
                                    ptx.st_shared_v2_f32(spot, acc[d], acc[d + 1])
                                    ptx.st_shared_v2_f32(spot + 8 * 128, acc[d + 2], acc[d + 3])
                                else:
                                    row = warp * 16 + lane % 16
                                    d, chunk = 32 * piece + 8 * j, 2 * j + lane // 16
                                    ptx.stmatrix_x4(
                                        box + row * 128 + (chunk ^ (row % 8)) * 16,
                                        pack(acc[d], acc[d + 1]), pack(acc[d + 2], acc[d + 3]),
                                        pack(acc[d + 4], acc[d + 5]), pack(acc[d + 6], acc[d + 7]),
                                    )  # fmt: skip
                            unrolled()
                            ptx.fence_proxy_async()
                            ptx.bar_sync(role, 128)
                            if tid == 0:
                                x = col0 + piece * BOX_COLS
                                ptx.cp_async_bulk_tensor_2d_store(map_C, x, row0 + upper, box)
                                ptx.cp_async_bulk_commit_group()
                    unrolled()
            if tid == 0:
                ptx.cp_async_bulk_wait_group_read(0)
        cuda.syncwarp()
        # No block may end while another may still deliver to it.
        ptx.cluster_sync()

    return stream_k


#: What it costs to leave sums for another block and to add them there, in steps of BK.
HAND_OVER = 8
#: What it costs two blocks of a cluster to swap sums, and blocks to start and end as a cluster.
SWAP, TOGETHER = 1, 2
#: How much longer a step takes with narrow tiles, and by a block alone: both load more.
NARROW, ALONE = 1.1, 1.05


@dataclass(frozen=True)
class Deal:
    """Who computes what of C.

    Attributes
    ----------
    BN, cluster : int
        Columns of a tile, and blocks of a cluster; each block has 128 rows.
    down, across : int
        Tiles of a whole cluster below each other, and side by side.
    steps : int
        Steps of BK along K for each tile.
    clusters : int
        Clusters that work.
    whole : int
        Tiles that are computed whole, by the clusters in turn.
    sharers : int
        Clusters that share the steps of all other tiles equally; 0 where there are none.
    parts : int
        2 where a cluster is two blocks that take every second step of the same tile; each then has
        one tile.
    """

    BN: int
    cluster: int
    down: int
    across: int
    steps: int
    clusters: int
    whole: int
    sharers: int
    parts: int = 1

    @property
    def divided(self) -> int:
        """Tiles that are shared."""
        return self.down * self.across - self.whole

    @property
    def longest(self) -> int:
        """Steps of the block that has most to do."""
        shared = cdiv(self.divided * self.steps, self.sharers) if self.divided else 0
        return cdiv(self.whole, self.clusters) * cdiv(self.steps, self.parts) + shared

    @property
    def blocks(self) -> int:
        """Blocks that work."""
        return self.clusters * self.cluster * self.parts

    @property
    def cost(self) -> float:
        """What takes longer costs more: steps, as wide as they are, and sums handed over."""
        extra = TOGETHER * (self.cluster * self.parts > 1) + SWAP * (self.parts - 1)
        if self.divided:
            on_two_tiles = self.sharers % self.divided > 0
            extra += HAND_OVER * (cdiv(self.sharers, self.divided) - 1 + on_two_tiles)
        slower = (NARROW if self.BN == 128 else 1) * (ALONE if self.cluster == 1 else 1)
        return (self.longest + extra) * self.BN * slower


def deal(M, N, K, BN=0, cluster=0, sms=0):
    """Return the cheapest `Deal` for A (M×K) and B (K×N); 0 tries every width and cluster.

    `sms` is how many SMs the GPU has, by default the one here (without one, an H200).

    Either all tiles stay whole, and no more clusters work than the last round needs. Or those of a
    round that would not be full are divided: each cluster that shares a tile makes it shorter, and
    is one more whose sums have to be added up. Or each tile has a pair of blocks to itself.

    Raises
    ------
    TypeError, ValueError
        For sizes or options that cannot be, in one line.
    """
    Options(BN, cluster)  # refuses what the kernel is not written for
    host.check_sizes(M=M, N=N, K=K)
    widths, clusters = (BN,) if BN else (256, 128), (cluster,) if cluster else (2, 1)
    return _cheapest(M, N, K, widths, clusters, sms or tensor_cores.sms())


@lru_cache(maxsize=256)
def _cheapest(M, N, K, widths, clusters, sms):
    found = []
    for BN in widths:
        for cluster in clusters:
            tile = (BN, cluster, down := cdiv(M, BM * cluster), across := cdiv(N, BN))
            tiles, steps, most = down * across, cdiv(K, BK), most_clusters(cluster, sms)
            whole = tiles // most * most
            found.append(Deal(*tile, steps, cdiv(tiles, cdiv(tiles, most)), tiles, 0))
            if 0 < (tiles - whole) * steps < 2**31:  # the kernel counts the steps in 32 bits
                for sharers in range(tiles - whole + 1, most + 1):
                    found.append(Deal(*tile, steps, most if whole else sharers, whole, sharers))
            # Half of a wider tile's sums would not fit beside the ring.
            if (BN, cluster) == (128, 1) and steps > 1 and tiles <= most_clusters(2, sms):
                found.append(Deal(*tile, steps, tiles, tiles, 0, parts=2))
    return min(found, key=lambda deal: deal.cost)


@dataclass(frozen=True)
class Options(HopperTiles):
    BN: int = option(0, (0, 128, 256), "columns of C per tile; 0: what suits the shape", only=True)
    cluster: int = option(
        0, (0, 1, 2), "blocks that share the columns of B; 0: what suits the shape", only=True
    )

    boxes = 2

    @property
    def width(self):
        return self.BN or 256

    @property
    def macros(self):
        return {
            "BN": self.width, "CLUSTER": self.cluster or 2, "GROUP": 8,
            "STAGES": self.stages[self.width], "BOXES": self.boxes, "PARTS": 1,
        }  # fmt: skip

    def grid_dim(self, M, N):
        """The most blocks that work: one for each SM, in whole clusters.

        How many there are in a launch is for `deal` to say, which knows K.
        """
        cluster = self.cluster or 1
        return (most_clusters(cluster, tensor_cores.sms()) * cluster,)

    def model(self, M, N, K):
        """A is loaded once per column of tiles of C, B once per row of clusters.

        Sums on their way from one block to another are not counted.
        """
        dealt = deal(M, N, K, self.BN, self.cluster)
        return half.half_model(M, N, K, dealt.down, dealt.across)

    def busiest(self, M, N, K, sms):
        dealt = deal(M, N, K, self.BN, self.cluster, sms)
        return dealt.longest * BK * BM * dealt.BN


def check_room(address: int, dealt: Deal, options: Options) -> None:
    """Raise RuntimeError unless all blocks are at work at once: some wait for what others leave.

    `address` is that of the driver's function.
    """
    from cuda.bindings import driver

    config, together = driver.CUlaunchConfig(), driver.CUlaunchAttribute()
    together.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    together.value.clusterDim.x = dealt.cluster * dealt.parts
    together.value.clusterDim.y = together.value.clusterDim.z = 1
    config.attrs, config.numAttrs = [together], 1
    config.gridDimX, config.gridDimY, config.gridDimZ = dealt.blocks, 1, 1
    config.blockDimX, config.blockDimY, config.blockDimZ = options.threads, 1, 1
    config.sharedMemBytes = options.shared_bytes
    status, most = driver.cuOccupancyMaxActiveClusters(driver.CUfunction(address), config)
    if status:
        raise RuntimeError(f"stream_k: the driver does not say how many blocks fit ({status.name})")
    if most < dealt.clusters:
        raise RuntimeError(
            f"stream_k wants {dealt.clusters} clusters of {dealt.cluster} blocks at work at once,"
            f" and this GPU has room for {most}: use persistent"
        )


class StreamK(HopperRung):
    """The host deals out the work, and makes room for sums that are handed over.

    The launches of one `prepare` share that room: let them follow one another, in one stream. Where
    blocks wait for each other, the host asks first whether all of them fit on the GPU at once. A
    launch that fails takes its context with it, and so this room: nothing stale is left in it.
    """

    def launcher(self, product, options):
        arguments, dealt = self.dealt(product, options)
        options = replace(options, BN=dealt.BN, cluster=dealt.cluster)
        asked = options.shared_bytes
        where = (dealt.blocks,), options.block_dim, arguments, asked
        if product.engine == "numba":
            kernel = made(self.make, options, parts=dealt.parts, **self.formats(product))
            launch = prepared(kernel, *where)
            if on_gpu:
                *_, compiled = kernel.overloads.values()  # the last one compiled
                address = compiled._codelibrary.get_cufunc().handle
        else:
            macros = options.macros | self.macros(product) | {"PARTS": dealt.parts}
            compiled = cpp.load(self.name, shared_bytes=asked, arch=self.arch, **macros)
            launch = follower(compiled, *where)
            address = compiled.kernel.ptr
        if on_gpu and dealt.sharers:
            check_room(int(address), dealt, options)
        # Tensor maps are bare addresses: `product` keeps the arrays that lie there.
        return lambda held=product: launch()

    def dealt(self, product, options):
        """Return what the kernel is called with, and how the work is dealt out."""
        map_A, map_B, C, _, N, _ = self.arguments(product, options)
        dealt = deal(product.M, int(N), product.K, options.BN, options.cluster)
        # Room for the sums of each block's two consumers, and for whether they are there.
        places = 2 * dealt.sharers * dealt.cluster
        with host.memory_errors(places * 64 * dealt.BN * 4):
            sums = cupy.empty(places * 64 * dealt.BN, np.float32)
            ready = cupy.zeros(places, np.int32)
        arguments = (
            map_A, map_B, map_of_result(C),
            *half.int32s(dealt.down, dealt.across, dealt.steps, dealt.whole, dealt.sharers),
            sums, ready,
        )  # fmt: skip
        return arguments, dealt

    def numba_arguments(self, product, options):
        return self.dealt(product, options)[0]


RUNG = StreamK(
    name="stream_k",
    title="Stream-K",
    chapter="08b-hopper",
    Options=Options,
    make=make_stream_k,
    engines=("numba", "cpp"),
    choices={"numba": ({},), "cpp": ({},)},
    instead=mma.RUNG,
)
