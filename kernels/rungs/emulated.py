"""A float32 product on tensor cores that know no float32: each number as three of bfloat16.

Tensor cores multiply bfloat16 more than ten times as fast as other units multiply float32. A
float32 number has 24 significant bits and a bfloat16 has 8, with the same range of exponents, so
three of them hold it exactly, and A·B is the sum of nine products of parts. Six of them already
reach the accuracy of float32; nine leave out nothing. For sm_90a; the loop is that of
`persistent`.

Rows of A and columns of B that hold an infinity or NaN, and products with K below 32, are computed
in plain float32, by a slow kernel. A result within 1 % of the largest float32 may come out
infinite, and so may a sum whose terms reach that far.

Sources: G. Henry, P. T. P. Tang and A. Heinecke, *Leveraging the bfloat16 Artificial Intelligence
Datatype For Higher-Precision Computations*, ARITH 2019; NVIDIA, *cuBLAS*, section on BF16x9.
"""

import math
from dataclasses import dataclass

import numpy as np

from kernels import host, ptx
from kernels.backend import cuda, cupy, float32, int32, on_gpu, uint8, uint32, uint64
from kernels.backend.vector import aligned16, load4_guarded, unrolled
from kernels.host import cdiv, cpp, half, option, tensor_cores
from kernels.host.follow import prepared
from kernels.host.rung import Rung, made
from kernels.host.tensor_cores import HopperTiles, most_clusters
from kernels.host.tma import tensor_map
from kernels.rungs import async_tiled

BM, BK, CONSUMERS, CLUSTER = 128, 64, 2, 2
THREADS = 128 * (1 + CONSUMERS)
TILE_A, PANEL, BOX = BM * BK * 2, BK * 128, 64 * 128  # bytes
SHARE = BK // CLUSTER  # rows of B that each block loads
EVERYONE = (1 << CLUSTER) - 1
GROUP = 8  # rows of tiles that are computed together, to share L2
#: Steps of BK after which the sums of the tensor cores are added to float32 sums that round.
PIECE = 4
#: Sums of fewer products are left to the plain kernel: tensor cores would gain nothing.
LEAST_K = 32
# Which part of A meets which part of B, the smallest product first, and whether this product is of
# a new size: 2**8 times that of the pair before.
PAIRS = np.array(
    [(2, 2, 0), (1, 2, 1), (2, 1, 0), (0, 2, 1), (1, 1, 0), (2, 0, 0), (0, 1, 1), (1, 0, 0),
     (0, 0, 1)], np.int32,
)  # fmt: skip


def make_emulated(products=6, BN=0):
    options = Options(products, BN)
    BN, STAGES, BOXES = options.width, options.macros["STAGES"], options.boxes
    TILE_B = BK * BN * 2  # bytes
    STAGE, SUMS, BARRIERS, PENDING = TILE_A + TILE_B, BN // 2, 2 * STAGES, BOXES - 1
    multiply_add, clusters_of = ptx.wgmma(BN, "bfloat16"), ptx.cluster_dims(CLUSTER)

    @cuda.jit(launch_bounds=(THREADS, 1))
    def emulated(map_A, map_B, map_C, M, N, K):
        clusters_of()
        pairs = cuda.const.array_like(PAIRS)
        stages = cuda.shared.array(0, uint8, alignment=1024)
        barriers = cuda.shared.array(BARRIERS, uint64)
        ring = ptx.shared_address(stages)
        boxes = uint32(ring + STAGES * STAGE)
        full = ptx.shared_address(barriers)
        empty = uint32(full + 8 * STAGES)
        role, tid = int32(cuda.threadIdx.x // 128), int32(cuda.threadIdx.x % 128)
        rank = int32(cuda.blockIdx.x % CLUSTER)  # within the cluster

        if cuda.threadIdx.x == 0:
            for slot in range(STAGES):
                ptx.mbarrier_init(full + 8 * slot, 1)
                ptx.mbarrier_init(empty + 8 * slot, CONSUMERS * CLUSTER)
            ptx.fence_mbarrier_init()
        # No block may deliver to another whose barriers are not ready.
        ptx.cluster_sync()

        down = int32((M + BM * CLUSTER - 1) // (BM * CLUSTER))
        across, steps = int32((N + BN - 1) // BN), int32((K + BK - 1) // BK)
        start, clusters = int32(cuda.blockIdx.x // CLUSTER), int32(cuda.gridDim.x // CLUSTER)
        slot, parity = 0, 0  # parity: how often the ring has gone round, modulo 2
        if role == 0:
            ptx.setmaxnreg_dec(40)
            if tid == 0:
                for t in range(start, int32(down * across), clusters):
                    # Down `GROUP` tiles, then one to the right: clusters at work at the same time
                    # share rows of A and columns of B in L2.
                    first = t // (GROUP * across) * GROUP
                    height, within = min(GROUP, down - first), t - first * across
                    row0 = int32(((first + within % height) * CLUSTER + rank) * BM)
                    col0 = int32(within // height * BN)
                    for pair in range(9 - products, 9):
                        # The parts of A lie side by side, those of B one below the other.
                        first_A = pairs[pair, 0] * steps * BK
                        first_B = pairs[pair, 1] * steps * BK + rank * SHARE
                        for step in range(steps):
                            ptx.mbarrier_wait_parity(empty + 8 * slot, parity ^ 1)
                            loaded = full + 8 * slot
                            sA = ring + slot * STAGE
                            sB = sA + TILE_A + rank * SHARE * 128
                            ptx.mbarrier_arrive_expect_tx(loaded, STAGE)
                            x, y = first_A + step * BK, first_B + step * BK
                            ptx.cp_async_bulk_tensor_2d_load(sA, map_A, x, row0, loaded)
                            for panel in range(BN // 64):
                                ptx.cp_async_bulk_tensor_2d_load_multicast(
                                    sB + panel * PANEL,
                                    map_B,
                                    col0 + 64 * panel,
                                    y,
                                    loaded,
                                    EVERYONE,
                                )
                            unrolled()
                            slot += 1
                            if slot == STAGES:
                                slot = 0
                                parity ^= 1
        else:
            ptx.setmaxnreg_inc(232)
            upper = int32((role - 1) * 64)  # this warpgroup's first row of the tile
            my_boxes = uint32(boxes + (role - 1) * BOXES * BOX)
            acc = cuda.local.array(SUMS, float32)
            sums = cuda.local.array(SUMS, float32)
            warp, lane = int32(tid // 32), int32(tid % 32)
            for t in range(start, int32(down * across), clusters):
                first = t // (GROUP * across) * GROUP
                height, within = min(GROUP, down - first), t - first * across
                row0 = int32(((first + within % height) * CLUSTER + rank) * BM)
                col0 = int32(within // height * BN)
                for i in range(SUMS):
                    sums[i] = 0
                unrolled()
                for pair in range(9 - products, 9):
                    # Of a new size: 2**8 times that of the pair before.
                    scale = float32(0.00390625) if pairs[pair, 2] else float32(1)
                    for begin in range(0, steps, PIECE):
                        count = min(PIECE, steps - begin)
                        previous = 0
                        for step in range(count):
                            ptx.mbarrier_wait_parity(full + 8 * slot, parity)
                            sA = ring + slot * STAGE
                            sB = sA + TILE_A
                            ptx.wgmma_fence()
                            for k in range(0, BK, 16):
                                a = ptx.matrix_descriptor(sA + upper * 128 + k * 2, 16)
                                b = ptx.matrix_descriptor(sB + k * 128, PANEL)
                                multiply_add(acc, a, b, step + k)  # first: scale-d = 0
                            unrolled()
                            ptx.wgmma_commit_group()
                            # Leave this group in flight.
                            ptx.wgmma_wait_group(1, acc, SUMS)
                            if step > 0 and tid < CLUSTER:
                                ptx.mbarrier_arrive_cluster(empty + 8 * previous, tid)
                            previous = slot
                            slot += 1
                            if slot == STAGES:
                                slot = 0
                                parity ^= 1
                        ptx.wgmma_wait_group(0, acc, SUMS)
                        if tid < CLUSTER:
                            ptx.mbarrier_arrive_cluster(empty + 8 * previous, tid)
                        # A tensor core cuts its sums off, always towards zero: over a long k that
                        # adds up. These are rounded to nearest.
                        for i in range(SUMS):
                            sums[i] = sums[i] * scale + acc[i]
                        unrolled()
                        scale = float32(1)

                # C leaves box by box: while the TMA stores one, the threads write the next.
                for number in range(BN // 32):
                    box = my_boxes + number % BOXES * BOX
                    if tid == 0:
                        ptx.cp_async_bulk_wait_group_read(PENDING)  # of what was in this box
                    ptx.bar_sync(role, 128)
                    for j in range(4):
                        row = warp * 16 + lane // 4  # row % 8 is the same 8 rows below
                        d, chunk = 16 * number + 4 * j, 2 * j + lane % 4 // 2
                        place = box + row * 128 + (chunk ^ (row % 8)) * 16 + lane % 2 * 8
                        ptx.st_shared_v2_f32(place, sums[d], sums[d + 1])
                        ptx.st_shared_v2_f32(place + 8 * 128, sums[d + 2], sums[d + 3])
                    unrolled()
                    ptx.fence_proxy_async()
                    ptx.bar_sync(role, 128)
                    if tid == 0:
                        x = col0 + 32 * number
                        ptx.cp_async_bulk_tensor_2d_store(map_C, x, row0 + upper, box)
                        ptx.cp_async_bulk_commit_group()
                unrolled()
            if tid == 0:
                ptx.cp_async_bulk_wait_group_read(0)
        cuda.syncwarp()
        # No block may end while another may still deliver to it.
        ptx.cluster_sync()

    return emulated


@cuda.jit(device=True)
def part_of(x):
    """The bits of x rounded to bfloat16; cut off where rounding would go beyond the largest."""
    bits = ptx.float_as_uint(x)
    rounded = uint32((bits + 0x7FFF + (bits >> 16 & 1)) >> 16)
    return uint32(bits >> 16) if rounded & 0x7F80 == 0x7F80 else rounded


@cuda.jit
def split(X, parts, odd, at, height, width, pitch, following, by_col):
    """Write the three parts of a matrix, each `height` × `width` with zeros around it.

    Rows of a part lie `pitch` elements apart, the next part `following` elements further. A thread
    takes four neighbours. Rows (or columns, if `by_col`) with an infinity or a NaN are noted in
    `odd` from `at` on; ``odd[at - 1]`` says that there are any.
    """
    x = cuda.local.array(4, float32)
    words = cuda.local.array((3, 2), uint32)
    wide = aligned16(X)
    to = ptx.global_address(parts)
    col = 4 * (cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
    top = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    for row in range(top, height if col < width else 0, cuda.gridDim.y * cuda.blockDim.y):
        x[0], x[1], x[2], x[3] = load4_guarded(X, row, col, wide)
        for i in range(4):
            if not math.isfinite(x[i]):
                odd[at + (col + i if by_col else row)] = 1
                odd[at - 1] = 1
                x[i] = 0
            for p in range(3):
                part = part_of(x[i])
                words[p, i // 2] = part if i % 2 == 0 else words[p, i // 2] | part << 16
                # Both steps are exact: what is left has 16 bits at most, then 8.
                x[i] = (x[i] - ptx.uint_as_float(uint32(part << 16))) * float32(256)
            unrolled()
        unrolled()
        for p in range(3):
            element = uint64(row * pitch + col + p * following)
            ptx.st_global_v2_u32(to + uint64(2) * element, words[p, 0], words[p, 1])
        unrolled()


@cuda.jit
def plain(A, B, C, odd, every):
    """C = A·B in float32: the elements whose row of A or column of B is odd, or all of them.

    An infinity has no parts: infinity times the second part of 1, which is 0, would be NaN.
    """
    M, N, K = A.shape[0], B.shape[1], A.shape[1]
    if every or odd[0] or odd[1 + M]:
        for i in range(cuda.grid(1), M * N, cuda.gridsize(1)):
            row, col = i // N, i % N
            if every or odd[1 + row] or odd[2 + M + col]:
                total = float32(0)
                for k in range(K):
                    total += A[row, k] * B[k, col]
                C[row, col] = total


def parts(X):
    """Return the three parts of a matrix as the kernel writes them, each in bfloat16 (as uint16).

    Parameters
    ----------
    X : array of float32, NumPy or CuPy
        Of finite numbers.

    Returns
    -------
    list of three arrays of uint16
        With `kernels.host.half.floats` around each, X is exactly P0 + P1 / 2**8 + P2 / 2**16: the
        later parts are kept 2**8 and 2**16 times too large, so that they exist for tiny X too.
    """
    found, rest = [], X
    for _ in range(3):
        rounded, cut = half.bfloat16(rest), (rest.view(np.uint32) >> 16).astype(np.uint16)
        # Close to the largest float32, rounding up would lead to infinity.
        rounded = np.where(abs(half.floats(rounded)) == np.inf, cut, rounded)
        found.append(rounded)
        rest = (rest - half.floats(rounded)) * np.float32(256)
    return found


@dataclass(frozen=True)
class Options(HopperTiles):
    products: int = option(
        6, (6, 9), "6: products of parts that float32 can tell from 0; 9: all of them", only=True
    )
    BN: int = option(0, (0, 128, 192), "columns of C per tile; 0: what is done sooner", only=True)

    stages = {192: 5, 128: 6}
    boxes = 1

    @property
    def width(self):
        return self.BN or 192

    @property
    def macros(self):
        return {
            "BN": self.width, "STAGES": self.stages[self.width], "BOXES": self.boxes,
            "CLUSTER": CLUSTER, "GROUP": 8, "PIECE": PIECE, "PRODUCTS": self.products,
            "BF16": 1, "HALF_C": 0,
        }  # fmt: skip

    def fitted(self, M, N):
        """These options with the width by which all of C is done sooner, if none was chosen."""
        widths = (self.BN,) if self.BN else self.stages
        BN = min(widths, key=lambda BN: BN * rounds(M, N, BN)[0])
        return Options(self.products, BN)

    def grid_dim(self, M, N):
        times, tiles = rounds(M, N, self.fitted(M, N).BN)
        return (cdiv(tiles, times) * CLUSTER,)

    def model(self, M, N, K):
        """Every product of parts loads A and B once more.

        The operations are those of the float32 product; the tensor cores do `products` times as
        many.
        """
        down, across = cdiv(M, BM * CLUSTER), cdiv(N, self.fitted(M, N).BN)
        return half.half_model(M, N, K, self.products * down, self.products * across)


def rounds(M, N, BN):
    """Return how many tiles of C each cluster of blocks computes, and how many there are."""
    tiles = cdiv(M, BM * CLUSTER) * cdiv(N, BN)
    return cdiv(tiles, most_clusters(CLUSTER, tensor_cores.sms())), tiles


class Emulated(Rung):
    """A and B are split into parts, products of parts added, and what has no parts is mended."""

    def launcher(self, product, options):
        M, N, K = product.M, product.N, product.K
        options = options.fitted(M, N)
        A, B, C, *sizes = product.cpp_arguments()
        odd, result, short = self.room(product), self.result(C), K < LEAST_K
        steps = []
        if not short:
            arguments, steps = self.parts(product, options, A, B, result, odd)
            steps.append(self.start("emulated", product, options, *options.launch(M, N), arguments))
        blocks = cdiv(M * N, 256)
        if not short:
            blocks = min(blocks, 8 * tensor_cores.sms())
        if product.engine == "cpp":
            sizes = *sizes, np.int32(result.shape[1])
            arguments = A, B, result, *sizes, odd, np.int32(short)
        else:
            arguments = A, B, result, odd, np.int32(short)
        steps.append(self.start("plain", product, options, (blocks,), (256,), arguments))
        if result is not C:
            steps.append(lambda: cupy.copyto(C, result[:, :N]))

        def start():
            for step in steps:
                step()

        return start

    def numba_arguments(self, product, options):
        """The parts are made here, once: a trace is of the products of parts."""
        A, B, C, *_ = product.cpp_arguments()
        options = options.fitted(product.M, product.N)
        parts = self.parts(product, options, A, B, self.result(C), self.room(product))
        arguments, splits = parts
        for split in splits:
            split()
        return arguments

    @staticmethod
    def room(product):
        """Return room for what is noted of rows and columns with infinities or NaN: of any, each.

        First of A, then of B.
        """
        return cupy.zeros(product.M + product.N + 2, np.uint8)

    @staticmethod
    def result(C):
        """Return C, or an array that rows on 16-byte boundaries are written to first."""
        return C if host.wide(C) else cupy.empty((C.shape[0], cdiv(C.shape[1], 4) * 4), np.float32)

    def start(self, name, product, options, grid, block, arguments):
        """Return a function that launches one of the kernels, in the language of the product."""
        asked = options.shared_bytes if name == self.name else 0
        if product.engine == "numba":
            kernel = made(self.make, options) if name == self.name else KERNELS[name]
        else:
            kernel = cpp.load(self.name, name, shared_bytes=asked, arch=self.arch, **options.macros)
        return prepared(kernel, grid, block, arguments, asked)

    def parts(self, product, options, A, B, C, odd):
        """Return the arguments of the product of parts, and the launches that make the parts."""
        M, N, K = product.M, product.N, product.K
        padded_K, padded_N = cdiv(K, BK) * BK, cdiv(N, 8) * 8
        half.int32s(M, padded_N, 3 * padded_K)  # or ValueError, before memory is taken
        with host.memory_errors(6 * padded_K * (M + padded_N)):
            parts_A = cupy.empty((M, 3 * padded_K), np.uint16)
            parts_B = cupy.empty((3 * padded_K, padded_N), np.uint16)

        def splitting(X, parts, at, shape, following, by_col):
            wide = np.int32(host.wide(X))
            numbers = half.int32s(*shape, parts.shape[1])
            following, by_col = np.int64(following), np.int32(by_col)
            if product.engine == "cpp":
                numbers = *half.int32s(*X.shape), *numbers, following, wide, by_col
            else:
                numbers = *numbers, following, by_col
            grid = cdiv(shape[1], 4 * 32), min(cdiv(shape[0], 8), 65535)
            arguments = X, parts, odd, np.int32(at), *numbers
            return self.start("split", product, options, grid, (32, 8), arguments)

        arguments = (
            tensor_map(parts_A, BM, BK, "bfloat16"),
            tensor_map(parts_B, BK // CLUSTER, 64, "bfloat16"),
            tensor_map(C, 64, 32, "float32"),
            *half.int32s(M, N, K),
        )
        return arguments, [
            lambda: forget(odd),
            splitting(A, parts_A, 1, (M, padded_K), padded_K, 0),
            splitting(B, parts_B, 2 + M, (padded_K, padded_N), padded_K * padded_N, 1),
        ]


def forget(odd):
    """Set all of an array to 0, on a GPU by the copy engine."""
    if on_gpu:
        odd.data.memset_async(0, odd.nbytes)
    else:
        odd.fill(0)


#: The kernels around the product of parts.
KERNELS = {"split": split, "plain": plain}

RUNG = Emulated(
    name="emulated",
    title="fp32 as three bf16",
    chapter="08b-hopper",
    Options=Options,
    make=make_emulated,
    choices={"numba": ({}, {"products": 9}), "cpp": ({}, {"products": 9})},
    dtypes=(half.PARTS,),
    needs=(9, 0),
    only="its instructions are Hopper's alone",
    instead=async_tiled.RUNG,
    dynamic_shared=True,
    arch="sm_90a",
)
