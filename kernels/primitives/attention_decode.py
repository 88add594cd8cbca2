"""Attention of one query per head, over keys and values that a model has kept: decoding.

A model that writes has one new query at a time. With one block per head, most of a GPU is idle. So
the keys are split: each block takes some of them and leaves a result with its own maximum and sum,
and a second launch merges these. All heads of Q that share a head of K and V are taken by the same
block, so that K and V are loaded once.

Source: T. Dao, D. Haziza, F. Massa, G. Sizov, *Flash-Decoding for long-context inference* (2023).
"""

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from kernels import host
from kernels.backend import cuda, cupy, float32
from kernels.backend.vector import aligned16, load4_guarded, unrolled
from kernels.host import cdiv
from kernels.host.follow import prepared
from kernels.primitives.softmax import ALL, LOWEST

WARPS = 8  #: of a block; each takes every eighth key
MOST_GROUP = 8  #: heads of Q that share a head of K and V: their results must fit in registers


@cache
def make_decode(D, GROUP):
    """Return the kernel of one split, launched ``(Q, K, V, results, summary, N, span, scale)``.

    K and V are matrices: N rows per head, of D elements. Block (i, j) takes keys i·span to
    (i + 1)·span - 1 of head j of K and V. `results` gets Σ w·v of each query, `summary` the largest
    score and Σ w, with w = exp(score - largest).
    """
    LANES = 8 if GROUP <= 4 else 16  # that share a key: the fewer, the fewer shuffles per key
    FOURS = cdiv(D, 4 * LANES)  # of a row, 16 bytes each, that a lane holds
    KEYS, WIDTH = 32 // LANES, 4 * LANES * FOURS  # of a warp at a time; elements

    @cuda.jit
    def decode(Q, K, V, results, summary, N, span, scale):
        parts = cuda.shared.array((WARPS, WIDTH), float32)
        tops = cuda.shared.array((WARPS, 2), float32)
        q = cuda.local.array((GROUP, FOURS, 4), float32)
        acc = cuda.local.array((GROUP, FOURS, 4), float32)
        k, v = cuda.local.array((FOURS, 4), float32), cuda.local.array((FOURS, 4), float32)
        largest, total = cuda.local.array(GROUP, float32), cuda.local.array(GROUP, float32)
        lane, warp = cuda.threadIdx.x, cuda.threadIdx.y
        split, head = cuda.blockIdx.x, cuda.blockIdx.y
        column = 4 * (lane % LANES)  # the first of this lane's
        wide = aligned16(K) and aligned16(V)
        for g in range(GROUP):
            largest[g], total[g] = LOWEST, float32(0)
            for j in range(FOURS):
                for c in range(4):
                    d = column + 4 * LANES * j + c
                    q[g, j, c] = Q[head * GROUP + g, d] * scale if d < D else float32(0)
                    acc[g, j, c] = float32(0)
                unrolled()
            unrolled()
        unrolled()

        end = min(N, (split + 1) * span)
        for key0 in range(split * span + warp * KEYS, end, WARPS * KEYS):
            key = key0 + lane // LANES
            row = head * N + key if key < end else K.shape[0]  # none
            for j in range(FOURS):
                d = column + 4 * LANES * j
                k[j, 0], k[j, 1], k[j, 2], k[j, 3] = load4_guarded(K, row, d, wide)
                v[j, 0], v[j, 1], v[j, 2], v[j, 3] = load4_guarded(V, row, d, wide)
            unrolled()
            # One key and its value, loaded once, serve all queries of the group.
            for g in range(GROUP):
                score = float32(0)
                for j in range(FOURS):
                    for c in range(4):
                        score += q[g, j, c] * k[j, c]
                    unrolled()
                unrolled()
                offset = LANES // 2
                while offset > 0:
                    score += cuda.shfl_xor_sync(ALL, score, offset)
                    offset //= 2
                above = max(largest[g], score) if key < end else largest[g]
                rescale = math.exp(largest[g] - above)
                weight = math.exp(score - above) if key < end else float32(0)
                largest[g], total[g] = above, total[g] * rescale + weight
                for j in range(FOURS):
                    for c in range(4):
                        acc[g, j, c] = acc[g, j, c] * rescale + weight * v[j, c]
                    unrolled()
                unrolled()
            unrolled()

        # Lanes with other keys merge what they have, then warps: the online softmax once more.
        for g in range(GROUP):
            offset = LANES
            while offset < 32:
                other = cuda.shfl_xor_sync(ALL, largest[g], offset)
                above = max(largest[g], other)
                mine, theirs = math.exp(largest[g] - above), math.exp(other - above)
                total[g] = total[g] * mine + cuda.shfl_xor_sync(ALL, total[g], offset) * theirs
                largest[g] = above
                for j in range(FOURS):
                    for c in range(4):
                        more = cuda.shfl_xor_sync(ALL, acc[g, j, c], offset)
                        acc[g, j, c] = acc[g, j, c] * mine + more * theirs
                    unrolled()
                unrolled()
                offset *= 2
            if lane == 0:
                tops[warp, 0], tops[warp, 1] = largest[g], total[g]
            if lane < LANES:
                for j in range(FOURS):
                    for c in range(4):
                        parts[warp, column + 4 * LANES * j + c] = acc[g, j, c]
                    unrolled()
                unrolled()
            cuda.syncthreads()
            if warp == 0:
                above, whole = LOWEST, float32(0)
                for i in range(WARPS):
                    above = max(above, tops[i, 0])
                for i in range(WARPS):
                    whole += tops[i, 1] * math.exp(tops[i, 0] - above)
                for d in range(lane, D, 32):
                    result = float32(0)
                    for i in range(WARPS):
                        result += parts[i, d] * math.exp(tops[i, 0] - above)
                    results[head * GROUP + g, split, d] = result
                if lane == 0:
                    summary[head * GROUP + g, split, 0] = above
                    summary[head * GROUP + g, split, 1] = whole
            cuda.syncthreads()
        unrolled()

    return decode


@cuda.jit
def merge_splits(results, summary, out):
    """Merge the splits of a head: a block per head, a thread for each element of its result."""
    head, d = cuda.blockIdx.x, cuda.threadIdx.x
    above, total, acc = LOWEST, float32(0), float32(0)
    for split in range(results.shape[1]):
        above = max(above, summary[head, split, 0])
    for split in range(results.shape[1]):
        rescale = math.exp(summary[head, split, 0] - above)
        total += summary[head, split, 1] * rescale
        acc += results[head, split, d] * rescale
    out[head, d] = acc / total


class Cached(host.Operands):
    """The operands Q (heads × D), K and V (kv_heads × N × D), and the result (heads × D)."""

    def __init__(self, Q, K, V, out=None):
        host.check_array(Q, "Q", 2)
        host.check_array(K, "K", 3)
        host.check_array(V, "V", 3)
        self.heads, self.D = Q.shape
        self.kv_heads, self.N, columns = K.shape
        if K.shape != V.shape or columns != self.D:
            raise ValueError(
                f"Q is {'×'.join(map(str, Q.shape))}, K {'×'.join(map(str, K.shape))} and V "
                f"{'×'.join(map(str, V.shape))}: K and V must be alike, with Q's columns"
            )
        if not 1 <= self.D <= 128:
            raise ValueError(f"head size {self.D} is not supported: split a head; 128 at most")
        if self.heads % self.kv_heads or self.heads // self.kv_heads > MOST_GROUP:
            raise ValueError(
                f"{self.heads} heads of Q cannot share {self.kv_heads} of K and V: use a divisor "
                f"of {self.heads} that leaves at most {MOST_GROUP} for each"
            )
        self.group, self._sizes = self.heads // self.kv_heads, (self.N, self.D)
        super().__init__({"Q": Q, "K": K, "V": V}, out, tuple(Q.shape), "numba")

    def launcher(self, splits: int) -> Callable[[], object]:
        """Return a function that makes both launches."""
        if not 1 <= splits <= self.N:
            raise ValueError(f"splits is {splits!r}: use 1 to {self.N}, the number of keys")
        span = cdiv(self.N, splits)
        splits = cdiv(self.N, span)  # none without a key
        Q, *cached, out = self.arguments()
        cached = (x if x.flags.c_contiguous else self._copy(x) for x in map(cupy.asarray, cached))
        K, V = (x.reshape(-1, self.D) for x in cached)
        results = self.workspace((self.heads, splits, self.D))
        summary = self.workspace((self.heads, splits, 2))
        scale = np.float32(1 / math.sqrt(self.D))
        kernel, grid = make_decode(self.D, self.group), host.check_grid(splits, self.kv_heads)
        first = prepared(
            kernel, grid, (32, WARPS),
            (Q, K, V, results, summary, np.int32(self.N), np.int32(span), scale),
        )  # fmt: skip
        second = prepared(merge_splits, (self.heads,), (self.D,), (results, summary, out))
        return self.around(lambda: (first(), second()))


def attend(Q, K, V, out=None, splits=16):
    """Return the attention of one query per head over all keys.

    Parameters
    ----------
    Q : array of float32, shape (heads, D)
        One query per head, D at most 128. NumPy arrays are copied to the device.
    K, V : array of float32, shape (kv_heads, N, D)
        `heads` is `kv_heads` times 1 to 8: consecutive heads of Q share one of K and V.
    out : array of float32, shape (heads, D), optional
    splits : int
        How many blocks share the keys of a head.

    Returns
    -------
    array of float32, shape (heads, D)

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        One line that names the value, the limit and the way out.
    """
    operands = Cached(Q, K, V, out)
    operands.launcher(splits)()
    return operands.result()


def truth(Q, K, V) -> np.ndarray:
    """Return the same of NumPy arrays in float64."""
    Q, K, V = (np.asarray(array, np.float64) for array in (Q, K, V))
    group = len(Q) // len(K)
    K, V = K.repeat(group, axis=0), V.repeat(group, axis=0)
    scores = np.einsum("hd,hnd->hn", Q, K) / math.sqrt(Q.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.einsum("hn,hnd->hd", weights / weights.sum(axis=1, keepdims=True), V)
