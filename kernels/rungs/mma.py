"""Tensor cores as Ampere has them: `mma`, fed by asynchronous copies several tiles ahead.

For GPUs from Ampere on. A block owns BM × BN elements of C, a warp WM × WN; pairs of tiles, BK
deep, lie in shared memory: while one is multiplied, the others are on their way.
"""

from dataclasses import dataclass

from kernels import host, ptx
from kernels.backend import cuda, float32, uint8, uint32, uint64
from kernels.backend.device import device
from kernels.backend.vector import unrolled
from kernels.host import cdiv, half, option
from kernels.host.tensor_cores import HalfRung
from kernels.rungs import mma_sm75

GROUP = 8  # tiles of C that the blocks go down before one to the right


def make_mma(BM=128, BN=256, BK=64, WM=64, WN=64, stages=0, dtype="bfloat16", out_dtype="float32"):
    STAGES = Options(BM, BN, BK, WM, WN, stages).depth
    WARPS_ACROSS = BN // WN
    THREADS = 32 * (BM // WM) * WARPS_ACROSS
    TILE_A, TILE_B = BM * BK * 2, BK * BN * 2  # bytes
    STAGE = TILE_A + TILE_B
    STEPS = BK // 16  # of mma, k = 16 each, through one pair of tiles
    AHEAD, PENDING = STAGES - 1, STAGES - 2
    # A thread copies the same 16-byte chunk of several rows of each tile, these many rows apart.
    CHUNKS_A, CHUNKS_B = BK // 8, BN // 8
    APART_A, APART_B = THREADS // CHUNKS_A, THREADS // CHUNKS_B
    COPIES_A, COPIES_B = BM // APART_A, BK // APART_B
    # The chunks of a row are permuted: chunk c of row r lies at c ^ turn, so that the same chunk of
    # 8 rows is in 8 different places of the 128 bytes that shared memory reads at once. The turn is
    # r % 8, of rows of four chunks r // 2 % 4.
    BOTH, TURNS = 8 // min(8, CHUNKS_A), min(8, CHUNKS_A)
    ROW_A, ROW_B = 16 * CHUNKS_A, 16 * CHUNKS_B  # bytes
    DOWN, ACROSS = WM // 16, WN // 8  # fragments of a warp's part of C
    multiply_add = ptx.mma(16, dtype)

    @cuda.jit(launch_bounds=(THREADS, 1))
    def mma(A, B, C, M, N, K, pitch):
        stages = cuda.shared.array(0, uint8, alignment=128)
        shared = ptx.shared_address(stages)
        tid = uint32(cuda.threadIdx.x)
        lane, warp = uint32(tid % 32), uint32(tid // 32)
        warp_row = uint32(warp // WARPS_ACROSS * WM)
        warp_col = uint32(warp % WARPS_ACROSS * WN)

        # Blocks in flight should share rows of A and columns of B in the L2 cache.
        across = uint32(cuda.gridDim.x)
        block = uint32(cuda.blockIdx.y * across + cuda.blockIdx.x)
        first = uint32(block // uint32(GROUP * across) * GROUP)
        height = uint32(min(GROUP, cuda.gridDim.y - first))
        within = uint32(block - first * across)
        row0 = uint32((first + within % height) * uint32(BM))
        col0 = uint32(within // height * uint32(BN))

        row_A, chunk_A = uint32(tid // CHUNKS_A), uint32(tid % CHUNKS_A)
        row_B, chunk_B = uint32(tid // CHUNKS_B), uint32(tid % CHUNKS_B)
        from_A = ptx.global_address(A) + uint64(row0 + row_A) * uint64(2 * pitch)
        from_A += uint64(chunk_A * 16)
        from_B = ptx.global_address(B) + uint64(row_B) * uint64(2 * N)
        from_B += uint64(2 * col0 + chunk_B * 16)
        apart_A, apart_B = uint64(2 * APART_A * pitch), uint64(2 * APART_B * N)
        rows, cols, depth = uint32(M), uint32(N), uint32(K)
        inside_N = uint32(col0 + chunk_B * 8) < cols
        copied = uint32(0)  # how far along K the copies have come

        # Where a lane's rows of the first fragments begin, in the tiles of a slot.
        read_A = uint32((warp_row + lane % 16) * ROW_A)
        read_B = uint32(TILE_A + lane % 16 * ROW_B)
        turn_A, turn_B = uint32(lane // BOTH % TURNS), uint32(lane % 8)
        left_A, left_B = uint32(lane // 16), uint32(warp_col // 8 + lane // 16)  # its first chunk

        # Two sets of fragments: one is loaded while the other is multiplied.
        a = cuda.local.array((2, DOWN, 4), uint32)
        b = cuda.local.array((2, ACROSS, 2), uint32)

        # Beyond the end of K copies bring zeros: the count of groups stays in step.
        for tile in range(AHEAD):
            to_A = uint32(tile * STAGE + row_A * ROW_A + shared)
            to_B = uint32(tile * STAGE + row_B * ROW_B + TILE_A + shared)
            inside_K = uint32(copied + chunk_A * 8) < depth
            for i in range(COPIES_A):
                row = uint32(row_A + i * APART_A)
                chunk = uint32(chunk_A ^ uint32(row // BOTH % TURNS))
                size = 16 if inside_K & (uint32(row0 + row) < rows) else 0
                to = 16 * chunk + i * (APART_A * ROW_A) + to_A
                ptx.cp_async_16(to, from_A + uint64(i) * apart_A, size)
            unrolled()
            for i in range(COPIES_B):
                row = uint32(row_B + i * APART_B)
                chunk = uint32(chunk_B ^ uint32(row % 8))
                size = 16 if inside_N & (uint32(copied + row) < depth) else 0
                to = 16 * chunk + i * (APART_B * ROW_B) + to_B
                ptx.cp_async_16(to, from_B + uint64(i) * apart_B, size)
            unrolled()
            from_A += uint64(2 * BK)
            from_B += uint64(2 * BK * N)
            copied = uint32(copied + BK)
            ptx.cp_async_commit_group()
        unrolled()
        ptx.cp_async_wait_group(PENDING)
        cuda.syncthreads()
        chunk = uint32(left_A ^ turn_A)
        at = uint32(16 * chunk + shared + read_A)
        for i in range(DOWN):
            (
                a[0, i, 0], a[0, i, 1], a[0, i, 2], a[0, i, 3],
            ) = ptx.ldmatrix_x4(at + 16 * ROW_A * i)  # fmt: skip
        unrolled()
        for j in range(0, ACROSS, 2):
            chunk = uint32(uint32(left_B + j) ^ turn_B)
            at = uint32(16 * chunk + shared + read_B)
            (
                b[0, j, 0], b[0, j, 1], b[0, j + 1, 0], b[0, j + 1, 1],
            ) = ptx.ldmatrix_x4_trans(at)  # fmt: skip
        unrolled()

        acc = cuda.local.array((DOWN, ACROSS, 4), float32)
        for i in range(DOWN):
            for j in range(ACROSS):
                for k in range(4):
                    acc[i, j, k] = 0
                unrolled()
            unrolled()
        unrolled()
        slot, slot_before = uint32(0), uint32(AHEAD)
        for _ in range(0, K, BK):
            slot_after = uint32(slot + 1)
            if slot_after == STAGES:
                slot_after = uint32(0)
            for step in range(STEPS):
                if step == 0:
                    # Where the tiles before these were: every warp has passed a barrier since.
                    to_A = uint32(slot_before * STAGE + row_A * ROW_A + shared)
                    to_B = uint32(slot_before * STAGE + row_B * ROW_B + TILE_A + shared)
                    inside_K = uint32(copied + chunk_A * 8) < depth
                    for i in range(COPIES_A):
                        row = uint32(row_A + i * APART_A)
                        chunk = uint32(chunk_A ^ uint32(row // BOTH % TURNS))
                        size = 16 if inside_K & (uint32(row0 + row) < rows) else 0
                        to = 16 * chunk + i * (APART_A * ROW_A) + to_A
                        ptx.cp_async_16(to, from_A + uint64(i) * apart_A, size)
                    unrolled()
                    for i in range(COPIES_B):
                        row = uint32(row_B + i * APART_B)
                        chunk = uint32(chunk_B ^ uint32(row % 8))
                        size = 16 if inside_N & (uint32(copied + row) < depth) else 0
                        to = 16 * chunk + i * (APART_B * ROW_B) + to_B
                        ptx.cp_async_16(to, from_B + uint64(i) * apart_B, size)
                    unrolled()
                    from_A += uint64(2 * BK)
                    from_B += uint64(2 * BK * N)
                    copied = uint32(copied + BK)
                    ptx.cp_async_commit_group()
                if step == STEPS - 1:
                    # The next pair of tiles: this thread's part is there, then everyone's.
                    ptx.cp_async_wait_group(PENDING)
                    cuda.syncthreads()
                here = uint32((slot if step < STEPS - 1 else slot_after) * STAGE + shared)
                other, after = (step + 1) % 2, (step + 1) % STEPS
                chunk = uint32(uint32(2 * after + left_A) ^ turn_A)
                at = uint32(16 * chunk + here + read_A)
                for i in range(DOWN):
                    (
                        a[other, i, 0], a[other, i, 1], a[other, i, 2], a[other, i, 3],
                    ) = ptx.ldmatrix_x4(at + 16 * ROW_A * i)  # fmt: skip
                unrolled()
                for j in range(0, ACROSS, 2):
                    chunk = uint32(uint32(left_B + j) ^ turn_B)
                    at = uint32(16 * chunk + 16 * ROW_B * after + here + read_B)
                    (
                        b[other, j, 0], b[other, j, 1], b[other, j + 1, 0], b[other, j + 1, 1],
                    ) = ptx.ldmatrix_x4_trans(at)  # fmt: skip
                unrolled()
                for i in range(DOWN):
                    for j in range(ACROSS):
                        multiply_add(acc[i, j], a[step % 2, i], b[step % 2, j])
                    unrolled()
                unrolled()
            unrolled()
            slot_before = slot
            slot = slot_after

        for i in range(DOWN):
            for j in range(ACROSS):
                row = 16 * i + lane // 4 + row0 + warp_row
                col = 8 * j + lane % 4 * 2 + col0 + warp_col
                if row < M and col < N:
                    ptx.store_pair(C, row, col, acc[i, j, 0], acc[i, j, 1])
                if row + 8 < M and col < N:
                    ptx.store_pair(C, row + 8, col, acc[i, j, 2], acc[i, j, 3])
            unrolled()
        unrolled()

    return mma


def most_shared_bytes():
    """Return how much shared memory a block of this GPU may ask for."""
    here = device()
    # Without a GPU to ask, that of an H100 or H200.
    return here.shared_per_block_optin or (227 * 1024 if here.sms is None else 48 * 1024)


@dataclass(frozen=True)
class Options(host.Options):
    BM: int = option(128, (64, 128, 256), "rows of C that a block computes")
    BN: int = option(256, (64, 128, 256), "columns of C that a block computes")
    BK: int = option(64, (32, 64), "steps of K that a block loads at a time", only=True)
    WM: int = option(64, (32, 64), "rows of C that a warp computes")
    WN: int = option(64, (32, 64), "columns of C that a warp computes")
    stages: int = option(0, (0, 2, 3, 4), "pairs of tiles in shared memory; 0: as fit, up to 4")

    @property
    def block_dim(self):
        return (32 * (self.BM // self.WM) * (self.BN // self.WN),)

    @property
    def block_tile(self):
        return self.BM, self.BN, self.BK

    @property
    def stage_bytes(self):
        """Bytes of a pair of tiles."""
        return 2 * (self.BM + self.BN) * self.BK

    @property
    def depth(self):
        """Pairs of tiles in shared memory."""
        return self.stages or min(4, max(2, most_shared_bytes() // self.stage_bytes))

    @property
    def shared_bytes(self):
        return self.depth * self.stage_bytes

    @property
    def registers(self):
        """At least: sums, two sets of fragments of A and B, some 24 addresses and counters."""
        return self.WM * self.WN // 32 + 2 * (self.WM + self.WN) // 4 + 24

    @property
    def macros(self):
        return super().macros | {"STAGES": self.depth}

    def launch(self, M, N):
        limit = most_shared_bytes()
        if self.shared_bytes > limit:
            raise ValueError(
                f"mma {self.BM}×{self.BN}×{self.BK} in {self.depth} stages needs"
                f" {self.shared_bytes} bytes of shared memory; a block of this GPU has {limit}:"
                " use fewer stages, or smaller BK"
            )
        return super().launch(M, N)

    def model(self, M, N, K):
        """A is loaded once per column of BM × BN tiles, B once per row of them."""
        return half.half_model(M, N, K, cdiv(M, self.BM), cdiv(N, self.BN))

    def check(self):
        BM, BN, BK = self.block_tile
        for name, warp in (("WM", self.WM), ("WN", self.WN)):
            if warp % 16:
                raise ValueError(f"{name}={warp} is not a multiple of 16: use 32 or 64")
        for name, tile, of, warp in (("BM", BM, "WM", self.WM), ("BN", BN, "WN", self.WN)):
            if tile % warp:
                raise ValueError(
                    f"{name}={tile} is not a multiple of {of}={warp}: use {of} 32 or 64"
                )
        if BN % 64:
            raise ValueError(f"BN={BN} is not a multiple of 64: use 64, 128 or 256")
        if self.stages == 1:
            raise ValueError(
                "stages=1 leaves no tile to load ahead: use 2 or more, or 0 for what fits"
            )
        limit = device().max_threads_per_block
        if self.threads > limit:
            raise ValueError(
                f"mma {BM}×{BN}×{BK} needs {self.threads} threads; a block of this GPU has {limit}:"
                " use larger WM or WN"
            )
        at_once = 8 * self.threads  # elements: a thread copies 16 bytes, of several whole rows
        for name, rows, cols in (("A", BM, BK), ("B", BK, BN)):
            if at_once % cols or rows * cols % at_once:
                raise ValueError(
                    f"mma with {self.threads} threads copies {at_once} elements at once, of which"
                    f" the {rows}×{cols} tile of {name} is not a multiple in whole rows: use larger"
                    " WM or WN, and powers of two"
                )
        most = min(255, 65536 // self.threads)
        if self.registers > most:
            raise ValueError(
                f"mma with warp tiles of {self.WM}×{self.WN} needs {self.registers} registers per"
                f" thread; {self.threads} threads have {most} each: use smaller WM or WN"
            )


RUNG = HalfRung(
    name="mma",
    title="mma, sm_80",
    chapter="08-tensor-cores",
    Options=Options,
    make=make_mma,
    engines=("numba", "cpp"),
    choices={"numba": ({},), "cpp": ({},)},
    needs=(8, 0),
    instead=mma_sm75.RUNG,
    dynamic_shared=True,
)
