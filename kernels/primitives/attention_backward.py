"""The gradients of fused attention, without storing the N×N matrices either.

The forward pass keeps one number per query, the logarithm of the sum of its exponentials (`lse`).
From it and a score, computed anew, a weight is exp(score - lse). With P the weights and dO the
gradient of the result O = P·V:

    dV = Pᵀ·dO    dP = dO·Vᵀ    dS = P ∘ (dP - delta)    dQ = dS·K/√D    dK = dSᵀ·Q/√D

`delta` is Σ dO·O over a row of O: the softmax's gradient needs Σ P·dP over a row, and that is the
same sum. One kernel owns queries and finds dQ, the other owns keys and finds dK and dV: so no two
blocks add to the same element, and every run gives the same bits.

Source: T. Dao and others, *FlashAttention*, arXiv:2205.14135, appendix B.
"""

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from kernels import host
from kernels.backend import cuda, float32, uint32
from kernels.host import cdiv
from kernels.host.follow import prepared
from kernels.primitives import attention as forward
from kernels.primitives.softmax import ALL

OWN = 8  #: queries (or keys) of a block, one for each warp
TILE = 32  #: keys (or queries) of a tile, one for each lane


@cuda.jit
def row_dots(dO, out, delta):
    """Find Σ dO·O of each row: a warp per row."""
    lane, row, head = cuda.threadIdx.x, cuda.blockIdx.x, cuda.blockIdx.y
    acc = float32(0)
    for d in range(lane, dO.shape[2], 32):
        acc += dO[head, row, d] * out[head, row, d]
    for offset in (16, 8, 4, 2, 1):
        acc += cuda.shfl_xor_sync(ALL, acc, offset)
    if lane == 0:
        delta[head, row] = acc


@cache
def make_backward_queries(D, causal):
    """Return the kernel of dQ, launched ``(Q, K, V, dO, lse, delta, dQ, scale)``."""
    EACH = cdiv(D, 32)  # elements of a row that a lane adds up
    PITCH = 32 * EACH + 1  # odd: a column is spread over the banks

    @cuda.jit
    def backward_queries(Q, K, V, dO, lse, delta, dQ, scale):
        sQ = cuda.shared.array((OWN, D), float32)
        sG = cuda.shared.array((OWN, D), float32)  # of dO
        sK = cuda.shared.array((TILE, PITCH), float32)
        sV = cuda.shared.array((TILE, PITCH), float32)
        acc = cuda.local.array(EACH, float32)
        lane, warp = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        head, first = uint32(cuda.blockIdx.y), uint32(cuda.blockIdx.x * OWN)
        query, N = first + warp, uint32(Q.shape[1])
        for d in range(lane, uint32(D), uint32(32)):
            sQ[warp, d] = Q[head, query, d] * scale if query < N else float32(0)
            sG[warp, d] = dO[head, query, d] if query < N else float32(0)
        log_sum = lse[head, query] if query < N else float32(0)
        mean = delta[head, query] if query < N else float32(0)
        for j in range(EACH):
            acc[j] = float32(0)
        end = min(N, first + uint32(OWN)) if causal else N
        for key0 in range(uint32(0), end, uint32(TILE)):
            for i in range(warp, uint32(TILE), uint32(OWN)):
                inside = key0 + i < N
                for d in range(lane, uint32(32 * EACH), uint32(32)):
                    sK[i, d] = K[head, key0 + i, d] if inside and d < D else float32(0)
                    sV[i, d] = V[head, key0 + i, d] if inside and d < D else float32(0)
            cuda.syncthreads()

            # A lane computes its key's score anew, and what the weight's gradient is.
            key, score, grad = key0 + lane, float32(0), float32(0)
            for d in range(D):
                score += sQ[warp, d] * sK[lane, d]
                grad += sG[warp, d] * sV[lane, d]
            weight = math.exp(score - log_sum)
            if query >= N or key >= N or (causal and key > query):
                weight = float32(0)
            of_score = weight * (grad - mean)
            # Now a lane owns columns of K.
            for k in range(TILE):
                w = cuda.shfl_sync(ALL, of_score, k)
                for j in range(EACH):
                    acc[j] += w * sK[k, lane + uint32(32 * j)]
            cuda.syncthreads()
        for j in range(EACH):
            d = lane + uint32(32 * j)
            if query < N and d < D:
                dQ[head, query, d] = acc[j] * scale

    return backward_queries


@cache
def make_backward_keys(D, causal):
    """Return the kernel of dK and dV, launched ``(Q, K, V, dO, lse, delta, dK, dV, scale)``."""
    EACH = cdiv(D, 32)  # elements of a row that a lane adds up
    PITCH = 32 * EACH + 1  # odd: a column is spread over the banks

    @cuda.jit
    def backward_keys(Q, K, V, dO, lse, delta, dK, dV, scale):
        sK = cuda.shared.array((OWN, D), float32)
        sV = cuda.shared.array((OWN, D), float32)
        sQ = cuda.shared.array((TILE, PITCH), float32)
        sG = cuda.shared.array((TILE, PITCH), float32)  # of dO
        of_K, of_V = cuda.local.array(EACH, float32), cuda.local.array(EACH, float32)
        lane, warp = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        head, first = uint32(cuda.blockIdx.y), uint32(cuda.blockIdx.x * OWN)
        key, N = first + warp, uint32(Q.shape[1])
        for d in range(lane, uint32(D), uint32(32)):
            sK[warp, d] = K[head, key, d] * scale if key < N else float32(0)
            sV[warp, d] = V[head, key, d] if key < N else float32(0)
        for j in range(EACH):
            of_K[j], of_V[j] = float32(0), float32(0)
        # Under a causal mask, no earlier query sees these keys.
        begin = first // uint32(TILE) * uint32(TILE) if causal else uint32(0)
        for query0 in range(begin, N, uint32(TILE)):
            for i in range(warp, uint32(TILE), uint32(OWN)):
                inside = query0 + i < N
                for d in range(lane, uint32(32 * EACH), uint32(32)):
                    sQ[i, d] = Q[head, query0 + i, d] if inside and d < D else float32(0)
                    sG[i, d] = dO[head, query0 + i, d] if inside and d < D else float32(0)
            cuda.syncthreads()

            # A lane computes its query's score anew.
            query, score, grad = query0 + lane, float32(0), float32(0)
            for d in range(D):
                score += sK[warp, d] * sQ[lane, d]
                grad += sV[warp, d] * sG[lane, d]
            weight, of_score = float32(0), float32(0)
            if query < N and key < N and not (causal and key > query):
                weight = math.exp(score - lse[head, query])
                of_score = weight * (grad - delta[head, query])
            # Now a lane owns columns of Q and of dO.
            for q in range(TILE):
                w, g = cuda.shfl_sync(ALL, weight, q), cuda.shfl_sync(ALL, of_score, q)
                for j in range(EACH):
                    of_V[j] += w * sG[q, lane + uint32(32 * j)]
                    of_K[j] += g * sQ[q, lane + uint32(32 * j)]
            cuda.syncthreads()
        for j in range(EACH):
            d = lane + uint32(32 * j)
            if key < N and d < D:
                dK[head, key, d] = of_K[j] * scale
                dV[head, key, d] = of_V[j]

    return backward_keys


# --------------------------------------------------------------------------------- the operands


class Gradients(forward.Heads):
    """The operands Q, K, V and dO, all heads × N × D of float32; results are those of the three."""

    def __init__(self, Q, K, V, dO, out=None):
        super().__init__(Q, K, V)
        host.check_array(dO, "dO", 3)
        if self.format != "float32":
            raise TypeError(f"Q holds {self.format}; gradients are of float32: convert it")
        if not Q.shape == K.shape == V.shape == dO.shape:
            raise ValueError(
                f"Q is {forward.described(Q)}, K {forward.described(K)}, V {forward.described(V)}"
                f" and dO {forward.described(dO)}: make them the same"
            )
        host.Operands.__init__(
            self, {"Q": Q, "K": K, "V": V, "dO": dO}, out, (3, *Q.shape), "numba"
        )

    def launches(self, causal: bool) -> dict[str, Callable[[], object]]:
        """Return what makes each of the four launches, in order: forward, and three back."""
        Q, K, V, dO, self.found = self.arguments()
        dQ, dK, dV = self.found
        heads, N, D, scale = self.heads, self.N, self.D, np.float32(1 / math.sqrt(self.D))
        out, lse = self.workspace((heads, N, D)), self.workspace((heads, N))
        delta, warps = self.workspace((heads, N)), (32, OWN)
        grid, again = forward.launch(heads, N, OWN), (Q, K, V, dO, lse, delta)
        return {
            "forward": prepared(
                forward.make_attention(D, causal), forward.launch(heads, N),
                (32, forward.QUERIES), (Q, K, V, out, lse, scale),
            ),
            "delta": prepared(row_dots, host.check_grid(N, heads), (32,), (dO, out, delta)),
            "dQ": prepared(make_backward_queries(D, causal), grid, warps, (*again, dQ, scale)),
            "dK, dV": prepared(
                make_backward_keys(D, causal), grid, warps, (*again, dK, dV, scale)
            ),
        }  # fmt: skip

    def launcher(self, causal: bool) -> Callable[[], object]:
        """Return a function that makes the four launches."""
        launches = self.launches(causal).values()
        return lambda: [launch() for launch in launches]


def gradients(Q, K, V, dO, causal=False):
    """Return dQ, dK and dV of O = softmax(Q·Kᵀ/√D)·V, as one array of three.

    Parameters
    ----------
    Q, K, V, dO : array of float32, shape (heads, N, D)
        D from 16 to 128. NumPy arrays are copied to the device; any strides.
    causal : bool
        Whether query i sees only keys 0 to i.

    Returns
    -------
    array of float32, shape (3, heads, N, D)

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        One line that names the value, the limit and the way out.
    """
    operands = Gradients(Q, K, V, dO)
    operands.launcher(bool(causal))()
    return host.Operands.result(operands)


def exact(Q, K, V, dO, causal=False) -> np.ndarray:
    """Return the gradients of NumPy arrays in float64, from matrices of N×N."""
    Q, K, V, dO = (np.asarray(array, np.float64) for array in (Q, K, V, dO))
    turned, root = (0, 2, 1), math.sqrt(Q.shape[2])
    S = Q @ K.transpose(turned) / root
    S = np.where(np.tri(Q.shape[1], dtype=bool), S, -np.inf) if causal else S
    P = np.exp(S - S.max(axis=2, keepdims=True))
    P /= P.sum(axis=2, keepdims=True)
    dP = dO @ V.transpose(turned)
    dS = P * (dP - (P * dP).sum(axis=2, keepdims=True)) / root
    return np.stack([dS @ K, dS.transpose(turned) @ Q, P.transpose(turned) @ dO])
