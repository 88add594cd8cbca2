"""The order of the blocks: those that run at the same time share rows of A and columns of B.

With `split` the blocks also share K between them: for results too small to fill the GPU with tiles.
"""

from dataclasses import replace
from functools import cache

import numpy as np

from kernels import host
from kernels.engine import cuda, float32, uint32
from kernels.engine.vector import aligned16, load4, load4_guarded, store4, store4_guarded, unrolled
from kernels.host import cdiv, cpp
from kernels.host.model import Access, Model, tile_model
from kernels.host.tiles import registers_of
from kernels.rungs.warp_tiled import (  # the same tiles, in another order of the blocks
    PAD,
    stores,
    tiles,
)

WAY_OUT = "use 1, 2, 4 or 8 parts of K"


def make_swizzled(BM, BN, BK, WM, WN, TM, TN, GROUP, split):
    ACROSS, DOWN = WN // TN, WM // TM  # threads of a warp
    WARPS_ACROSS = BN // WN
    THREADS = BM // WM * WARPS_ACROSS * 32
    LOADS_A, LOADS_B = BM * BK // (4 * THREADS), BK * BN // (4 * THREADS)  # of a thread, a tile
    ROWS_A, ROWS_B = THREADS // (BK // 4), THREADS // (BN // 4)  # between two loads of a thread
    ROWS, PITCH = 2 * BK, BM + PAD  # of A's tiles in shared memory
    VALUES = TM * TN + 2 * (TM + TN) + 4 * (LOADS_A + LOADS_B)  # that a thread holds at once
    REGISTERS = registers_of(THREADS, VALUES)
    # Where registers are scarce a tile comes in two parts, and half as many elements wait in them.
    SCARCE = REGISTERS < VALUES + 32 and LOADS_A % 2 == LOADS_B % 2 == 0
    PARTS = 2 if SCARCE else 1
    PART_A, PART_B, STEPS = LOADS_A // PARTS, LOADS_B // PARTS, BK // PARTS

    @cuda.jit(max_registers=REGISTERS)
    def swizzled(A, B, C):
        sA = cuda.shared.array((ROWS, PITCH), float32, alignment=16)
        sB = cuda.shared.array((ROWS, BN), float32, alignment=16)
        acc = cuda.local.array((TM, TN), float32)
        a = cuda.local.array((2, TM), float32)
        b = cuda.local.array((2, TN), float32)
        next_A = cuda.local.array((PART_A, 4), float32)
        next_B = cuda.local.array((PART_B, 4), float32)
        M, N, K = uint32(A.shape[0]), uint32(B.shape[1]), uint32(A.shape[1])
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
        # the tiles of C in another order: GROUP rows of tiles at a time, and in these column by
        # column. Blocks that run together then ask for few rows of A and few columns of B.
        tiles_x, tiles_y = uint32(cuda.gridDim.x), uint32(cuda.gridDim.y // split)
        slab = uint32(cuda.blockIdx.y) // tiles_y if split > 1 else uint32(0)  # of K
        number = uint32(cuda.blockIdx.y) % tiles_y * tiles_x + uint32(cuda.blockIdx.x)
        top = number // (uint32(GROUP) * tiles_x) * uint32(GROUP)
        height = min(uint32(GROUP), tiles_y - top)
        row0 = uint32((top + number % (uint32(GROUP) * tiles_x) % height) * uint32(BM))
        col0 = uint32(number % (uint32(GROUP) * tiles_x) // height * uint32(BN))
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
            plain = inner and k0 + uint32(BK) <= end
            # Past the end there are only zeros.
            next_k = uint32(k0) if split == 1 or k0 < end else K
            # The next tile comes in parts, or at once.
            for part in range(PARTS):
                if plain:
                    for i in range(PART_A):
                        row = row0 + row_A + uint32((part * PART_A + i) * ROWS_A)
                        next_A[i, 0], next_A[i, 1], next_A[i, 2], next_A[i, 3] = load4(
                            A, row, next_k + k_A
                        )
                    for i in range(PART_B):
                        k = next_k + k_B + uint32((part * PART_B + i) * ROWS_B)
                        next_B[i, 0], next_B[i, 1], next_B[i, 2], next_B[i, 3] = load4(
                            B, k, col0 + col_B
                        )
                else:
                    for i in range(PART_A):
                        row = row0 + row_A + uint32((part * PART_A + i) * ROWS_A)
                        next_A[i, 0], next_A[i, 1], next_A[i, 2], next_A[i, 3] = load4_guarded(
                            A, row, next_k + k_A, wide_A
                        )
                    for i in range(PART_B):
                        k = next_k + k_B + uint32((part * PART_B + i) * ROWS_B)
                        next_B[i, 0], next_B[i, 1], next_B[i, 2], next_B[i, 3] = load4_guarded(
                            B, k, col0 + col_B, wide_B
                        )
                for step in range(STEPS):
                    if step == STEPS - 2:
                        for i in range(PART_A):
                            to = row_A + uint32((part * PART_A + i) * ROWS_A)
                            for n in range(4):
                                sA[other + k_A + uint32(n), to] = next_A[i, n]
                        for i in range(PART_B):
                            to = other + k_B + uint32((part * PART_B + i) * ROWS_B)
                            store4(
                                sB, to, col_B,
                                next_B[i, 0], next_B[i, 1], next_B[i, 2], next_B[i, 3],
                            )  # fmt: skip
                    ahead = now + uint32(part * STEPS + step + 1)
                    if part == PARTS - 1 and step == STEPS - 1:
                        # The last k of this tile: the one ahead is the first of the next tile.
                        cuda.syncthreads()
                        ahead = other
                    this, that = step % 2, (step + 1) % 2
                    for i in range(0, TM, 4):
                        a[that, i], a[that, i + 1], a[that, i + 2], a[that, i + 3] = load4(
                            sA, ahead, ty + uint32(i * DOWN)
                        )
                    for j in range(0, TN, 4):
                        b[that, j], b[that, j + 1], b[that, j + 2], b[that, j + 3] = load4(
                            sB, ahead, tx + uint32(j * ACROSS)
                        )
                    for i in range(TM):
                        for place in range(TN):
                            # There and back again: at each turn b's element is still at hand.
                            j = place if i % 2 == 0 else TN - 1 - place
                            acc[i, j] += a[this, i] * b[this, j]
                unrolled()  # the loop over the steps of k
            unrolled()  # the loop over the parts
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

    return swizzled


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


@cache
def kernel(BM=128, BN=128, BK=16, WM=64, WN=64, TM=16, TN=8, GROUP=8, split=1):
    """Return the kernel with swizzled blocks, compiled for these tiles.

    With `split` > 1 its third argument is the workspace of `parts_shape`, for `add_parts`.
    """
    *sizes, _ = tiles(BM, BN, BK, WM, WN, TM, TN)
    return make_swizzled(*sizes, *order(GROUP, split))


@cache
def add_parts(split):
    """Return the kernel that adds `split` partial results, the second launch of two."""
    return make_add_parts(host.check_whole(split, "split", WAY_OUT))


def order(GROUP, split):
    """Return both as ints, checked: rows of tiles that blocks take together, and parts of K."""
    return host.check_group(GROUP, "GROUP"), host.check_whole(split, "split", WAY_OUT)


def launch_of_sums(M, N):
    """Return (grid, block) of `add_parts`: a thread for each element of C (M×N)."""
    # A grid has at most 65535 rows of blocks: for a tall C each block takes more rows.
    cols, rows = (32, 8) if M <= 8 * 65535 else (8, 128)
    return host.check_grid(cdiv(N, cols), cdiv(M, rows)), (cols, rows)


def parts_shape(M, N, split, BM=128):
    """Return the shape of the workspace: `split` results below each other, in whole tiles."""
    return (split * cdiv(M, BM) * BM, N)


def launch(M, N, BM=128, BN=128, BK=16, WM=64, WN=64, TM=16, TN=8, GROUP=8, split=1):
    """Return (grid, block): `split` blocks of warps for each BM × BN elements of C (M×N)."""
    BM, BN, *_, threads = tiles(BM, BN, BK, WM, WN, TM, TN)
    GROUP, split = order(GROUP, split)
    host.check_sizes(M=M, N=N)
    return host.check_grid(cdiv(N, BN), cdiv(M, BM) * split), (threads, 1)


def model(M, N, K, BM=128, BN=128, BK=16, WM=64, WN=64, TM=16, TN=8, GROUP=8, split=1):
    """Predict the traffic of the product: the order of the blocks changes where it is served.

    With `split` > 1 the partial results are stored in C's place; adding them is left out.
    """
    BM, BN, BK, WM, WN, TM, TN, threads = tiles(BM, BN, BK, WM, WN, TM, TN)
    GROUP, split = order(GROUP, split)
    host.check_sizes(M=M, N=N, K=K)
    whole = tile_model(M, N, K, BM, BN, BK, 4, *stores(BN, WM, WN, TM, TN, threads))
    if split == 1:
        return whole
    rows, _ = parts_shape(M, N, split, BM)
    return replace(whole, writes={"C": replace(whole.writes["C"], rows=rows)})


def traffic(M, N, K, BM, BN, split=1):
    """Predict the bytes of C++ twins whose tiles are no requests of single threads."""
    host.check_sizes(M=M, N=N, K=K)

    def access(rows, cols, readers):
        return Access(rows, cols, readers=readers, sweeps=None, height=None, width=None)

    reads = {"A": access(M, K, cdiv(N, BN)), "B": access(K, N, cdiv(M, BM))}
    return Model(flops=2 * M * N * K, reads=reads, writes={"C": access(M, N, split)})


def matmul(
    A, B, out=None, engine="numba",
    BM=128, BN=128, BK=16, WM=64, WN=64, TM=16, TN=8, GROUP=8, split=1,
):  # fmt: skip
    """Return C = A·B, computed in warp tiles by blocks in an order of their own.

    Parameters
    ----------
    A, B, out, engine
        As in `kernels.rungs.tiled.matmul`.
    BM, BN : int
        Rows and columns of C that a block computes.
    BK : int
        Steps of K that a block loads at a time.
    WM, WN : int
        Rows and columns of C that a warp computes.
    TM, TN : int
        Rows and columns of the results of a thread, multiples of 4; 32 thread tiles fill the
        tile of a warp.
    GROUP : int
        Rows of tiles that blocks take together, column by column: 1 to 32.
    split : int
        Parts of K, each computed by blocks of its own and added afterwards: for results of fewer
        tiles than the GPU has SMs.

    Returns
    -------
    array of float32, shape (M, N)
        `out`, or a new array of the kind of A and B.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        One line that names the value, the limit and the way out.
    """
    product = host.Product(A, B, out, engine)
    sizes = {"BM": BM, "BN": BN, "BK": BK, "WM": WM, "WN": WN, "TM": TM, "TN": TN, "GROUP": GROUP}
    launches(product, engine, split, sizes)()
    return product.result()


def prepare(A, B, C, engine, split=1, **sizes):
    """Return a function that computes C = A·B on CuPy arrays, with little work of the host."""
    host.check_resident(A=A, B=B, C=C)
    return launches(host.Product(A, B, C, engine), engine, split, sizes)


def launches(product, engine, split, sizes):
    """Return a function that launches the kernel and, with `split` > 1, the one that adds."""
    grid, threads = launch(product.M, product.N, **sizes, split=split)
    if engine == "cpp":
        layers = (grid[0], grid[1] // split, split)
        return in_layers(lambda WIDE: twin(**sizes, WIDE=WIDE), product, layers, threads)
    *inputs, result = product.arguments()
    BM = sizes.get("BM", 128)
    C = product.workspace(parts_shape(product.M, product.N, split, BM)) if split > 1 else result
    multiply, arrays = kernel(**sizes, split=split)[grid, threads], host.wrapped(*inputs, C)
    if split == 1:
        return lambda: multiply(*arrays)
    add = add_parts(split)[launch_of_sums(product.M, product.N)]
    parts = host.wrapped(C, result)

    def both():
        multiply(*arrays)
        add(*parts)

    return both


def twin(BM=128, BN=128, BK=16, WM=64, WN=64, TM=16, TN=8, GROUP=8, split=1, WIDE=1):
    """Return the CUDA C++ kernel, compiled for these tiles; it is the same for every `split`."""
    BM, BN, BK, WM, WN, TM, TN, _ = tiles(BM, BN, BK, WM, WN, TM, TN)
    sizes = {"BM": BM, "BN": BN, "BK": BK, "WM": WM, "WN": WN, "TM": TM, "TN": TN}
    return cpp.load("swizzled", **sizes, GROUP=GROUP, WIDE=WIDE)


def in_layers(twin, product, grid, threads):
    """Return a function that launches a C++ kernel whose blocks share K in layers of the grid.

    Parameters
    ----------
    twin : callable
        Returns the kernel for ``WIDE=0`` or ``WIDE=1``.
    product : kernels.host.Product
    grid, threads : tuple of int
        With more than one layer each leaves its sums in a matrix of its own; a second kernel adds
        them.
    """
    A, B, C, M, N, K = product.cpp_arguments()
    layers = grid[2]
    sums = product.workspace((layers, product.M, product.N)) if layers > 1 else C
    wide = host.wide(A, B, C)
    multiply, arguments = twin(wide), (A, B, sums, M, N, K)
    if layers == 1:
        return lambda: multiply(grid, threads, arguments)
    add, size = cpp.load("swizzled", "add_slices"), product.M * product.N
    blocks = min(cdiv(size, 256), 2**20)
    parts = (sums, C, np.int64(size), np.int32(layers))

    def both():
        multiply(grid, threads, arguments)
        add((blocks,), (256,), parts)

    return both
