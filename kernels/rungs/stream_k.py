"""Tiles divided along K, so that all blocks end together (Stream-K), on Hopper's tensor cores.

Whole tiles of C rarely come out even: of 34 tiles for 66 clusters of blocks, 32 clusters see none,
and of a thin C the most. Here the tiles of a round that would not be full are divided along K, and
their steps dealt out in equal shares. Where there are so few tiles that two blocks can take every
second step of each, such a pair swaps sums through the shared memory of its cluster. Only in CUDA
C++, for sm_90a; apart from that, and from launches that follow each other closely, it is the kernel
of `persistent`.

Source: M. Osama, D. Merrill, C. Cecka, M. Garland and J. D. Owens, *Stream-K: Work-centric Parallel
Decomposition for Dense Matrix-Matrix Multiplication on the GPU*, PPoPP 2023.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from kernels import host
from kernels.engine import cupy
from kernels.host import cdiv, cpp, half, option, tensor_cores
from kernels.host.follow import follower
from kernels.host.tensor_cores import (
    BK,
    BM,
    HopperRung,
    HopperTiles,
    map_of_result,
    most_clusters,
)
from kernels.rungs import mma

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


class StreamK(HopperRung):
    """The host deals out the work, and makes room for sums that are handed over.

    The launches of one `prepare` share that room: let them follow one another, in one stream.
    """

    def launcher(self, product, options):
        map_A, map_B, C, _, N, _ = self.arguments(product, options)
        dealt = deal(product.M, int(N), product.K, options.BN, options.cluster)
        options = replace(options, BN=dealt.BN, cluster=dealt.cluster)
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
        asked = options.shared_bytes
        macros = options.macros | self.macros(product) | {"PARTS": dealt.parts}
        twin = cpp.load(self.name, shared_bytes=asked, arch=self.arch, **macros)
        launch = follower(twin, (dealt.blocks,), options.block_dim, arguments, asked)
        # Tensor maps are bare addresses: `product` keeps the arrays that lie there.
        return lambda held=product: launch()


RUNG = StreamK(
    name="stream_k",
    title="Stream-K",
    chapter="08-tensor-cores",
    Options=Options,
    choices={"cpp": ({},)},
    instead=mma.RUNG,
)
