"""Tiles divided along K, so that all blocks end together (Stream-K), on Hopper's tensor cores.

Whole tiles of C rarely come out even: of 34 tiles for 66 clusters of blocks, 32 clusters see none,
and of a thin C the most. Here the tiles of a round that would not be full are divided along K, and
their steps dealt out in equal shares. CUDA C++ for sm_90a; apart from that it is the kernel of
`kernels.rungs.hopper.persistent_matmul`.

Source: M. Osama, D. Merrill, C. Cecka, M. Garland and J. D. Owens, *Stream-K: Work-centric Parallel
Decomposition for Dense Matrix-Matrix Multiplication on the GPU*, PPoPP 2023.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from kernels import host
from kernels.engine import cupy
from kernels.host import cdiv, cpp, half
from kernels.host.tma import tensor_map
from kernels.rungs import hopper
from kernels.rungs.hopper import BK, BM, BOXES, STAGES, check_choice, most_clusters

#: What it costs to leave sums for another block and to add them there, in steps of BK.
HAND_OVER = 8
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
    """

    BN: int
    cluster: int
    down: int
    across: int
    steps: int
    clusters: int
    whole: int
    sharers: int

    @property
    def divided(self) -> int:
        """Tiles that are shared."""
        return self.down * self.across - self.whole

    @property
    def longest(self) -> int:
        """Steps of the cluster that has most to do."""
        shared = cdiv(self.divided * self.steps, self.sharers) if self.divided else 0
        return cdiv(self.whole, self.clusters) * self.steps + shared

    @property
    def cost(self) -> float:
        """What takes longer costs more: steps, as wide as they are, and sums handed over."""
        handed = 0
        if self.divided:
            on_two_tiles = self.sharers % self.divided > 0
            handed = cdiv(self.sharers, self.divided) - 1 + on_two_tiles
        slower = (NARROW if self.BN == 128 else 1) * (ALONE if self.cluster == 1 else 1)
        return (self.longest + HAND_OVER * handed) * self.BN * slower


def deal(M, N, K, BN=0, cluster=0, sms=0):
    """Return the cheapest `Deal` for A (M×K) and B (K×N); 0 tries every width and cluster.

    `sms` is how many SMs the GPU has, by default the one here (without one, an H200).

    Either all tiles stay whole, and no more clusters work than the last round needs. Or those of a
    round that would not be full are divided: each cluster that shares a tile makes it shorter, and
    is one more whose sums have to be added up.

    Raises
    ------
    TypeError, ValueError
        For sizes or options that cannot be, in one line.
    """
    BN, cluster = check_options(BN, cluster)
    host.check_sizes(M=M, N=N, K=K)
    widths, clusters = (BN,) if BN else (256, 128), (cluster,) if cluster else (2, 1)
    return _cheapest(M, N, K, widths, clusters, sms or hopper.sms())


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
    return min(found, key=lambda deal: deal.cost)


def check_options(BN, cluster):
    """Return both as ints; TypeError or ValueError, in one line, for what the kernel is not."""
    return check_choice("BN", BN, (0, 128, 256)), check_choice("cluster", cluster, (0, 1, 2))


def footprint(BN=0, cluster=0):
    """Return what a block takes: {"registers", "shared_bytes", "tile"}."""
    BN = BN or 256
    return {
        "registers": 168, "shared_bytes": hopper.shared_bytes(BN, BOXES), "tile": (BM, BN, BK),
    }  # fmt: skip


def busiest(M, N, K, sms=0, BN=0, cluster=0):
    """Return the multiply-adds of the block that has most to do, on a GPU of `sms` SMs."""
    dealt = deal(M, N, K, BN, cluster, sms)
    return dealt.longest * BK * BM * dealt.BN


def launch(M, N, BN=0, cluster=0):
    """Return (grid, block) of the most blocks that work: one for each SM, in whole clusters.

    How many there are in a launch is for `deal` to say, which knows K.
    """
    _, cluster = check_options(BN, cluster)
    host.check_sizes(M=M, N=N)
    cluster = cluster or 1
    return (most_clusters(cluster, hopper.sms()) * cluster,), (384,)


def model(M, N, K, BN=0, cluster=0):
    """Predict the traffic: A is loaded once a column of tiles, B once a row of clusters.

    Sums on their way from one block to another are not counted.
    """
    dealt = deal(M, N, K, BN, cluster)
    return half.half_model(M, N, K, dealt.down, dealt.across)


def twin(BN=0, cluster=0, BF16=1, HALF_C=0):
    """Return the compiled kernel, for 0 the larger; `BF16` and `HALF_C` as in `hopper`."""
    BN, cluster = check_options(BN, cluster)
    BN, cluster = BN or 256, cluster or 2
    return cpp.load(
        "stream_k", arch="sm_90a", shared_bytes=hopper.shared_bytes(BN, BOXES), BN=BN,
        CLUSTER=cluster, GROUP=8, STAGES=STAGES[BN], BOXES=BOXES, BF16=BF16, HALF_C=HALF_C,
    )  # fmt: skip


def matmul(A, B, out=None, engine="cpp", BN=0, cluster=0):
    """Return C = A·B, computed by blocks that all have the same to do.

    Parameters
    ----------
    A, B, out, engine
        As in `kernels.rungs.hopper.persistent_matmul`.
    BN : int
        Columns of a block's tile of C: 128 or 256; 0 takes what suits the shape.
    cluster : int
        Blocks that share the columns of B: 1 or 2; 0 takes what suits the shape.

    Returns
    -------
    array of float32, shape (M, N)
        `out`, or a new array of the kind of A and B.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        One line that names the value, the limit and the way out.
    """
    product, start = _prepared(A, B, out, engine, BN, cluster)
    start()
    return product.result()


def prepare(A, B, C, engine="cpp", BN=0, cluster=0):
    """Return a function that launches C = A·B on CuPy arrays with rows on 16-byte boundaries.

    Its launches share a place for sums that are handed over: let them follow one another, in one
    stream.
    """
    half.check_aligned(A=A, B=B, C=C)
    return _prepared(A, B, C, engine, BN, cluster)[1]


def _prepared(A, B, out, engine, BN, cluster):
    product = hopper.operands("stream_k", A, B, out, engine)
    map_A, map_B, C, _, N, _ = hopper.arguments(product)
    dealt = deal(product.M, int(N), product.K, BN, cluster)
    kernel = twin(dealt.BN, dealt.cluster, **product.macros)
    # Room for the sums of each block's two consumers, and for whether they are there.
    places = 2 * dealt.sharers * dealt.cluster
    with host.memory_errors(places * 64 * dealt.BN * 4):
        sums, ready = cupy.empty(places * 64 * dealt.BN, np.float32), cupy.zeros(places, np.int32)
    arguments = (
        map_A, map_B, tensor_map(C, 64, 128 // C.itemsize, half.dtype_of(C)),
        *half.int32s(dealt.down, dealt.across, dealt.steps, dealt.whole, dealt.sharers),
        sums, ready,
    )  # fmt: skip
    grid, asked = (dealt.clusters * dealt.cluster,), hopper.shared_bytes(dealt.BN, BOXES)
    return product, lambda held=(product, C): kernel(grid, (384,), arguments, shared_mem=asked)
