"""Split-K: several blocks share one tile of C, for results of too few tiles to fill the GPU.

With `split` > 1 each block adds up its own part of K, and a second launch adds the parts. Large
matrices whose rows begin on no 16-byte boundary are copied to some whose rows do, in every launch.
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from kernels import host
from kernels.backend import cuda, float32, uint32
from kernels.backend.vector import aligned16, load4, load4_guarded, store4, store4_guarded, unrolled
from kernels.host import cdiv, cpp, option, realigned
from kernels.host.follow import prepared
from kernels.host.rung import Rung, made
from kernels.host.tiles import registers_of
from kernels.rungs import swizzled

PAD = 4  # elements between the rows of A's tile, so that its columns spread over the banks


def make_split_k(BM, BN, BK, WM, WN, TM, TN, group, split):
    ACROSS, DOWN = WN // TN, WM // TM  # threads of a warp
    WARPS_ACROSS = BN // WN
    THREADS = BM // WM * WARPS_ACROSS * 32
    LOADS_A, LOADS_B = BM * BK // (4 * THREADS), BK * BN // (4 * THREADS)  # of a thread, a tile
    ROWS_A, ROWS_B = THREADS // (BK // 4), THREADS // (BN // 4)  # between two loads of a thread
    ROWS, PITCH = 2 * BK, BM + PAD  # of A's tiles in shared memory
    REGISTERS = registers_of(THREADS, TM * TN + 2 * (TM + TN) + 4 * (LOADS_A + LOADS_B))

    @cuda.jit(max_registers=REGISTERS)
    def split_k(A, B, C):
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
        tx = uint32(wx + lane % uint32(ACROSS) * uint32(4))
        ty = uint32(wy + lane // uint32(ACROSS) * uint32(4))
        # What the thread loads of each tile: this, and the same ROWS_A or ROWS_B further down.
        row_A, k_A = uint32(t // uint32(BK // 4)), uint32(t % uint32(BK // 4) * uint32(4))
        k_B, col_B = uint32(t // uint32(BN // 4)), uint32(t % uint32(BN // 4) * uint32(4))
        # Blocks start in the order of their numbers, a row of the grid after the other. They take
        # the tiles of C in another order: `group` rows of tiles at a time, and in these column by
        # column. Blocks that run together then ask for few rows of A and few columns of B.
        tiles_x, tiles_y = uint32(cuda.gridDim.x), uint32(cuda.gridDim.y // split)
        slab = uint32(cuda.blockIdx.y) // tiles_y if split > 1 else uint32(0)  # of K
        number = uint32(cuda.blockIdx.y) % tiles_y * tiles_x + uint32(cuda.blockIdx.x)
        top = number // (uint32(group) * tiles_x) * uint32(group)
        height = min(uint32(group), tiles_y - top)
        row0 = uint32((top + number % (uint32(group) * tiles_x) % height) * uint32(BM))
        col0 = uint32(number % (uint32(group) * tiles_x) // height * uint32(BN))
        M, N, K = uint32(A.shape[0]), uint32(B.shape[1]), uint32(A.shape[1])
        # With split > 1, C is `split` results one below the other: each block adds up a part of K.
        depth = (K + uint32(BK * split - 1)) // uint32(BK * split) * uint32(BK)
        start = uint32(slab * depth)
        end = uint32(min(start + depth, K)) if split > 1 else K
        C_row0 = row0 + slab * tiles_y * uint32(BM)
        wide_A, wide_B, wide_C = aligned16(A), aligned16(B), aligned16(C)
        # Most blocks lie whole inside C, and need no guard until K ends.
        inner = wide_A and wide_B and row0 + uint32(BM) <= M and col0 + uint32(BN) <= N

        for i in range(TM):
            for j in range(TN):
                acc[i, j] = float32(0)
        # The first tile has nothing to hide behind.
        for i in range(LOADS_A):
            row = row_A + uint32(i * ROWS_A)
            p, q, r, s = load4_guarded(A, row0 + row, start + k_A, wide_A)
            sA[k_A, row] = p
            sA[k_A + uint32(1), row] = q
            sA[k_A + uint32(2), row] = r
            sA[k_A + uint32(3), row] = s
        for i in range(LOADS_B):
            k = k_B + uint32(i * ROWS_B)
            p, q, r, s = load4_guarded(B, start + k, col0 + col_B, wide_B)
            store4(sB, k, col_B, p, q, r, s)
        cuda.syncthreads()
        for i in range(0, TM, 4):
            a[0, i], a[0, i + 1], a[0, i + 2], a[0, i + 3] = load4(
                sA, uint32(0), ty + uint32(i * DOWN)
            )
        for j in range(0, TN, 4):
            b[0, j], b[0, j + 1], b[0, j + 2], b[0, j + 3] = load4(
                sB, uint32(0), tx + uint32(j * ACROSS)
            )

        now = uint32(0)  # the tile that is computed starts at this row, the next at `other`
        for k0 in range(start + uint32(BK), end + uint32(BK), uint32(BK)):
            other = uint32(BK) - now
            # Ask for the next tile, and do not wait for it. (Past the end there are only zeros.)
            next_k = uint32(k0) if split == 1 or k0 < end else K
            if inner and k0 + uint32(BK) <= end:
                for i in range(LOADS_A):
                    row = row0 + row_A + uint32(i * ROWS_A)
                    next_A[i, 0], next_A[i, 1], next_A[i, 2], next_A[i, 3] = load4(
                        A, row, next_k + k_A
                    )
                for i in range(LOADS_B):
                    k = next_k + k_B + uint32(i * ROWS_B)
                    next_B[i, 0], next_B[i, 1], next_B[i, 2], next_B[i, 3] = load4(
                        B, k, col0 + col_B
                    )
            else:
                for i in range(LOADS_A):
                    row = row0 + row_A + uint32(i * ROWS_A)
                    next_A[i, 0], next_A[i, 1], next_A[i, 2], next_A[i, 3] = load4_guarded(
                        A, row, next_k + k_A, wide_A
                    )
                for i in range(LOADS_B):
                    k = next_k + k_B + uint32(i * ROWS_B)
                    next_B[i, 0], next_B[i, 1], next_B[i, 2], next_B[i, 3] = load4_guarded(
                        B, k, col0 + col_B, wide_B
                    )
            for step in range(0, BK, 2):
                for half in range(2):
                    if step + half == BK - 2:
                        for i in range(LOADS_A):
                            row = row_A + uint32(i * ROWS_A)
                            for part in range(4):
                                sA[other + k_A + uint32(part), row] = next_A[i, part]
                        for i in range(LOADS_B):
                            k = other + k_B + uint32(i * ROWS_B)
                            store4(
                                sB, k, col_B, next_B[i, 0], next_B[i, 1], next_B[i, 2], next_B[i, 3]
                            )
                    ahead = now + uint32(step + half + 1)
                    if step + half == BK - 1:
                        # The last k of this tile: the one ahead is the first of the next tile.
                        cuda.syncthreads()
                        ahead = other
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
                        for place in range(TN):
                            # There and back again: at each turn b's element is still at hand.
                            j = place if i % 2 == 0 else TN - 1 - place
                            acc[i, j] += a[half, i] * b[half, j]
            unrolled()  # the loop over k
            now = other

        for i in range(TM):
            row = C_row0 + ty + uint32(i // 4 * 4 * DOWN + i % 4)
            for j in range(0, TN, 4):
                col = col0 + tx + uint32(j * ACROSS)
                # Adding 0 changes no sum. It lets the 16-byte store take four registers of its own,
                # and acc lie where the loop is fastest.
                p, q = acc[i, j] + float32(0), acc[i, j + 1] + float32(0)
                r, s = acc[i, j + 2] + float32(0), acc[i, j + 3] + float32(0)
                store4_guarded(C, row, col, p, q, r, s, wide_C)
            unrolled()
        unrolled()  # so that each element of acc is a register

    return split_k


def make_add_parts(split):
    @cuda.jit
    def add_parts(parts, C):
        col = uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
        row = uint32(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
        if row < C.shape[0] and col < C.shape[1]:
            # Always in the same order: the sum is the same to the last bit in every run.
            acc = float32(0)
            for part in range(split):
                acc += parts[row + uint32(part) * uint32(parts.shape[0] // split), col]
            C[row, col] = acc

    return add_parts


@dataclass(frozen=True)
class Options(swizzled.Options):
    split: int = option(1, (1, 2, 4, 8), "parts of K, each for blocks of its own")

    @property
    def macros(self):
        macros = super().macros
        del macros["SPLIT"]  # the C++ counterpart reads it from the grid
        return macros

    def grid_dim(self, M, N):
        across, down = super().grid_dim(M, N)
        return across, down * self.split

    def parts_shape(self, M, N):
        """The shape of the workspace: `split` results below each other, in whole tiles."""
        return self.split * cdiv(M, self.BM) * self.BM, N

    def model(self, M, N, K):
        """The parts are stored in C's place; adding them is left out."""
        whole = super().model(M, N, K)
        if self.split == 1:
            return whole
        rows, _ = self.parts_shape(M, N)
        return replace(whole, writes={"C": replace(whole.writes["C"], rows=rows)})


class SplitK(Rung):
    """A rung whose blocks share K: a second launch adds what they leave."""

    def copies(self, M, N, K, dtype=""):
        return realigned.pays(M, N, K)

    def launcher(self, product, options):
        if self.copies(product.M, product.N, product.K):
            return realigned.launcher(product, lambda copies: self.launcher(copies, options))
        if options.split == 1:
            return super().launcher(product, options)
        in_parts = self.in_slices if product.engine == "cpp" else self.in_parts
        multiply, add = in_parts(product, options)

        def both():
            multiply()
            add()

        return both

    def in_parts(self, product, options):
        """The two launches in Numba: the parts lie below each other, in whole tiles."""
        grid, block = options.launch(product.M, product.N)
        *inputs, C = product.arguments()
        parts = product.workspace(options.parts_shape(product.M, product.N))
        multiply, add = made(self.make, options), add_parts(options.split)
        return (
            prepared(multiply, grid, block, (*inputs, parts)),
            prepared(add, *launch_of_sums(product.M, product.N), (parts, C)),
        )

    def in_slices(self, product, options):
        """The two launches in CUDA C++: the grid has a layer for each part, and a matrix."""
        _, block = options.launch(product.M, product.N)
        grid = *swizzled.Options.grid_dim(options, product.M, product.N), options.split
        A, B, C, *sizes = product.cpp_arguments()
        slices = product.workspace((options.split, product.M, product.N))
        arguments = A, B, slices, *sizes
        multiply, add = self.load(options, product), cpp.load("split_k", "add_slices")
        sums = slices, C, np.int64(C.size), np.int32(options.split)
        blocks = min(cdiv(C.size, 256), 2**20)
        return prepared(multiply, grid, block, arguments), prepared(add, (blocks,), (256,), sums)


@cache
def add_parts(split):
    """Return the kernel that adds `split` parts, the second launch of two."""
    return make_add_parts(split)


def launch_of_sums(M, N):
    """Return (grid, block) of `add_parts`: a thread for each element of C (M×N)."""
    # A grid has at most 65535 rows of blocks: for a tall C each block takes more rows.
    cols, rows = (32, 8) if M <= 8 * 65535 else (8, 128)
    return host.check_grid(cdiv(N, cols), cdiv(M, rows)), (cols, rows)


RUNG = SplitK(
    name="split_k",
    title="Split-K",
    chapter="07-register-tiling",
    Options=Options,
    make=make_split_k,
    choices={
        "numba": (
            {},
            {"split": 4},
            {"BK": 8, "WN": 32, "TM": 8},
            {"BM": 64, "BN": 64, "WM": 32, "WN": 32, "TM": 4, "TN": 8},
            {"BN": 256, "BK": 8},
        ),
        "cpp": (
            {"WN": 32, "TM": 8},
            {"WN": 32, "TM": 8, "split": 4},
            {"BM": 64, "BN": 64, "WM": 32, "WN": 32, "TM": 8, "TN": 4},
        ),
    },
    wide=True,
)
