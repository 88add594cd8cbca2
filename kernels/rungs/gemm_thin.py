"""The general product where C is thin, at most a few rows or columns: memory sets its speed.

Most of the bytes are those of one operand, here X, R × K. Every element of it is read once, into
registers, by 16 bytes where they lie side by side, and multiplied by a few rows of the other, Y.
The warps of a block share its steps of k, and so do the blocks of a tile: the last of them to end
adds what all have left in memory, always in the same order, and stores C.
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from kernels import host, ptx
from kernels.backend import cuda, cupy, float32, int32, uint32, uint64
from kernels.backend.vector import unrolled
from kernels.host import cdiv, half, option
from kernels.host.follow import prepared
from kernels.host.model import traffic
from kernels.host.rung import Rung, made
from kernels.rungs import split_k
from kernels.rungs.gemm import GemmProduct, epilogue_of, pair_of, put_of, reader

WARPS, WARP = 8, 32
THREADS = WARPS * WARP


@cache
def load_of(dtype: str):
    """The function of kernels that reads 16 bytes as float32: four numbers, or eight."""
    pair = pair_of(dtype)
    if dtype == "float32":

        @cuda.jit(device=True)
        def load(place):
            a, b, c, d = ptx.ld_global_v4_u32(place)
            return (
                ptx.uint_as_float(a), ptx.uint_as_float(b),
                ptx.uint_as_float(c), ptx.uint_as_float(d),
            )  # fmt: skip

    else:

        @cuda.jit(device=True)
        def load(place):
            a, b, c, d = ptx.ld_global_v4_u32(place)
            a0, a1 = pair(a)
            b0, b1 = pair(b)
            c0, c1 = pair(c)
            d0, d1 = pair(d)
            return a0, a1, b0, b1, c0, c1, d0, d1

    return load


def make_gemm_thin(
    T, PER, split, dtype="float32", near="k", wide=False, wide_Y=False, thin_A=True,
    out_dtype="float32", activation="", bias="", adds=False,
):  # fmt: skip
    """`near`: along which axis of X neighbours in memory lie, k or r; `thin_A`: whether Y is A."""
    SIZE = 4 if dtype == "float32" else 2
    V = 16 // SIZE  # numbers of X that a thread reads at once, or one by one
    APART = 1 if wide else WARP  # between two of them
    STEP = V if wide else 1  # between those of one lane and the next
    ALONG_K = near == "k"
    ROWS = PER if ALONG_K else WARP * V  # of X that a block takes
    MINE = PER if ALONG_K else V  # of those, a thread's
    AHEAD = PER  # steps of k whose numbers are on their way together, where they lie along r
    SUMS = PER * T if ALONG_K else WARP * V  # that meet in shared memory at a time
    PARTS = split > 1
    number, load = reader(dtype), load_of(dtype)
    biased, before, finish = epilogue_of(activation, bias, adds, out_dtype)
    put = put_of(out_dtype)

    @cuda.jit(device=True)
    def store(C, biases, alpha, beta, z, t, r, x):
        row, col = (t, r) if thin_A else (r, t)
        b, c = biased(biases, col, col + 1), before(C, z, row, col, row + 1, col + 1)
        put(C, z, row, col, finish(x, alpha, beta, b, c))

    @cuda.jit(launch_bounds=(THREADS, 2 if T * max(V, PER) <= 32 else 1))
    def gemm_thin(X, Y, C, biases, left, ended, alpha, beta, step_X, step_Y, few, R, K, span):
        meeting = cuda.shared.array((WARPS, SUMS), float32)
        last = cuda.shared.array(1, int32)
        acc = cuda.local.array((MINE, T), float32)
        x = cuda.local.array((PER, V), float32)
        y = cuda.local.array((T, V if ALONG_K else PER), float32)
        tid = int32(cuda.threadIdx.x)
        warp, lane = int32(tid // WARP), int32(tid % WARP)
        strips = int32((few + T - 1) // T)
        z, t0 = int32(cuda.blockIdx.z // strips), int32(cuda.blockIdx.z % strips * T)
        z_X, z_Y = int32(z * step_X), int32(z * step_Y)
        part, row0 = int32(cuda.blockIdx.y), int32(cuda.blockIdx.x * ROWS)
        begin = int32(part * span)
        stop = int32(min(K, begin + span))
        for i in range(MINE):
            for t in range(T):
                acc[i, t] = float32(0)

        # Nothing is read behind a comparison, so all reads of a round are on their way together:
        # beyond an edge what lies before it is read again, and taken as 0 or not stored.
        if ALONG_K:
            for k0 in range(int32(begin + warp * (WARP * V)), stop, int32(THREADS * V)):
                k = int32(k0 + lane * STEP)
                for i in range(MINE):
                    at = int32(min(row0 + i, R - 1))
                    if wide:
                        from_X = ptx.global_address(X) + uint64(
                            z_X * X.strides[0] + at * X.strides[1] + min(k, stop - V) * SIZE
                        )
                        if V == 4:
                            x[i, 0], x[i, 1], x[i, 2], x[i, 3] = load(from_X)
                        else:
                            (
                                x[i, 0], x[i, 1], x[i, 2], x[i, 3],
                                x[i, 4], x[i, 5], x[i, 6], x[i, 7],
                            ) = load(from_X)  # fmt: skip
                    else:
                        for j in range(V):
                            x[i, j] = number(X[z_X, at, min(k + j * APART, stop - 1)])
                for t in range(T):
                    at = int32(min(t0 + t, few - 1))
                    if wide_Y:
                        from_Y = ptx.global_address(Y) + uint64(
                            z_Y * Y.strides[0] + at * Y.strides[1] + min(k, stop - V) * SIZE
                        )
                        if V == 4:
                            y[t, 0], y[t, 1], y[t, 2], y[t, 3] = load(from_Y)
                        else:
                            (
                                y[t, 0], y[t, 1], y[t, 2], y[t, 3],
                                y[t, 4], y[t, 5], y[t, 6], y[t, 7],
                            ) = load(from_Y)  # fmt: skip
                    else:
                        for j in range(V):
                            y[t, j] = number(Y[z_Y, at, min(k + j * APART, stop - 1)])
                for j in range(V):
                    inside = k + j * APART < stop
                    for t in range(T):
                        y[t, j] = y[t, j] if inside else float32(0)
                    for i in range(MINE):
                        x[i, j] = x[i, j] if inside else float32(0)
                        for t in range(T):
                            acc[i, t] += x[i, j] * y[t, j]
        else:
            for k0 in range(int32(begin + warp * AHEAD), stop, int32(WARPS * AHEAD)):
                for u in range(AHEAD):
                    k = int32(min(k0 + u, stop - 1))
                    if wide:
                        r = int32(min(row0 + lane * V, R - V))
                        from_X = ptx.global_address(X) + uint64(
                            z_X * X.strides[0] + k * X.strides[2] + r * SIZE
                        )
                        if V == 4:
                            x[u, 0], x[u, 1], x[u, 2], x[u, 3] = load(from_X)
                        else:
                            (
                                x[u, 0], x[u, 1], x[u, 2], x[u, 3],
                                x[u, 4], x[u, 5], x[u, 6], x[u, 7],
                            ) = load(from_X)  # fmt: skip
                    else:
                        for j in range(V):
                            r = int32(min(row0 + lane + WARP * j, R - 1))
                            x[u, j] = number(X[z_X, r, k])
                for u in range(AHEAD):
                    k = int32(min(k0 + u, stop - 1))
                    for t in range(T):
                        y[t, u] = number(Y[z_Y, int32(min(t0 + t, few - 1)), k])
                for u in range(AHEAD):
                    inside = k0 + u < stop
                    for t in range(T):
                        y[t, u] = y[t, u] if inside else float32(0)
                    for j in range(V):
                        x[u, j] = x[u, j] if inside else float32(0)
                        for t in range(T):
                            acc[j, t] += x[u, j] * y[t, u]

        # The warps meet, and a thread adds up what they bring for one element.
        if ALONG_K:
            for i in range(MINE):
                for t in range(T):
                    total = acc[i, t]
                    for away in (16, 8, 4, 2, 1):
                        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, away)
                    if lane == 0:
                        meeting[warp, i * T + t] = total
                unrolled()
            unrolled()
            cuda.syncthreads()
            if tid < SUMS:
                total = float32(0)
                for w in range(WARPS):
                    total += meeting[w, tid]
                t, r = int32(t0 + tid % T), int32(row0 + tid // T)
                if t < few and r < R:
                    if PARTS:
                        left[part, z, t, r] = total
                    else:
                        store(C, biases, alpha, beta, z, t, r, total)
        else:
            for n in range(T):
                cuda.syncthreads()
                for j in range(V):
                    meeting[warp, lane * STEP + j * APART] = acc[j, n]
                unrolled()
                cuda.syncthreads()
                if tid < SUMS:
                    total = float32(0)
                    for w in range(WARPS):
                        total += meeting[w, tid]
                    t, r = int32(t0 + n), int32(row0 + tid)
                    if t < few and r < R:
                        if PARTS:
                            left[part, z, t, r] = total
                        else:
                            store(C, biases, alpha, beta, z, t, r, total)
            unrolled()
        if PARTS:
            cuda.threadfence()
            cuda.syncthreads()
            parts = int32(cuda.gridDim.y)
            if tid == 0:
                tile = cuda.blockIdx.z * cuda.gridDim.x + cuda.blockIdx.x
                # From the last it goes back to 0, for the next launch.
                last[0] = cuda.atomic.inc(ended, tile, uint32(parts - 1)) == parts - 1
            cuda.syncthreads()
            if last[0]:
                cuda.threadfence()
                for e in range(tid, ROWS * T, THREADS):
                    t, r = int32(t0 + e // ROWS), int32(row0 + e % ROWS)
                    if t < few and r < R:
                        total = float32(0)
                        for p in range(parts):
                            total += left[p, z, t, r]
                        store(C, biases, alpha, beta, z, t, r, total)

    return gemm_thin


@dataclass(frozen=True)
class Options(host.Options):
    T: int = option(8, (1, 2, 4, 8, 16), "rows or columns of C computed together", only=True)
    PER: int = option(4, (2, 4, 8), "rows of X, or steps of k, read at once", only=True)
    split: int = option(1, (1, 2, 4, 8), "parts of K, each for blocks of its own")

    registers = 128

    @property
    def block_dim(self):
        return (THREADS,)

    @property
    def block_tile(self):
        """Where neighbours lie along k; otherwise a block takes 128 rows or more."""
        return self.T, self.PER, THREADS * 4

    @property
    def shared_bytes(self):
        return 4 * WARPS * max(self.PER * self.T, WARP * 8) + 4

    def grid_dim(self, M, N):
        few, many = sorted((M, N))
        return cdiv(many, self.PER), self.split, cdiv(few, self.T)

    def model(self, M, N, K):
        """What is long is loaded once for `T` rows or columns of what is short."""
        return traffic(M, N, K, self.T, self.PER, self.split)


def steps(array, axis: int) -> bool:
    """Whether 16 bytes at a time may be read along an axis of a batch of matrices."""
    each = 16 // array.itemsize
    others = [s for a, s in enumerate(array.strides) if a != axis and array.shape[a] > 1]
    return (
        array.strides[axis] == array.itemsize
        and array.shape[axis] % each == 0
        and host.address(array) % 16 == 0
        and all(s % 16 == 0 and s > 0 for s in others)
    )


class GemmThin(Rung):
    """The rung with its operands, as they lie; not of a group."""

    def operands(self, A, B, out, engine):
        return GemmProduct(A, B, out)

    def check_resident(self, A, B, C):
        """Any strides are taken."""

    def launcher(self, product, options):
        A, B, bias, C = product.arrays
        thin_A = product.M <= product.N
        X, Y = (B.swapaxes(1, 2), A) if thin_A else (A, B.swapaxes(1, 2))
        few, R, K = (Y.shape[1], X.shape[1], product.K)
        T = min(options.T, 1 << (few - 1).bit_length())
        near = "r" if X.strides[1] == X.itemsize != X.strides[2] or K == 1 else "k"
        wide = steps(X, 1 if near == "r" else 2)
        each = 16 // X.itemsize
        rows = options.PER if near == "k" else WARP * each
        tiles, strips = cdiv(R, rows), product.batch * cdiv(few, T)
        span = WARP * each if near == "k" else options.PER
        span *= cdiv(cdiv(K, span), max(1, min(options.split, cdiv(K, span))))
        parts = cdiv(K, span)
        grid = host.check_grid(tiles, parts, strips)
        kernel = made(
            self.make, replace(options, T=T, split=min(parts, 2)), dtype=product.format, near=near,
            wide=wide, wide_Y=wide and near == "k" and steps(Y, 2), thin_A=thin_A,
            **product.formats,
        )  # fmt: skip
        shape = (parts, product.batch, few, R) if parts > 1 else (1, 1, 1, 1)
        left, ended = product.workspace(shape), cupy.zeros(tiles * strips, np.uint32)
        scales, sizes = product.scales, half.int32s(few, R, K, span)
        steps_of = half.int32s(int(X.shape[0] > 1), int(Y.shape[0] > 1))
        launch = prepared(
            kernel, grid, options.block_dim,
            (X, Y, C, bias, left, ended, *scales, *steps_of, *sizes),
        )  # fmt: skip
        launch.held = product, left, ended
        return launch


RUNG = GemmThin(
    name="gemm_thin",
    title="General, thin",
    chapter="07-register-tiling",
    Options=Options,
    make=make_gemm_thin,
    engines=("numba",),
    dtypes=("float32", "float16", "bfloat16"),
    choices={"numba": ({}, {"PER": 8}, {"PER": 2})},
    needs=(7, 5),
    instead=split_k.RUNG,
)
