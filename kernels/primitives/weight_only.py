"""Products with weights of 4 or 8 bits: Y = X·Wᵀ for a few rows X of bfloat16, as in decoding.

Every weight is read once, and memory sets the pace, so each byte may cost few instructions. The
tensor cores (``mma``) take 16 rows of W as their A: a thread's 16 bytes of a row are 32 weights of
one group of 4 bits, and where they lie in k is free, as long as X is read in the same order. So
nothing is moved between threads, and a word of weights becomes bfloat16 by a few operations on two
at once: 4 bits go into the mantissa of 128, from which 136 is taken; of 8 bits the exponent goes
into that of bfloat16, whose bias is made up by a factor of 2¹²⁰. Both are exact. Sums are in
float32; a group's scale multiplies the sum of the group, a row's that of the row.

The warps of a block share its rows and take every eighth part of k; then they meet.

Source: E. Frantar and others, *MARLIN: Mixed-Precision Auto-Regressive Parallel Inference on Large
Language Models*, arXiv:2408.11743 (weights in the order of the fragments, conversion in pairs).
"""

from collections.abc import Callable
from functools import cache

import numpy as np

from kernels import host, ptx
from kernels.backend import cuda, cupy, float32, int32, uint32, uint64
from kernels.backend.device import device
from kernels.backend.vector import unrolled
from kernels.host import cdiv, e4m3, half
from kernels.host.follow import prepared
from kernels.primitives import weight_wgmma
from kernels.primitives.matvec_int4 import GROUP

__all__ = ["Weights", "linear"]

WARPS = 8
THREADS = 32 * WARPS
ROWS = 16  #: of W, in one instruction
COLUMNS = 8  #: of Yᵀ, rows of X, in one instruction
MOST = 64  #: rows of X
NEEDS = (8, 0)


@cache
def make_weight_only(four, R, T):
    """Return the kernel, launched ``(weights, scales, X, Y, M, N, K)``.

    Parameters
    ----------
    four : bool
        Whether a word holds eight weights of 4 bits, with a scale per group; otherwise four of
        e4m3, with a scale per row.
    R : int
        Blocks of 16 rows of W that a block takes.
    T : int
        Blocks of 8 rows of X.
    """
    EACH = 8 if four else 4  # weights of a word
    WORDS = 32 // EACH  # of a row of the group, that a thread takes
    TILES, STRIPS, PAIRS, SIDE = R * T, 2 * R, 2 * T, COLUMNS * T
    OF_GROUP = GROUP // EACH  # words
    multiply_add = ptx.mma(16, "bfloat16")

    # The bits of a small number, at the lowest bits of a bfloat16 or four further up, are that
    # number times 2⁻¹³³ or 2⁻¹²⁹, by gradual underflow. Weights are 2⁶ times these, less 8.
    @cuda.jit(device=True)
    def two_of_four(word):
        # Weights 0 and 4 of eight.
        return ptx.fma_rn_bf16x2(
            uint32(word & uint32(0x000F000F)), uint32(0x7F007F00), uint32(0xBE00BE00)
        )

    @cuda.jit(device=True)
    def next_two_of_four(word):
        # Weights 1 and 5.
        return ptx.fma_rn_bf16x2(
            uint32(word & uint32(0x00F000F0)), uint32(0x7D007D00), uint32(0xBE00BE00)
        )

    @cuda.jit(device=True)
    def two_of_eight(sign, rest):
        # Signs in bits 15 and 31; exponents and mantissas below bits 11 and 27.
        bits = uint32(uint32(sign & uint32(0x80008000)) | uint32(rest & uint32(0x07F007F0)))
        return ptx.fma_rn_bf16x2(bits, uint32(0x7B807B80), uint32(0x80008000))

    @cuda.jit(device=True)
    def lower(a, b):
        return ptx.prmt(a, b, uint32(0x5410))

    @cuda.jit(device=True)
    def upper(a, b):
        return ptx.prmt(a, b, uint32(0x7632))

    @cuda.jit(device=True, inline="always")
    def load(bits, scale, weights, scales, row0, group, quad, place, N):
        # All loads of weights of a group. A row beyond the last is the last once more.
        for r in range(STRIPS):
            row = min(int32(row0 + 8 * r + quad), int32(N - 1))
            word = int32(group * OF_GROUP + 4 * place)
            at = ptx.global_address(weights) + uint64(row) * uint64(4 * weights.shape[1])
            for i in range(0, WORDS, 4):
                (
                    bits[r, i], bits[r, i + 1], bits[r, i + 2], bits[r, i + 3],
                ) = ptx.ld_global_v4_u32(at + uint64(4 * word + 16 * i))  # fmt: skip
            unrolled()
            if four:
                scale[r] = scales[row, group]
        unrolled()

    @cuda.jit(launch_bounds=(THREADS, 2 if TILES <= 4 else 1))
    def weight_only(weights, scales, X, Y, M, N, K):
        meeting = cuda.shared.array((WARPS, ROWS, SIDE), float32)
        total = cuda.local.array((TILES, 4), float32)
        acc = cuda.local.array((TILES, 4), float32)
        bits = cuda.local.array((STRIPS, WORDS), uint32)
        scale = cuda.local.array(STRIPS, float32)
        a = cuda.local.array((2, 4), uint32)
        b = cuda.local.array((PAIRS, 2), uint32)
        lane, warp = int32(cuda.threadIdx.x % 32), int32(cuda.threadIdx.x // 32)
        quad, place = int32(lane // 4), int32(lane % 4)
        row0 = int32(cuda.blockIdx.x * (ROWS * R))
        from_X = ptx.global_address(X)
        for i in range(TILES):
            for j in range(4):
                total[i, j] = float32(0)
            unrolled()
        unrolled()

        for group in range(warp, int32(K // GROUP), int32(WARPS)):
            load(bits, scale, weights, scales, row0, group, quad, place, N)
            if four:
                for i in range(TILES):
                    for j in range(4):
                        acc[i, j] = float32(0)
                    unrolled()
                unrolled()
            # Eight steps of k of each thread, in two products.
            for step in range(4):
                own = 32 * place + 8 * step
                if not four:  # its two loads of a row are 64 bytes apart
                    own = 64 * (step // 2) + 16 * place + step % 2 * 8
                for t in range(T):
                    row = min(int32(8 * t + quad), int32(M - 1))
                    k = int32(group * GROUP + own)
                    x0, x1, x2, x3 = ptx.ld_global_v4_u32(
                        from_X + uint64(row) * uint64(2 * K) + uint64(2 * k)
                    )
                    if four:  # pairs are as far apart as in a word of weights
                        b[2 * t, 0], b[2 * t, 1] = lower(x0, x2), upper(x0, x2)
                        b[2 * t + 1, 0], b[2 * t + 1, 1] = lower(x1, x3), upper(x1, x3)
                    else:
                        b[2 * t, 0], b[2 * t, 1] = lower(x0, x1), upper(x0, x1)
                        b[2 * t + 1, 0], b[2 * t + 1, 1] = lower(x2, x3), upper(x2, x3)
                unrolled()
                for r in range(R):
                    for low in range(2):  # the upper eight rows, and the lower
                        if four:
                            word = bits[2 * r + low, step]
                            a[0, low], a[0, 2 + low] = two_of_four(word), next_two_of_four(word)
                            word = uint32(word >> uint32(8))
                            a[1, low], a[1, 2 + low] = two_of_four(word), next_two_of_four(word)
                        else:
                            for i in range(2):
                                word = bits[2 * r + low, 2 * step + i]
                                a[i, low] = two_of_eight(
                                    uint32(word << uint32(8)), uint32(word << uint32(4))
                                )
                                a[i, 2 + low] = two_of_eight(word, uint32(word >> uint32(4)))
                            unrolled()
                    unrolled()
                    for t in range(T):
                        for i in range(2):
                            if four:
                                multiply_add(acc[r * T + t], a[i], b[2 * t + i])
                            else:
                                multiply_add(total[r * T + t], a[i], b[2 * t + i])
                        unrolled()
                    unrolled()
                unrolled()
            unrolled()
            if four:
                for i in range(TILES):
                    for j in range(4):
                        total[i, j] += scale[i // T * 2 + j // 2] * acc[i, j]
                    unrolled()
                unrolled()

        # The warps meet, 16 rows of W at a time, and a thread adds up what they bring for one sum.
        for r in range(R):
            for t in range(T):
                for j in range(4):
                    meeting[warp, quad + 8 * (j // 2), 8 * t + 2 * place + j % 2] = total[
                        r * T + t, j
                    ]
                unrolled()
            unrolled()
            cuda.syncthreads()
            for e in range(int32(cuda.threadIdx.x), ROWS * SIDE, THREADS):
                n, m = int32(e % ROWS), int32(e // ROWS)
                row = int32(row0 + ROWS * r + n)
                if row < N and m < M:
                    x = float32(0)
                    for w in range(WARPS):
                        x += meeting[w, n, m]
                    unrolled()
                    x *= float32(64) if four else scales[row, 0]
                    Y[m, row] = ptx.cvt_rn_bf16x2(x, float32(0)) & uint32(0xFFFF)
            cuda.syncthreads()
        unrolled()

    return weight_only


class Weights(host.Operands):
    """The operands of Y = X·Wᵀ: weights, their scales, and X of bfloat16 (as its bits)."""

    dtype = np.dtype(np.uint16)

    def __init__(self, weights, scales, X, out=None):
        host.check_array(weights, "weights", 2, ("uint32", "uint8", "float8_e4m3fn"))
        host.check_array(X, "X", 2, ("uint16", "bfloat16"))
        self.four = str(weights.dtype) == "uint32"
        self.N, words = weights.shape
        self.K = 8 * words if self.four else words
        self.M, K = X.shape
        if not self.K or self.K % GROUP:
            raise ValueError(
                f"W has {self.K} columns: fill it up with zeros to a multiple of {GROUP}"
            )
        if self.K != K:
            raise ValueError(f"X has {K} columns and W {self.K}: make them equal")
        if self.M > MOST:
            raise ValueError(f"X has {self.M} rows; {MOST} at most: multiply by parts of it")
        if self.four:
            host.check_array(scales, "scales", 2)
            expected = self.N, self.K // GROUP
        else:
            if not hasattr(scales, "shape"):
                scales = np.float32(scales)
            expected = (self.N,)
        weights = half.bits(weights)
        if not self.four and scales.shape == ():  # of the whole matrix
            module = cupy if isinstance(weights, cupy.ndarray) else np
            scales = module.full(expected, scales, np.float32)
        host.check_array(scales, "scales", len(expected))
        if scales.shape != expected:
            raise ValueError(
                f"scales has shape {tuple(scales.shape)}; weights {self.N}×{words} of "
                f"{weights.dtype} need {expected}"
            )
        self._given, self._sizes = out, (self.M, self.N, self.K)
        out = None if out is None else half.bits(out)
        inputs = {"weights": weights, "scales": scales, "X": half.bits(X)}
        super().__init__(inputs, out, (self.M, self.N), "numba")

    def launcher(self, rows: int = 0) -> Callable[[], object]:
        """Return a function that launches it; a block takes 16 times so many rows of W."""
        capability = device().compute_capability
        if capability is not None and capability < NEEDS:
            raise RuntimeError(
                f"products of 4 and 8 bits need sm_80, this GPU is sm_{capability[0]}"
                f"{capability[1]}: multiply the weights in float32"
            )
        weights, scales, X, Y = map(cupy.asarray, self.arguments())
        weights, scales, X = (
            x if x.flags.c_contiguous and host.address(x) % 16 == 0 else self._copy(x)
            for x in (weights, scales, X)
        )
        if not rows and weight_wgmma.pays(self.four, self.M, self.N):
            return self.around(weight_wgmma.launcher(weights, scales, X, Y, self.four))
        T = 1 << (cdiv(self.M, COLUMNS) - 1).bit_length()
        R = rows or (2 if T <= 4 else 1)
        grid = host.check_grid(cdiv(self.N, ROWS * R))
        sizes = half.int32s(self.M, self.N, self.K)
        arguments = weights.view(np.uint32), scales.reshape(self.N, -1), X, Y, *sizes
        launch = prepared(make_weight_only(self.four, R, T), grid, (THREADS,), arguments)
        return self.around(lambda held=(self, arguments): launch())

    def result(self):
        """Return the output: `out` if there is one, else an array of the kind of the inputs."""
        result = super().result()
        return result if self._given is None else self._given


def linear(X, weights, scales, out=None, rows=0):
    """Return Y = X·Wᵀ for weights of 4 or 8 bits.

    Parameters
    ----------
    X : array of bfloat16 (as uint16, or of ml_dtypes), shape (M, K)
        At most 64 rows; K a multiple of 128.
    weights : array, shape (N, K / 8) of uint32, or (N, K) of uint8
        Eight of 4 bits in a word, as `matvec_int4.quantise` packs them; or e4m3, as its bits.
    scales : array of float32, shape (N, K / 128); or (N,), or a number
        Of 4 bits for each group of 128; of 8 bits for each row, or for all.
    out : array of bfloat16, shape (M, N), optional
    rows : int
        Blocks of 16 rows of W that a block takes; 0 for what suits M.

    Returns
    -------
    array of uint16, the bits of bfloat16, shape (M, N)
        Sums are in float32 and rounded once.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        One line that names the value, the limit and the way out.
    """
    operands = Weights(weights, scales, X, out)
    operands.launcher(rows)()
    return operands.result()


def quantise_rows(W) -> tuple[np.ndarray, np.ndarray]:
    """Return (bits of e4m3, scales) of a NumPy matrix: the largest number of a row becomes 448."""
    W = np.asarray(W, np.float32)
    scales = abs(W).max(axis=1) / np.float32(e4m3.LARGEST)
    scales = np.where(scales > 0, scales, np.float32(1)).astype(np.float32)
    return e4m3.rounded(W / scales[:, None]), scales
