"""The general product of float32: any strides, an epilogue, batches, groups and parts of K.

It is the rung `async_tiled` with everything a library needs around the same loop, for GPUs of
compute capability 8.0 and above. Copies by 16 bytes take four neighbours along a row of a tile;
where neighbours in memory are steps of k, or nothing is aligned, elements are copied one by one.
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from kernels import host, ptx
from kernels.backend import cuda, cupy, float32, int32, uint32, uint64
from kernels.backend.device import device
from kernels.backend.vector import unrolled
from kernels.host import cdiv, half, option
from kernels.host.follow import prepared
from kernels.host.model import traffic
from kernels.host.rung import Rung, made
from kernels.rungs import split_k
from kernels.rungs.gemm import GemmProduct, epilogue_of, put_of

PAD = 4  # elements between the rows of tiles, where k goes down their columns


@cache
def make_copy(way: str, width: int, BK: int, THREADS: int, PITCH: int):
    """The function of kernels that starts a thread's copies of a tile, BK × `width` elements.

    Parameters
    ----------
    way : {"fours", "ones", "along k"}
        Four neighbours of a row of the tile at once; one by one; or with neighbours along k.
    """
    if way == "along k":
        APART, COPIES, ALL = THREADS // BK, cdiv(width * BK, THREADS), width * BK % THREADS == 0

        @cuda.jit(device=True)
        def copy(t, to, source, step_k, step, within, left):
            k, at = int32(t % uint32(BK)), int32(t // uint32(BK))
            place = source + uint64(4) * (uint64(at) * step + uint64(k) * step_k)
            there = uint32(to + uint32(k * PITCH + at) * uint32(4))
            if ALL and left >= BK and within >= width:
                for i in range(COPIES):
                    ptx.cp_async_4(there + uint32(4 * i * APART), place, 4)
                    place += uint64(4 * APART) * step
            else:
                for i in range(COPIES):
                    if ALL or at + i * APART < width:
                        # Nothing is read of what lies beyond an edge.
                        inside = k < left and at + i * APART < within
                        ptx.cp_async_4(there + uint32(4 * i * APART), place, 4 if inside else 0)
                    place += uint64(4 * APART) * step

    else:
        ACROSS = width // 4
        APART, COPIES, ALL = (
            THREADS // ACROSS,
            cdiv(ACROSS * BK, THREADS),
            ACROSS * BK % THREADS == 0,
        )
        FOURS = way == "fours"
        NEXT = 1 if FOURS else ACROSS  # from an element to the thread's next

        @cuda.jit(device=True)
        def copy(t, to, source, step_k, step, within, left):
            at = int32(t % uint32(ACROSS) * uint32(4 if FOURS else 1))
            for i in range(COPIES):
                k = int32(t // uint32(ACROSS) + i * APART)
                if ALL or k < BK:
                    place = source + uint64(4) * (uint64(k) * step_k + uint64(at))
                    there = uint32(to + uint32((k * PITCH + at) * 4))
                    if FOURS:
                        some = max(0, min(4, within - at)) if k < left else 0
                        ptx.cp_async_16(there, place, 4 * some)
                    else:
                        for j in range(4):
                            inside = k < left and at + NEXT * j < within
                            ptx.cp_async_4(
                                there + uint32(4 * NEXT * j),
                                place + uint64(4 * NEXT * j),
                                4 if inside else 0,
                            )

    return copy


def make_gemm_f32(
    BM, BN, BK, WM, WN, TM, TN, group, split, stages,
    way_A="along k", way_B="fours", wide_C=True, grouped=False, many=False,
    parted=False,
    out_dtype="float32", activation="", bias="", adds=False,
):  # fmt: skip
    ACROSS, DOWN = WN // TN, WM // TM  # threads of a warp
    WARPS_ACROSS = BN // WN
    THREADS = BM // WM * WARPS_ACROSS * 32
    PITCH_A = BM + PAD * (way_A == "along k")
    PITCH_B = BN + PAD * (way_B == "along k")
    ROWS, PENDING = stages * BK, stages - 2
    STAGE_A, STAGE_B = 4 * BK * PITCH_A, 4 * BK * PITCH_B  # bytes
    BLOCKS = max(1, 65536 // (THREADS * (256 if TM * TN > 64 else 128)))
    AT_ONCE = max(1, 64 // (TM * TN))  # parts of K whose sums are on their way together
    copy_A = make_copy(way_A, BM, BK, THREADS, PITCH_A)
    copy_B = make_copy(way_B, BN, BK, THREADS, PITCH_B)
    biased, before, finish = epilogue_of(activation, bias, adds, out_dtype)
    put = put_of(out_dtype)

    @cuda.jit(launch_bounds=(THREADS, BLOCKS))
    def gemm_f32(
        A, B, C, biases, table, alpha, beta, M, N, K, strips, parts,
        A_z, A_row, A_k, B_z, B_k, B_col, C_z, C_row, partials, ended,
    ):  # fmt: skip
        sA = cuda.shared.array((ROWS, PITCH_A), float32, alignment=16)
        sB = cuda.shared.array((ROWS, PITCH_B), float32, alignment=16)
        last_part = cuda.shared.array(1, int32)
        acc = cuda.local.array((TM, TN), float32)
        # Two sets of registers: one is multiplied while the other is read for the next k.
        a = cuda.local.array((2, TM), float32)
        b = cuda.local.array((2, TN), float32)
        t = uint32(cuda.threadIdx.x)
        warp, lane = uint32(t // uint32(32)), uint32(t % uint32(32))
        # Where the thread's first square of 4 × 4 results lies in the block's tile of C.
        wx = warp % uint32(WARPS_ACROSS) * uint32(WN)
        wy = warp // uint32(WARPS_ACROSS) * uint32(WM)
        tx = uint32(wx + lane % uint32(ACROSS) * uint32(4))
        ty = uint32(wy + lane // uint32(ACROSS) * uint32(4))
        # Part of K by part, and in each `group` strips at a time, column by column.
        # Divisions are of uint32: of int64 each would take a hundred instructions.
        across = uint32(uint32(N + BN - 1) // uint32(BN))
        per = uint32(uint32(M + BM - 1) // uint32(BM))
        tiles, number = uint32(strips * across), uint32(cuda.blockIdx.x)
        part = uint32(0)
        if parted:
            part = uint32(number // tiles)
            number = uint32(number - part * tiles)
        a_group = uint32(uint32(group) * across)
        top = uint32(number // a_group)
        inner = uint32(number - top * a_group)
        top = uint32(top * uint32(group))
        height = min(uint32(group), uint32(strips - top))
        right = uint32(inner // height)
        strip = int32(top + inner - right * height)
        col0 = int32(right * uint32(BN))
        if grouped:
            row0, end, z_B = int32(table[strip, 0]), int32(table[strip, 1]), int32(table[strip, 2])
            z_A, layer = int32(0), int32(0)
        else:
            z_B = int32(uint32(strip) // per) if many else int32(0)
            row0, end = int32((strip - z_B * per) * BM), int32(M)
            z_A, layer = z_B, z_B
        begin, last = int32(0), int32(K)
        if parted:
            steps = uint32(uint32(K + BK - 1) // uint32(BK))
            each = uint32(steps // uint32(parts))
            rest = uint32(steps - each * parts)
            first_step = uint32(each * part + min(part, rest))
            begin = int32(first_step * uint32(BK))
            each = uint32(each + (uint32(1) if part < rest else uint32(0)))
            last = int32(min(begin + each * uint32(BK), K))
        left = int32(last - begin)  # steps of k that no copy has been started for

        rows, cols = int32(end - row0), int32(N - col0)
        first = uint64(z_A) * uint64(A_z) + uint64(row0) * uint64(A_row)
        from_A = ptx.global_address(A) + uint64(4) * (first + uint64(begin) * uint64(A_k))
        first = uint64(z_B) * uint64(B_z) + uint64(col0) * uint64(B_col)
        from_B = ptx.global_address(B) + uint64(4) * (first + uint64(begin) * uint64(B_k))
        apart_A, apart_B = uint64(4 * BK) * uint64(A_k), uint64(4 * BK) * uint64(B_k)
        at_A, at_B = ptx.shared_address(sA), ptx.shared_address(sB)
        stage_next = uint32(0)

        for i in range(TM):
            for j in range(TN):
                acc[i, j] = float32(0)
        # All tiles but one are on their way before the first is multiplied.
        for _ in range(stages - 1):
            to = uint32(at_A + stage_next * uint32(STAGE_A))
            copy_A(t, to, from_A, uint64(A_k), uint64(A_row), rows, left)
            to = uint32(at_B + stage_next * uint32(STAGE_B))
            copy_B(t, to, from_B, uint64(B_k), uint64(B_col), cols, left)
            ptx.cp_async_commit_group()
            left = int32(left - BK)
            from_A += apart_A
            from_B += apart_B
            stage_next = uint32(stage_next + 1)
        # Every thread waits for its own copies, and then for everybody else's.
        ptx.cp_async_wait_group(PENDING)
        cuda.syncthreads()
        here_A = uint32(at_A + ty * uint32(4))
        here_B = uint32(at_B + tx * uint32(4))
        for i in range(0, TM, 4):
            a[0, i], a[0, i + 1], a[0, i + 2], a[0, i + 3] = ptx.ld_shared_v4_f32(
                here_A + uint32(i * DOWN * 4)
            )
        for j in range(0, TN, 4):
            b[0, j], b[0, j + 1], b[0, j + 2], b[0, j + 3] = ptx.ld_shared_v4_f32(
                here_B + uint32(j * ACROSS * 4)
            )

        stage, now_A, now_B = uint32(0), here_A, here_B  # of the tile that is multiplied
        for _ in range(int32(0), int32(last - begin), int32(BK)):
            for k in range(BK):
                if k == BK - 1:
                    stage = uint32(0) if stage == stages - 1 else uint32(stage + 1)
                    now_A = uint32(here_A + stage * uint32(STAGE_A))
                    now_B = uint32(here_B + stage * uint32(STAGE_B))
                    ptx.cp_async_wait_group(PENDING)
                    cuda.syncthreads()
                # All have left the stage that is filled now before they met at the last barrier.
                if k == 0:
                    to = uint32(at_A + stage_next * uint32(STAGE_A))
                    copy_A(t, to, from_A, uint64(A_k), uint64(A_row), rows, left)
                    to = uint32(at_B + stage_next * uint32(STAGE_B))
                    copy_B(t, to, from_B, uint64(B_k), uint64(B_col), cols, left)
                if k == BK - 2:
                    ptx.cp_async_commit_group()
                    left = int32(left - BK)
                    from_A += apart_A
                    from_B += apart_B
                    stage_next = uint32(0) if stage_next == stages - 1 else uint32(stage_next + 1)
                # The next k is read into one set of registers while this one is multiplied.
                row, ahead, half = (k + 1) % BK, (k + 1) % 2, k % 2
                for i in range(0, TM, 4):
                    place = uint32(now_A + uint32((row * PITCH_A + i * DOWN) * 4))
                    a[ahead, i], a[ahead, i + 1], a[ahead, i + 2], a[ahead, i + 3] = (
                        ptx.ld_shared_v4_f32(place)
                    )
                for j in range(0, TN, 4):
                    place = uint32(now_B + uint32((row * PITCH_B + j * ACROSS) * 4))
                    b[ahead, j], b[ahead, j + 1], b[ahead, j + 2], b[ahead, j + 3] = (
                        ptx.ld_shared_v4_f32(place)
                    )
                for j in range(TN):
                    for n in range(TM):
                        # Down one column and up the next: where it turns, an operand is used again.
                        i = n if j % 2 == 0 else TM - 1 - n
                        acc[i, j] += a[half, i] * b[half, j]
            unrolled()  # the loop over k

        # Of several parts of K each leaves its sums in memory, as they lie in registers. The one
        # that comes last adds all, always in the same order.
        ends = True
        if parted:
            a_part = uint64(tiles) * uint64(4 * BM * BN)  # bytes
            first = ptx.global_address(partials) + uint64(number) * uint64(4 * BM * BN)
            first += uint64(uint32(16) * t)
            place = first + uint64(part) * a_part
            for i in range(TM):
                for j in range(0, TN, 4):
                    ptx.st_global_cg_v4_f32(
                        place, acc[i, j], acc[i, j + 1], acc[i, j + 2], acc[i, j + 3]
                    )
                    place += uint64(16 * THREADS)
                unrolled()
            unrolled()
            cuda.threadfence()
            cuda.syncthreads()
            if t == 0:
                # From the last it goes back to 0, for the next launch.
                last_part[0] = cuda.atomic.inc(ended, number, uint32(parts - 1)) == parts - 1
            cuda.syncthreads()
            ends = last_part[0] != 0
            if ends:
                cuda.threadfence()
                for i in range(TM):
                    for j in range(TN):
                        acc[i, j] = float32(0)
                    unrolled()
                unrolled()
                for p in range(int32(0), parts, int32(AT_ONCE)):
                    for q in range(AT_ONCE):
                        there = AT_ONCE == 1 or p + q < parts
                        place = first + (uint64(q) * a_part if there else uint64(0))
                        for i in range(TM):
                            for j in range(0, TN, 4):
                                s0, s1, s2, s3 = ptx.ld_global_cg_v4_f32(place)
                                acc[i, j] += s0 if there else float32(0)
                                acc[i, j + 1] += s1 if there else float32(0)
                                acc[i, j + 2] += s2 if there else float32(0)
                                acc[i, j + 3] += s3 if there else float32(0)
                                place += uint64(16 * THREADS)
                            unrolled()
                        unrolled()
                    unrolled()
                    first += uint64(AT_ONCE) * a_part

        if ends:
            for j in range(TN):
                # The registers of B are free: they take the bias.
                b[0, j] = biased(biases, int32(col0 + tx + j // 4 * 4 * ACROSS + j % 4), N)
            unrolled()
            for i in range(TM):
                row = int32(row0 + ty + i // 4 * 4 * DOWN + i % 4)
                for j in range(0, TN, 4):
                    col = int32(col0 + tx + j * ACROSS)
                    for n in range(4):
                        before_it = before(C, layer, row, col + n, end, N)
                        acc[i, j + n] = finish(acc[i, j + n], alpha, beta, b[0, j + n], before_it)
                        if not wide_C:
                            if row < end and col + n < N:
                                put(C, layer, row, col + n, acc[i, j + n])
                    if wide_C:
                        if row < end and col < N:
                            place = uint64(layer) * uint64(C_z) + uint64(row) * uint64(C_row)
                            to = ptx.global_address(C) + uint64(4) * (place + uint64(col))
                            ptx.st_global_cg_v4_f32(
                                to, acc[i, j], acc[i, j + 1], acc[i, j + 2], acc[i, j + 3]
                            )
                unrolled()
            unrolled()  # so that each element of acc is a register

    return gemm_f32


@dataclass(frozen=True)
class Options(host.Options):
    BM: int = option(128, (16, 32, 64, 128), "rows of C that a block computes")
    BN: int = option(256, (16, 32, 64, 128, 256), "columns of C that a block computes")
    BK: int = option(8, (8, 16), "steps of K that a block copies at a time", only=True)
    WM: int = option(64, (16, 32, 64), "rows of C that a warp computes")
    WN: int = option(64, (16, 32, 64), "columns of C that a warp computes")
    TM: int = option(8, (4, 8), "rows of C that a thread computes", only=True)
    TN: int = option(16, (4, 8, 16), "columns of C that a thread computes", only=True)
    group: int = option(8, (4, 8, 16), "strips of C that are computed together, to share L2")
    split: int = option(1, (1, 2, 4, 8), "parts of K, each for blocks of its own")
    stages: int = option(3, (2, 3, 4), "tiles of each matrix in shared memory")

    def check(self):
        host.check_group(self.group, "group")
        if self.stages < 2:
            raise ValueError(f"stages={self.stages} leaves nothing to copy ahead: use 2, 3 or 4")
        warp, thread = f"{self.WM}×{self.WN}", f"{self.TM}×{self.TN}"
        if self.WM * self.WN != 32 * self.TM * self.TN or self.WM % self.TM or self.WN % self.TN:
            raise ValueError(
                f"a warp tile of {warp} has no 32 thread tiles of {thread}: use WM·WN = 32·TM·TN"
            )
        if self.BM % self.WM or self.BN % self.WN:
            raise ValueError(
                f"a tile of {self.BM}×{self.BN} has no whole warp tiles of {warp}: use multiples"
            )
        limit = device().shared_per_block
        if self.shared_bytes > limit:
            raise ValueError(
                f"these tiles need {self.shared_bytes} bytes of shared memory per block; the limit"
                f" is {limit}: use fewer stages, or a smaller BM or BN"
            )
        if self.threads % self.BK or self.threads < self.BN // 4 or self.threads < self.BM // 4:
            raise ValueError(
                f"{self.threads} threads are too few to copy tiles of {self.BM}×{self.BN}: use"
                " smaller warp tiles"
            )

    @property
    def block_dim(self):
        return (self.BM // self.WM * (self.BN // self.WN) * 32,)

    @property
    def block_tile(self):
        return self.BM, self.BN, self.BK

    @property
    def shared_bytes(self):
        """With the rows as long as they are where k goes down the columns of both tiles."""
        return 4 * self.stages * self.BK * (self.BM + self.BN + 2 * PAD)

    @property
    def registers(self):
        return min(255, self.TM * self.TN + 2 * (self.TM + self.TN) + 40)

    def grid_dim(self, M, N):
        return (cdiv(M, self.BM) * cdiv(N, self.BN) * self.split,)

    def model(self, M, N, K):
        """A is loaded once per column of tiles of C, B once per row of them."""
        return traffic(M, N, K, self.BM, self.BN, self.split)


def way_of(step_k: int, step: int, step_z: int, array, whole: bool = True) -> str:
    """How tiles of a matrix are copied, by its steps in memory, in elements.

    Without `whole`, tiles begin anywhere: at the first row of a matrix of a group.
    """
    aligned = host.address(array) % 16 == 0 and step_k % 4 == 0 and step_z % 4 == 0 and whole
    if step == 1 and aligned:
        return "fours"
    return "ones" if step == 1 != step_k else "along k"


class GemmF32(Rung):
    """The rung with its operands: float32, as they lie."""

    def operands(self, A, B, out, engine):
        return GemmProduct(A, B, out)

    def check_resident(self, A, B, C):
        """Any strides are taken."""

    def launcher(self, product, options):
        A, B, bias, C = product.arrays
        split = min(options.split, cdiv(product.K, options.BK))
        rows, strips = product.strips(options.BM)
        grid = host.check_grid(strips * cdiv(product.N, options.BN) * split)
        tiles = strips * cdiv(product.N, options.BN)
        sums = split * tiles * options.BM * options.BN if split > 1 else 1
        left, ended = product.workspace((sums,)), cupy.zeros(tiles, np.uint32)
        (A_z, A_row, A_k), (B_z, B_k, B_col), (C_z, C_row, C_col) = (
            tuple(
                0 if n == 1 else stride // 4 for n, stride in zip(x.shape, x.strides, strict=True)
            )
            for x in (A, B, C)
        )
        wide_C = C.itemsize == 4 and C_col == 1 and C.shape[2] % 4 == 0
        wide_C = wide_C and host.address(C) % 16 == 0 == C_z % 4 == C_row % 4
        kernel = made(
            self.make, replace(options, split=1),
            way_A=way_of(A_k, A_row, A_z, A, product.sizes is None),
            way_B=way_of(B_k, B_col, B_z, B), wide_C=wide_C, grouped=product.sizes is not None,
            many=product.batch > 1, parted=split > 1, **product.formats,
        )  # fmt: skip
        steps = (np.int64(n) for n in (A_z, A_row, A_k, B_z, B_k, B_col, C_z, C_row))
        sizes = half.int32s(product.M, product.N, product.K, strips, split)
        arguments = A, B, C, bias, rows, *product.scales, *sizes, *steps, left, ended
        launch = prepared(kernel, grid, options.block_dim, arguments)
        launch.held = product, rows, left, ended
        return launch


RUNG = GemmF32(
    name="gemm_f32",
    title="General, float32",
    chapter="07-register-tiling",
    Options=Options,
    make=make_gemm_f32,
    engines=("numba",),
    choices={
        "numba": (
            {},
            {"BN": 128, "WN": 32, "TN": 8},
            {"BM": 64, "BN": 128, "BK": 16, "WM": 32, "WN": 64, "TM": 8, "TN": 8},
            {"BM": 64, "BN": 64, "BK": 16, "WM": 32, "WN": 32, "TN": 8, "TM": 4, "stages": 4},
            {"BM": 32, "BN": 64, "BK": 16, "WM": 16, "WN": 32, "TM": 4, "TN": 4, "stages": 4},
            {"BM": 16, "BN": 128, "BK": 16, "WM": 16, "WN": 32, "TM": 4, "TN": 4, "stages": 4},
            {"BM": 128, "BN": 16, "BK": 16, "WM": 32, "WN": 16, "TM": 4, "TN": 4, "stages": 4},
        )
    },
    needs=(8, 0),
    instead=split_k.RUNG,
)
