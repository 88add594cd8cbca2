"""A product of numbers in 8 bits: half the bytes of 16 bits, and twice the products per cycle.

A and B hold e4m3 (see `kernels.host.e4m3`), as uint8. A matrix in so short a format travels with a
scale, and ``LADDER["fp8"].scaled(scale_A * scale_B)`` multiplies every sum by both. C holds
float32, or the 16 bits of `out`.

The instruction, `wgmma`, wants the values of k side by side in A *and* in B. It transposes tiles of
16-bit numbers as it reads them, but none of bytes. So the kernel takes B by columns: of an array
``columns`` of shape (N, K), pass ``columns.T``. A B that lies by rows is copied first.

Tensor cores keep about 14 bits of a sum of such products. With ``promote=4`` a sum goes on in a
float32 register after every four steps of 128 products; that takes registers, so tiles are narrower
then.

For sm_90a; the loop is that of `persistent`.

Sources: NVIDIA, *PTX ISA*, section on wgmma (matrix-operand formats, transposition); DeepSeek-AI,
*DeepSeek-V3 Technical Report*, arXiv:2412.19437, section 3.3.2.
"""

from dataclasses import dataclass, replace

import numpy as np

from kernels import ptx
from kernels.backend import cuda, float32, int32, uint8, uint32, uint64
from kernels.backend.vector import unrolled
from kernels.host import cdiv, fp8, half, option
from kernels.host.tensor_cores import BOX_BYTES, HopperRung, map_of_result
from kernels.host.tma import tensor_map
from kernels.rungs import persistent

BM, BK, CONSUMERS = 128, 128, 2
THREADS = 128 * (1 + CONSUMERS)
TILE_A, BOX = BM * BK, 64 * 128  # bytes
#: Bytes of shared memory for the ring of tiles and the boxes of C; the barriers take some, too.
SHARED = 226 * 1024


def make_fp8(group=8, cluster=2, promote=0, stages=4, out_dtype="float32"):
    options = Options(group, cluster, promote, stages)
    BN, STAGES, BOXES = options.width, stages, options.boxes
    TILE_B = BN * BK  # bytes
    STAGE, SUMS, BARRIERS = TILE_A + TILE_B, BN // 2, 2 * STAGES
    SHARE = BN // cluster  # columns of B that each block loads
    EVERYONE = (1 << cluster) - 1
    BOX_COLS = 32 if out_dtype == "float32" else 64  # 128 bytes
    PENDING = BOXES - 1
    # The values of k of a column of B lie side by side, as those of a row of A do.
    multiply_add = ptx.wgmma(BN, "e4m3", transposed_B=False)
    clusters_of = ptx.cluster_dims(cluster)
    pack = ptx.cvt_rn_f16x2 if out_dtype == "float16" else ptx.cvt_rn_bf16x2

    @cuda.jit(launch_bounds=(THREADS, 1))
    def fp8(map_A, map_B, map_C, M, N, K, scale):
        clusters_of()
        stages = cuda.shared.array(0, uint8, alignment=1024)
        barriers = cuda.shared.array(BARRIERS, uint64)
        ring = ptx.shared_address(stages)
        boxes = uint32(ring + STAGES * STAGE)
        full = ptx.shared_address(barriers)
        empty = uint32(full + 8 * STAGES)
        role, tid = int32(cuda.threadIdx.x // 128), int32(cuda.threadIdx.x % 128)
        rank = int32(cuda.blockIdx.x % cluster)  # within the cluster

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
                    row0 = int32(((first + within % height) * cluster + rank) * BM)
                    col0 = int32(within // height * BN)
                    for step in range(steps):
                        # All consumers of the cluster have to empty a slot: our part of B goes to
                        # all of them.
                        ptx.mbarrier_wait_parity(empty + 8 * slot, parity ^ 1)
                        loaded = full + 8 * slot
                        sA = ring + slot * STAGE
                        sB = sA + TILE_A
                        ptx.mbarrier_arrive_expect_tx(loaded, STAGE)
                        ptx.cp_async_bulk_tensor_2d_load(sA, map_A, step * BK, row0, loaded)
                        to, column = sB + rank * SHARE * BK, col0 + rank * SHARE
                        if cluster == 1:
                            ptx.cp_async_bulk_tensor_2d_load(to, map_B, step * BK, column, loaded)
                        else:
                            ptx.cp_async_bulk_tensor_2d_load_multicast(
                                to, map_B, step * BK, column, loaded, EVERYONE
                            )
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
                first = t // (group * across) * group
                height, within = min(group, down - first), t - first * across
                row0 = int32(((first + within % height) * cluster + rank) * BM)
                col0 = int32(within // height * BN)
                piece = promote if promote else steps
                for i in range(SUMS):
                    sums[i] = 0
                unrolled()
                for begin in range(0, steps, piece):
                    count = min(piece, steps - begin)
                    previous = 0
                    for step in range(count):
                        ptx.mbarrier_wait_parity(full + 8 * slot, parity)
                        sA = ring + slot * STAGE
                        sB = sA + TILE_A
                        ptx.wgmma_fence()
                        for k in range(0, BK, 32):
                            a = ptx.matrix_descriptor(sA + upper * BK + k, 16)
                            b = ptx.matrix_descriptor(sB + k, 16)
                            multiply_add(acc, a, b, step + k)  # first: scale-d = 0
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
                    # Tensor cores keep few bits of a sum of such products: float32 keeps 24.
                    if promote:
                        for i in range(SUMS):
                            sums[i] += acc[i]
                        unrolled()
                # Not in place: who writes to acc makes wgmma wait for each product in turn.
                for i in range(SUMS):
                    sums[i] = scale * (sums[i] if promote else acc[i])
                unrolled()

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
                            ptx.st_shared_v2_f32(place, sums[d], sums[d + 1])
                            ptx.st_shared_v2_f32(place + 8 * 128, sums[d + 2], sums[d + 3])
                        else:
                            row = warp * 16 + lane % 16
                            d, chunk = 32 * number + 8 * j, 2 * j + lane // 16
                            ptx.stmatrix_x4(
                                box + row * 128 + (chunk ^ (row % 8)) * 16,
                                pack(sums[d], sums[d + 1]), pack(sums[d + 2], sums[d + 3]),
                                pack(sums[d + 4], sums[d + 5]), pack(sums[d + 6], sums[d + 7]),
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

    return fp8


@dataclass(frozen=True)
class Options(persistent.Options):
    promote: int = option(
        0, (0, 4), "steps of 128 products after which sums go on in float32; 0: never"
    )
    stages: int = option(
        4,
        (3, 4),
        "pairs of tiles loaded ahead; fewer leave room for more of C on its way",
        only=True,
    )

    @property
    def width(self):
        """Narrower where each thread holds its sums twice."""
        return 192 if self.promote else 256

    @property
    def block_tile(self):
        return BM, self.width, BK

    @property
    def ring_bytes(self):
        """Bytes of the ring of tiles."""
        return self.stages * BK * (BM + self.width)

    @property
    def boxes(self):
        """As many boxes of C for each of two consumers as the ring leaves room for."""
        return (SHARED - self.ring_bytes) // (2 * BOX_BYTES)

    @property
    def shared_bytes(self):
        return self.ring_bytes + 2 * self.boxes * BOX_BYTES

    @property
    def macros(self):
        return {
            "BN": self.width, "STAGES": self.stages, "BOXES": self.boxes,
            "CLUSTER": self.cluster, "GROUP": self.group, "PROMOTE": self.promote,
        }  # fmt: skip

    def model(self, M, N, K):
        """As that of `persistent`, with one byte per element of A and B."""
        down, across = cdiv(M, BM * self.cluster), cdiv(N, self.width)
        return half.half_model(M, N, K, down, across, itemsize=1)


@dataclass(frozen=True, eq=False)
class Fp8Rung(HopperRung):
    """A rung whose A and B hold e4m3.

    Attributes
    ----------
    scale : float
        What every sum is multiplied by.
    """

    dtypes: tuple[str, ...] = (half.E4M3,)
    scale: float = 1.0

    def scaled(self, scale: float) -> "Fp8Rung":
        """Return this rung with another factor for its sums: the scale of A times that of B."""
        return replace(self, scale=float(scale))

    def operands(self, A, B, out, engine):
        return fp8.Fp8Product(A, B, out, engine)

    def check_resident(self, A, B, C):
        half.check_aligned(A=A, **{"B.T": B.T}, C=C)

    def formats(self, product=None):
        return {"out_dtype": "float32" if product is None else half.dtype_of(product)}

    def arguments(self, product, options):
        A, columns, C = product.cpp_arguments()
        return (
            tensor_map(A, BM, BK, "uint8"),
            tensor_map(columns, options.width // options.cluster, BK, "uint8"),
            map_of_result(C),
            *half.int32s(product.M, product.N, product.K),
            np.float32(self.scale),
        )


RUNG = Fp8Rung(
    name="fp8",
    title="fp8",
    chapter="08b-hopper",
    Options=Options,
    make=make_fp8,
    engines=("numba", "cpp"),
    choices={"numba": ({}, {"promote": 4}), "cpp": ({}, {"promote": 4})},
)
