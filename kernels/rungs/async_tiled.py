"""Asynchronous copies: tiles go to shared memory past the registers, several at a time.

For GPUs of compute capability 8.0 and above.
"""

from dataclasses import dataclass, replace

from kernels import ptx
from kernels.backend import cuda, float32, int32, uint32, uint64
from kernels.backend.vector import load4, store4_guarded, unrolled
from kernels.host import option
from kernels.host.follow import prepared
from kernels.host.model import traffic
from kernels.host.rung import made
from kernels.rungs import split_k, swizzled

PAD = 4  # elements between the rows of A's tile, so that its columns spread over the banks


def make_async_tiled(BM, BN, BK, WM, WN, TM, TN, group, split, stages, wide=1):
    ACROSS, DOWN = WN // TN, WM // TM  # threads of a warp
    WARPS_ACROSS = BN // WN
    THREADS = BM // WM * WARPS_ACROSS * 32
    COPIES_A, COPIES_B = BM * BK // THREADS, BK * BN // (4 * THREADS)  # of a thread, a tile
    ROWS_APART, K_APART = THREADS // BK, THREADS // (BN // 4)
    ROWS, PITCH = stages * BK, BM + PAD
    STAGE_A, STAGE_B = 4 * BK * PITCH, 4 * BK * BN  # bytes
    PENDING = stages - 2
    # The compiler should give a thread no more than 128 registers, or 256 for a large tile, so that
    # the SM holds as many blocks as then fit.
    BLOCKS = max(1, 65536 // (THREADS * (256 if TM * TN > 64 else 128)))

    @cuda.jit(launch_bounds=(THREADS, BLOCKS))
    def async_tiled(A, B, C):
        sA = cuda.shared.array((ROWS, PITCH), float32, alignment=16)
        sB = cuda.shared.array((ROWS, BN), float32, alignment=16)
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
        # Blocks take strips of `group` rows of tiles, column by column.
        tiles_x, tiles_y = uint32(cuda.gridDim.x), uint32(cuda.gridDim.y)
        number = uint32(cuda.blockIdx.y) * tiles_x + uint32(cuda.blockIdx.x)
        top = number // (uint32(group) * tiles_x) * uint32(group)
        height = min(uint32(group), tiles_y - top)
        row0 = int32((top + number % (uint32(group) * tiles_x) % height) * uint32(BM))
        col0 = int32(number % (uint32(group) * tiles_x) // height * uint32(BN))
        M, N, K = int32(A.shape[0]), int32(B.shape[1]), int32(A.shape[1])
        # Each layer of the grid adds up its own slice of k, and stores it in a matrix of its own.
        tiles = (K - 1) // BK + 1
        begin = int32(tiles * cuda.blockIdx.z // cuda.gridDim.z * BK)
        end = int32(min(tiles * (cuda.blockIdx.z + 1) // cuda.gridDim.z * BK, K))

        # A copy cannot turn four neighbours along k on their side: A goes float by float.
        row_A, k_A = int32(t // uint32(BK)), int32(t % uint32(BK))
        k_B, col_B = int32(t // uint32(BN // 4)), int32(t % uint32(BN // 4) * uint32(4))
        to_A = uint32(ptx.shared_address(sA) + (k_A * PITCH + row_A) * 4)
        to_B = uint32(ptx.shared_address(sB) + (k_B * BN + col_B) * 4)
        # The last row of A stands in for those beyond it: what comes of it is never stored.
        rows_more = int32(max(0, M - 1 - row0 - row_A))
        first = uint64(min(row0 + row_A, M - 1)) * uint64(K) + uint64(begin + k_A)
        from_A = ptx.global_address(A) + uint64(4) * first
        first = uint64(begin + k_B) * uint64(N) + uint64(col0 + col_B)
        from_B = ptx.global_address(B) + uint64(4) * first
        in_row = int32(col0 + col_B) < N
        left = int32(end - begin)  # steps of k that no copy has been started for
        stage_next = uint32(0)

        for i in range(TM):
            for j in range(TN):
                acc[i, j] = float32(0)
        # All tiles but one are on their way before the first is multiplied.
        for _ in range(stages - 1):
            for i in range(COPIES_A):
                apart = uint64(min(i * ROWS_APART, rows_more)) * uint64(K) * uint64(4)
                to = uint32(to_A + uint32(stage_next * uint32(STAGE_A) + i * ROWS_APART * 4))
                ptx.cp_async_4(to, from_A + apart, 4 if k_A < left else 0)
            for i in range(COPIES_B):
                inside = k_B < int32(left - i * K_APART)
                to = uint32(to_B + uint32(stage_next * uint32(STAGE_B) + i * K_APART * BN * 4))
                source = from_B + uint64(i * K_APART * 4) * uint64(N)
                if wide:
                    ptx.cp_async_16(to, source, 16 if inside and in_row else 0)
                else:
                    for j in range(4):
                        size = 4 if inside and col0 + col_B + j < N else 0
                        ptx.cp_async_4(to + 4 * j, source + uint64(4 * j), size)
            ptx.cp_async_commit_group()
            left = int32(left - BK)
            from_A += uint64(4 * BK)
            from_B += uint64(4 * BK) * uint64(N)
            stage_next = uint32(stage_next + 1)
        # Every thread waits for its own copies, and then for everybody else's.
        ptx.cp_async_wait_group(PENDING)
        cuda.syncthreads()
        for i in range(0, TM, 4):
            a[0, i], a[0, i + 1], a[0, i + 2], a[0, i + 3] = load4(
                sA, uint32(0), ty + uint32(i * DOWN)
            )
        for j in range(0, TN, 4):
            b[0, j], b[0, j + 1], b[0, j + 2], b[0, j + 3] = load4(
                sB, uint32(0), tx + uint32(j * ACROSS)
            )

        # Addresses in 32 bits: what k and the fragment add is a constant, a part of the load. That
        # of sA[row, col] the compiler would compute anew for each.
        here_A = uint32(ptx.shared_address(sA) + ty * uint32(4))
        here_B = uint32(ptx.shared_address(sB) + tx * uint32(4))
        stage, now_A, now_B = uint32(0), here_A, here_B  # of the tile that is multiplied
        for _ in range(int32(0), int32(end - begin), int32(BK)):
            for k in range(BK):
                if k == BK - 1:
                    stage = uint32(0) if stage == stages - 1 else uint32(stage + 1)
                    now_A = uint32(here_A + stage * uint32(STAGE_A))
                    now_B = uint32(here_B + stage * uint32(STAGE_B))
                    ptx.cp_async_wait_group(PENDING)
                    cuda.syncthreads()
                # All have left the stage that is filled now before they met at the last barrier.
                if k == 0:
                    for i in range(COPIES_A):
                        apart = uint64(min(i * ROWS_APART, rows_more)) * uint64(K) * uint64(4)
                        to = uint32(
                            to_A + uint32(stage_next * uint32(STAGE_A) + i * ROWS_APART * 4)
                        )
                        ptx.cp_async_4(to, from_A + apart, 4 if k_A < left else 0)
                    for i in range(COPIES_B):
                        inside = k_B < int32(left - i * K_APART)
                        to = uint32(
                            to_B + uint32(stage_next * uint32(STAGE_B) + i * K_APART * BN * 4)
                        )
                        source = from_B + uint64(i * K_APART * 4) * uint64(N)
                        if wide:
                            ptx.cp_async_16(to, source, 16 if inside and in_row else 0)
                        else:
                            for j in range(4):
                                size = 4 if inside and col0 + col_B + j < N else 0
                                ptx.cp_async_4(to + 4 * j, source + uint64(4 * j), size)
                if k == BK - 2:
                    ptx.cp_async_commit_group()
                    left = int32(left - BK)
                    from_A += uint64(4 * BK)
                    from_B += uint64(4 * BK) * uint64(N)
                    stage_next = uint32(0) if stage_next == stages - 1 else uint32(stage_next + 1)
                # The next k is read into one set of registers while this one is multiplied.
                row, ahead, half = (k + 1) % BK, (k + 1) % 2, k % 2
                for i in range(0, TM, 4):
                    place = uint32(now_A + uint32((row * PITCH + i * DOWN) * 4))
                    a[ahead, i], a[ahead, i + 1], a[ahead, i + 2], a[ahead, i + 3] = (
                        ptx.ld_shared_v4_f32(place)
                    )
                for j in range(0, TN, 4):
                    place = uint32(now_B + uint32((row * BN + j * ACROSS) * 4))
                    b[ahead, j], b[ahead, j + 1], b[ahead, j + 2], b[ahead, j + 3] = (
                        ptx.ld_shared_v4_f32(place)
                    )
                for j in range(TN):
                    for n in range(TM):
                        # Down one column and up the next: where it turns, an operand is used again.
                        i = n if j % 2 == 0 else TM - 1 - n
                        acc[i, j] += a[half, i] * b[half, j]
            unrolled()  # the loop over k

        for i in range(TM):
            row = uint32(row0 + ty + i // 4 * 4 * DOWN + i % 4)
            for j in range(0, TN, 4):
                col = uint32(col0 + tx + j * ACROSS)
                # Adding 0 changes no sum. It lets the 16-byte store take four registers of its own,
                # and acc lie where the loop is fastest.
                p, q = acc[i, j] + float32(0), acc[i, j + 1] + float32(0)
                r, s = acc[i, j + 2] + float32(0), acc[i, j + 3] + float32(0)
                if row < M:
                    layer = uint32(row + cuda.blockIdx.z * M)
                    store4_guarded(C, layer, col, p, q, r, s, wide == 1)
            unrolled()
        unrolled()  # so that each element of acc is a register

    return async_tiled


@dataclass(frozen=True)
class Options(split_k.Options):
    BN: int = option(256, (64, 128, 256), "columns of C that a block computes")
    BK: int = option(8, (8, 16), "steps of K that a block copies at a time")
    TM: int = option(8, (8, 16), "rows of C that a thread computes")
    TN: int = option(16, (8, 16), "columns of C that a thread computes")
    stages: int = option(3, (2, 3, 4), "tiles of each matrix in shared memory")

    at_once = 1, 4  # a copy cannot turn four elements of a row of A on their side

    @property
    def buffers(self):
        return self.stages

    @property
    def held(self):
        return self.TM * self.TN + 2 * (self.TM + self.TN)

    @property
    def registers(self):
        return min(255, self.held + 40)

    def grid_dim(self, M, N):
        """Each part of K is a layer of the grid, with a matrix of its own."""
        across, down = swizzled.Options.grid_dim(self, M, N)
        return across, down, self.split

    def parts_shape(self, M, N):
        return self.split * M, N

    def model(self, M, N, K):
        """The last row of A stands in for those that a tile has beyond it."""
        whole = swizzled.Options.model(self, M, N, K)
        reads = whole.reads | {"A": replace(whole.reads["A"], stand_in=True)}
        if self.split == 1:
            return replace(whole, reads=reads)
        # Where a layer begins in a sector depends on M and N: its requests are not predicted.
        return replace(whole, reads=reads, writes=traffic(M, N, K, 1, 1, self.split).writes)

    def check(self):
        if self.stages < 2:
            raise ValueError(f"stages={self.stages} leaves nothing to copy ahead: use 2, 3 or 4")
        if self.BK % 2:
            raise ValueError(
                f"BK={self.BK} is odd; two sets of registers take turns: use BK={self.BK + 1}"
            )
        super().check()


class AsyncTiled(split_k.SplitK):
    """Both languages take contiguous arrays, and a kernel for rows on 16-byte boundaries or not."""

    def formats(self, product=None):
        return {"wide": self.macros(product)["WIDE"]}

    def numba_arguments(self, product, options):
        return product.on_device

    def in_parts(self, product, options):
        grid, block = options.launch(product.M, product.N)
        A, B, C = product.on_device
        slices = product.workspace(options.parts_shape(product.M, product.N))
        multiply, add = made(self.make, options, **self.formats(product)), split_k.add_parts
        return (
            prepared(multiply, grid, block, (A, B, slices)),
            prepared(
                add(options.split), *split_k.launch_of_sums(product.M, product.N), (slices, C)
            ),
        )


RUNG = AsyncTiled(
    name="async_tiled",
    title="Async copies",
    chapter="07-register-tiling",
    Options=Options,
    make=make_async_tiled,
    engines=("numba", "cpp"),
    choices={
        "numba": ({}, {"split": 4}, {"BN": 128, "WN": 32, "TN": 8, "split": 2}),
        "cpp": ({}, {"split": 4}, {"BN": 128, "WN": 32, "TN": 8, "split": 2}),
    },
    needs=(8, 0),
    instead=split_k.RUNG,
    wide=True,
)
