"""The order of the blocks: those that run at the same time share rows of A and columns of B."""

from dataclasses import dataclass

from kernels.backend import cuda, float32, uint32
from kernels.backend.vector import aligned16, load4, load4_guarded, store4, store4_guarded, unrolled
from kernels.host import check_group, option
from kernels.host.rung import Rung
from kernels.host.tiles import WarpTiles, registers_of

PAD = 4  # elements between the rows of A's tile, so that its columns spread over the banks


def make_swizzled(BM, BN, BK, WM, WN, TM, TN, group):
    ACROSS, DOWN = WN // TN, WM // TM  # threads of a warp
    WARPS_ACROSS = BN // WN
    THREADS = BM // WM * WARPS_ACROSS * 32
    LOADS_A, LOADS_B = BM * BK // (4 * THREADS), BK * BN // (4 * THREADS)  # of a thread, a tile
    ROWS, PITCH = 2 * BK, BM + PAD  # of A's tiles in shared memory
    REGISTERS = registers_of(THREADS, TM * TN + 2 * (TM + TN) + 4 * (LOADS_A + LOADS_B))

    @cuda.jit(max_registers=REGISTERS)
    def swizzled(A, B, C):
        sA = cuda.shared.array((ROWS, PITCH), float32, alignment=16)
        sB = cuda.shared.array((ROWS, BN), float32, alignment=16)
        acc = cuda.local.array((TM, TN), float32)
        # Two sets of registers: one is multiplied while the other is read for the next k.
        a = cuda.local.array((2, TM), float32)
        b = cuda.local.array((2, TN), float32)
        next_A = cuda.local.array((LOADS_A, 4), float32)
        next_B = cuda.local.array((LOADS_B, 4), float32)
        t = uint32(cuda.threadIdx.x)
        warp = t // uint32(32)
        lane = t % uint32(32)
        # Where the thread's first square of 4 × 4 results lies in the block's tile of C.
        wx = warp % uint32(WARPS_ACROSS) * uint32(WN)
        wy = warp // uint32(WARPS_ACROSS) * uint32(WM)
        tx = wx + lane % uint32(ACROSS) * uint32(4)
        ty = wy + lane // uint32(ACROSS) * uint32(4)
        # Blocks start in the order of their numbers, a row of the grid after the other. They take
        # the tiles of C in another order: `group` rows of tiles at a time, and in these column by
        # column. Blocks that run together then ask for few rows of A and few columns of B.
        tiles_x, tiles_y = uint32(cuda.gridDim.x), uint32(cuda.gridDim.y)
        number = uint32(cuda.blockIdx.y) * tiles_x + uint32(cuda.blockIdx.x)
        top = number // (uint32(group) * tiles_x) * uint32(group)
        height = min(uint32(group), tiles_y - top)
        row0 = uint32((top + number % (uint32(group) * tiles_x) % height) * uint32(BM))
        col0 = uint32(number % (uint32(group) * tiles_x) // height * uint32(BN))
        K = uint32(A.shape[1])
        wide_A, wide_B, wide_C = aligned16(A), aligned16(B), aligned16(C)

        for i in range(TM):
            for j in range(TN):
                acc[i, j] = float32(0)
        # The first tile has nothing to hide behind.
        for i in range(LOADS_A):
            row = (t * uint32(4) + uint32(i * 4 * THREADS)) // uint32(BK)
            k = (t * uint32(4) + uint32(i * 4 * THREADS)) % uint32(BK)
            p, q, r, s = load4_guarded(A, row0 + row, k, wide_A)
            sA[k, row] = p
            sA[k + uint32(1), row] = q
            sA[k + uint32(2), row] = r
            sA[k + uint32(3), row] = s
        for i in range(LOADS_B):
            k = (t * uint32(4) + uint32(i * 4 * THREADS)) // uint32(BN)
            col = (t * uint32(4) + uint32(i * 4 * THREADS)) % uint32(BN)
            p, q, r, s = load4_guarded(B, k, col0 + col, wide_B)
            store4(sB, k, col, p, q, r, s)
        cuda.syncthreads()
        for i in range(0, TM, 4):
            a[0, i], a[0, i + 1], a[0, i + 2], a[0, i + 3] = load4(
                sA, uint32(0), ty + uint32(i * DOWN)
            )
        for j in range(0, TN, 4):
            b[0, j], b[0, j + 1], b[0, j + 2], b[0, j + 3] = load4(
                sB, uint32(0), tx + uint32(j * ACROSS)
            )

        now = uint32(0)  # the tile that is computed starts at this row, the other at BK - now
        for k0 in range(uint32(BK), K + uint32(BK), uint32(BK)):
            # Ask for the next tile, and do not wait for it. (Past the end there are only zeros.)
            for i in range(LOADS_A):
                row = (t * uint32(4) + uint32(i * 4 * THREADS)) // uint32(BK)
                k = (t * uint32(4) + uint32(i * 4 * THREADS)) % uint32(BK)
                next_A[i, 0], next_A[i, 1], next_A[i, 2], next_A[i, 3] = load4_guarded(
                    A, row0 + row, k0 + k, wide_A
                )
            for i in range(LOADS_B):
                k = (t * uint32(4) + uint32(i * 4 * THREADS)) // uint32(BN)
                col = (t * uint32(4) + uint32(i * 4 * THREADS)) % uint32(BN)
                next_B[i, 0], next_B[i, 1], next_B[i, 2], next_B[i, 3] = load4_guarded(
                    B, k0 + k, col0 + col, wide_B
                )
            for step in range(0, BK, 2):
                for half in range(2):
                    if step + half == BK - 1:
                        # The last k of this tile: the one ahead is the first of the next tile.
                        now = uint32(BK) - now
                        for i in range(LOADS_A):
                            row = (t * uint32(4) + uint32(i * 4 * THREADS)) // uint32(BK)
                            k = (t * uint32(4) + uint32(i * 4 * THREADS)) % uint32(BK) + now
                            for part in range(4):
                                sA[k + uint32(part), row] = next_A[i, part]
                        for i in range(LOADS_B):
                            k = (t * uint32(4) + uint32(i * 4 * THREADS)) // uint32(BN) + now
                            col = (t * uint32(4) + uint32(i * 4 * THREADS)) % uint32(BN)
                            store4(
                                sB, k, col, next_B[i, 0], next_B[i, 1], next_B[i, 2], next_B[i, 3]
                            )
                        cuda.syncthreads()
                    ahead = now + uint32((step + half + 1) % BK)
                    for i in range(0, TM, 4):
                        (
                            a[1 - half, i],
                            a[1 - half, i + 1],
                            a[1 - half, i + 2],
                            a[1 - half, i + 3],
                        ) = load4(sA, ahead, ty + uint32(i * DOWN))
                    for j in range(0, TN, 4):
                        (
                            b[1 - half, j],
                            b[1 - half, j + 1],
                            b[1 - half, j + 2],
                            b[1 - half, j + 3],
                        ) = load4(sB, ahead, tx + uint32(j * ACROSS))
                    for i in range(TM):
                        for j in range(TN):
                            acc[i, j] += a[half, i] * b[half, j]
            unrolled()  # the loop over k

        for i in range(TM):
            row = row0 + ty + uint32(i // 4 * 4 * DOWN + i % 4)
            for j in range(0, TN, 4):
                col = col0 + tx + uint32(j * ACROSS)
                store4_guarded(
                    C, row, col, acc[i, j], acc[i, j + 1], acc[i, j + 2], acc[i, j + 3], wide_C
                )
            unrolled()
        unrolled()  # so that each element of acc is a register

    return swizzled


@dataclass(frozen=True)
class Options(WarpTiles):
    group: int = option(8, (4, 8, 16), "rows of tiles that blocks take together, column by column")

    def check(self):
        check_group(self.group, "group")
        super().check()


RUNG = Rung(
    name="swizzled",
    title="Block swizzling",
    chapter="07-register-tiling",
    Options=Options,
    make=make_swizzled,
    choices={"numba": ({},), "cpp": ({"WN": 32, "TM": 8},)},
    wide=True,
)
