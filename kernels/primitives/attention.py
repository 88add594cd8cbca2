"""Fused attention: softmax(Q·Kᵀ/√D)·V, tile by tile, without ever storing the N×N matrix.

In Numba, `make_attention` shows the idea on any GPU in float32: a warp owns one query. Its CUDA
C++ counterpart runs on tensor cores from Ampere on, with 16-bit operands and 16 queries per warp.
Hopper has kernels of its own, in both languages: `kernels.primitives.attention_wgmma`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from kernels import host
from kernels.backend import cuda, cupy, float32, uint32
from kernels.backend.device import device
from kernels.host import cdiv, cpp, half, option
from kernels.host.follow import prepared
from kernels.primitives import attention_wgmma as hopper
from kernels.primitives.softmax import ALL, LOWEST

QUERIES = 16  #: of a block, one for each warp
KEYS = 32  #: of a tile, one for each lane
HIDDEN = float32(-math.inf)  #: the score of a key that a query does not see


@cache
def make_two_pass(D):
    """Return the kernel that computes the scores twice, launched ``(Q, K, V, out, scale)``.

    The first pass finds each query's largest score, the second adds up weights and weighted values.
    """
    EACH = cdiv(D, 32)  # elements of a result that a lane adds up
    WIDTH, PITCH = 32 * EACH, D + 1  # the odd pitch spreads a column of K over the banks

    @cuda.jit
    def two_pass(Q, K, V, out, scale):
        sQ = cuda.shared.array((QUERIES, D), float32)
        sK = cuda.shared.array((KEYS, PITCH), float32)
        sV = cuda.shared.array((KEYS, WIDTH), float32)
        acc = cuda.local.array(EACH, float32)
        lane, warp = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        head, first = uint32(cuda.blockIdx.y), uint32(cuda.blockIdx.x * QUERIES)
        query, N = first + warp, uint32(Q.shape[1])
        for d in range(lane, uint32(D), uint32(32)):
            sQ[warp, d] = Q[head, query, d] * scale if query < N else float32(0)
        largest, total = LOWEST, float32(0)
        for j in range(EACH):
            acc[j] = float32(0)
        for second in range(2):
            for key0 in range(uint32(0), N, uint32(KEYS)):
                for i in range(warp, uint32(KEYS), uint32(QUERIES)):
                    inside = key0 + i < N
                    for d in range(lane, uint32(D), uint32(32)):
                        sK[i, d] = K[head, key0 + i, d] if inside else float32(0)
                    if second:
                        for d in range(lane, uint32(WIDTH), uint32(32)):
                            sV[i, d] = V[head, key0 + i, d] if inside and d < D else float32(0)
                cuda.syncthreads()

                # A lane computes the score of its key: in either pass the same.
                score = float32(0)
                for d in range(D):
                    score += sQ[warp, d] * sK[lane, d]
                if key0 + lane >= N:
                    score = HIDDEN
                if second:
                    weight = math.exp(score - largest)
                    total += weight  # of the lane's own keys; added up at the end
                    # Now a lane owns columns of V: each key's weight goes to all lanes.
                    for k in range(KEYS):
                        w = cuda.shfl_sync(ALL, weight, k)
                        for j in range(EACH):
                            acc[j] += w * sV[k, lane + uint32(32 * j)]
                else:
                    for offset in (16, 8, 4, 2, 1):
                        score = max(score, cuda.shfl_xor_sync(ALL, score, offset))
                    largest = max(largest, score)
                # The tiles must not be replaced before every warp has used them.
                cuda.syncthreads()

        for offset in (16, 8, 4, 2, 1):
            total += cuda.shfl_xor_sync(ALL, total, offset)
        for j in range(EACH):
            d = lane + uint32(32 * j)
            if query < N and d < D:
                out[head, query, d] = acc[j] / total

    return two_pass


@cache
def make_attention(D, causal, GROUP=1):
    """Return the Numba kernel for heads of D elements, launched ``(Q, K, V, out, lse, scale)``.

    `GROUP` heads of Q share one of K and V. `lse` gets, for each query, the logarithm of the sum of
    the exponentials of its scores: all that the backward pass needs of them.
    """
    EACH = cdiv(D, 32)  # elements of a result that a lane adds up
    WIDTH, PITCH = 32 * EACH, D + 1  # the odd pitch spreads a column of K over the banks

    @cuda.jit
    def attention(Q, K, V, out, lse, scale):
        sQ = cuda.shared.array((QUERIES, D), float32)
        sK = cuda.shared.array((KEYS, PITCH), float32)
        sV = cuda.shared.array((KEYS, WIDTH), float32)
        acc = cuda.local.array(EACH, float32)
        lane, warp = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        head, first = uint32(cuda.blockIdx.y), uint32(cuda.blockIdx.x * QUERIES)
        query, N = first + warp, uint32(Q.shape[1])
        shared_head = head // uint32(GROUP)  # of K and V
        for d in range(lane, uint32(D), uint32(32)):
            sQ[warp, d] = Q[head, query, d] * scale if query < N else float32(0)
        largest, total = LOWEST, float32(0)
        for j in range(EACH):
            acc[j] = float32(0)
        # Beyond the block's last query, a causal mask hides every key.
        end = min(N, first + uint32(QUERIES)) if causal else N
        for key0 in range(uint32(0), end, uint32(KEYS)):
            for i in range(warp, uint32(KEYS), uint32(QUERIES)):
                inside = key0 + i < N
                for d in range(lane, uint32(D), uint32(32)):
                    sK[i, d] = K[shared_head, key0 + i, d] if inside else float32(0)
                for d in range(lane, uint32(WIDTH), uint32(32)):
                    sV[i, d] = V[shared_head, key0 + i, d] if inside and d < D else float32(0)
            cuda.syncthreads()

            # A lane computes the score of its key.
            key = key0 + lane
            score = float32(0)
            for d in range(D):
                score += sQ[warp, d] * sK[lane, d]
            if key >= N or (causal and key > query):
                score = HIDDEN

            # The running maximum may have grown: rescale what was added under the old one.
            above = score
            for offset in (16, 8, 4, 2, 1):
                above = max(above, cuda.shfl_xor_sync(ALL, above, offset))
            above = max(largest, above)
            rescale = math.exp(largest - above)
            weight = math.exp(score - above)
            largest = above
            total = total * rescale + weight  # of the lane's own keys; added up at the end
            for j in range(EACH):
                acc[j] *= rescale

            # Now a lane owns columns of V: each key's weight goes to all lanes.
            for k in range(KEYS):
                w = cuda.shfl_sync(ALL, weight, k)
                for j in range(EACH):
                    acc[j] += w * sV[k, lane + uint32(32 * j)]
            # The tiles must not be replaced before every warp has used them.
            cuda.syncthreads()

        for offset in (16, 8, 4, 2, 1):
            total += cuda.shfl_xor_sync(ALL, total, offset)
        for j in range(EACH):
            d = lane + uint32(32 * j)
            if query < N and d < D:
                out[head, query, d] = acc[j] / total
        if query < N and lane == 0:
            lse[head, query] = largest + math.log(total)

    return attention


# -------------------------------------------------------------------------------- the C++ kernel


@dataclass(frozen=True)
class Tiles(host.Options):
    """How ``attention.cu`` shares out its work."""

    warps: int = option(4, (4, 8), "warps of a block", only=True)
    tall: int = option(2, (1, 2), "of 16 queries each, what a warp computes", only=True)
    keys: int = option(64, (64, 128), "keys of a tile", only=True)

    def check(self):
        if self.tall == 2 and (self.warps, self.keys) != (4, 64):
            raise ValueError(
                f"tall=2 leaves no registers for warps={self.warps} and keys={self.keys}:"
                " use warps=4 and keys=64, or tall=1"
            )

    @property
    def queries(self):
        """Rows of Q and O that a block computes."""
        return 16 * self.tall * self.warps

    def shared_bytes_of(self, D):
        """Two stages of K and V; where fragments of Q are not held in registers, its tile too."""
        rows = 4 * self.keys + (self.queries if self.tall == 2 else 0)
        return 2 * D * rows


# ---------------------------------------------------------------------------------- the operands

HALVES = ("float16", "bfloat16", "uint16")
#: By engine, the number formats that it takes.
FORMATS = {"numba": ("float32", *HALVES), "cpp": HALVES}
#: By the bytes of an element, the head sizes, and how to say them.
SIZES = {4: range(16, 129), 2: (64, 128)}
WAYS_OUT = {
    4: "float32 takes 16 to 128: split a head, or fill it up with zeros",
    2: "16 bits take 64 and 128: fill it up with zeros, or use float32 and engine='numba'",
}
NEEDS = (8, 0)  #: the least compute capability with the counterpart's instructions


class Heads(host.Operands):
    """The operands Q and O, of `heads` × `M` × `D` elements, K and V, and `lse`, `heads` × `M`.

    In Numba, K and V may have fewer heads than Q: `group` heads of Q share each of theirs. In 16
    bits they may have another number of keys, `N`, too.
    """

    def __init__(self, Q, K, V, out=None, engine="numba", lse=None):
        host.check_engine(engine)
        if lse is not None:
            self.lse = lse
        for name, array in (("Q", Q), ("K", K), ("V", V)):
            check_format(array, name, engine)
            host.check_array(array, name, 3, FORMATS[engine])
            same = array.shape == Q.shape or (name != "Q" and fit(Q, K, V, engine))
            if not same or array.dtype != Q.dtype:
                raise ValueError(
                    f"Q is {described(Q)} and {name} is {described(array)}: make them the same"
                )
        self.group = len(Q) // len(K)
        self.heads, self.M, self.D = Q.shape
        self.N = K.shape[1]
        self._sizes = self.heads, self.M, self.N, self.D
        if self.D not in SIZES[Q.dtype.itemsize]:
            raise ValueError(f"head size {self.D} is not supported: {WAYS_OUT[Q.dtype.itemsize]}")
        self.format, self._given = half.dtype_of(Q), out
        Q, K, V = (half.bits(array) for array in (Q, K, V))
        self.dtype = np.dtype(Q.dtype)
        out = None if out is None else half.bits(out)
        super().__init__({"Q": Q, "K": K, "V": V}, out, tuple(Q.shape), engine)

    @cached_property
    def lse(self):
        """For each query the logarithm of the sum of its exponentials, where Numba's kernels go."""
        return self.workspace((self.heads, self.M))

    def cpp_arguments(self) -> tuple:
        """Return (Q, K, V, O) on the device, contiguous, each on a 16-byte boundary."""
        *inputs, _ = (cupy.asarray(array) for array in self.arguments())
        with host.memory_errors(2 * self.nbytes):
            inputs = [x if is_aligned(x) else self._copy(x) for x in inputs]
            result = cupy.asarray(self._written(lambda array: not is_aligned(array)))
        self.on_device = *inputs, result
        return self.on_device

    def result(self):
        """Return the output: `out` if there is one, else an array of the kind of the inputs."""
        result = super().result()
        return result if self._given is None else self._given


def check_format(array, name: str, engine: str) -> None:
    """Raise TypeError where only Numba takes an array's number format."""
    if engine == "cpp" and str(getattr(array, "dtype", "")) == "float32":
        raise TypeError(
            f"{name} holds float32; engine 'cpp' takes float16 or bfloat16:"
            " use engine='numba', or convert it"
        )


def fit(Q, K, V, engine: str) -> bool:
    """Whether K and V are alike, and have fewer heads or another length than Q where they may."""
    return (
        engine == "numba" and K.shape == V.shape and K.ndim == 3 and K.shape[2] == Q.shape[2]
        and 0 < len(K) and len(Q) % len(K) == 0
        and (str(Q.dtype) != "float32" or K.shape[1] == Q.shape[1])
    )  # fmt: skip


def described(array) -> str:
    """``"8×100×64 of float32"``."""
    return f"{'×'.join(map(str, array.shape))} of {array.dtype}"


def is_aligned(array) -> bool:
    """Whether a CuPy array is contiguous and begins on a 16-byte boundary."""
    return bool(array.flags.c_contiguous and host.address(array) % 16 == 0)


def check_gpu(capability: tuple[int, int] | None) -> None:
    """Raise RuntimeError for a GPU without the instructions of ``attention.cu``."""
    if capability is not None and capability < NEEDS:
        raise RuntimeError(
            f"attention.cu needs sm_80, this GPU is sm_{capability[0]}{capability[1]}:"
            " use float32 and engine='numba'"
        )


# ---------------------------------------------------------------------------------- launches


def launch(heads: int, N: int, queries: int = QUERIES) -> tuple[int, int]:
    """Return the grid: blocks of so many queries along x, heads along y."""
    host.check_sizes(heads=heads, N=N)
    return host.check_grid(cdiv(N, queries), heads)


def launcher(
    operands: Heads, causal: bool, wgmma: int | None = None, **tiles: int
) -> Callable[[], object]:
    """Return a function that launches the kernel on checked operands."""
    return operands.around(_launcher(operands, causal, wgmma, **tiles))


def _launcher(
    operands: Heads, causal: bool, wgmma: int | None, **tiles: int
) -> Callable[[], object]:
    """As `launcher`, on the copies of operands that need some."""
    scale, causal = np.float32(1 / math.sqrt(operands.D)), bool(causal)
    if causal and operands.M > operands.N:
        raise ValueError(
            f"{operands.M} queries and {operands.N} keys: under a causal mask the last query sees"
            " all keys, so there must be as many keys as queries, or more"
        )
    if operands.engine == "numba":
        given = sorted(tiles) if wgmma is None else ["wgmma"]
        if given:
            raise TypeError(f"the Numba kernel has no option {given[0]!r}: use engine='cpp'")
        if operands.format != "float32":
            hopper.check_gpu(device().compute_capability, "use engine='cpp', or float32")
            return hopper.launcher(operands, causal)
        kernel = make_attention(operands.D, causal, operands.group)
        grid = launch(operands.heads, operands.M)
        return prepared(kernel, grid, (32, QUERIES), (*operands.arguments(), operands.lse, scale))
    if takes_wgmma(wgmma, tiles):
        return hopper.launcher(operands, causal)
    check_gpu(device().compute_capability)
    chosen = Tiles(**tiles)
    grid = launch(operands.heads, operands.N, chosen.queries)
    asked = chosen.shared_bytes_of(operands.D)
    compiled = cpp.load("attention", shared_bytes=asked, **macros(operands, causal, chosen))
    arguments = (
        *operands.cpp_arguments(),
        np.int32(operands.N),
        np.float32(scale * math.log2(math.e)),
    )
    return prepared(compiled, grid, (32 * chosen.warps,), arguments, asked)


def takes_wgmma(wgmma: int | None, tiles: dict[str, int]) -> bool:
    """Whether Hopper's kernel runs: if asked for, or where it can and no `Tiles` are asked for."""
    capability = device().compute_capability
    if wgmma is None:
        return not tiles and hopper.runs_on(capability)
    if wgmma not in (0, 1):
        raise ValueError(f"wgmma is {wgmma!r}: use 0 or 1, or leave it out")
    if wgmma and tiles:
        raise TypeError(f"with wgmma=1 there is no option {min(tiles)!r}: leave one of them out")
    if wgmma:
        hopper.check_gpu(capability)
    return bool(wgmma)


def macros(operands: Heads, causal: bool, tiles: Tiles) -> dict[str, int]:
    """Return what ``attention.cu`` is compiled with."""
    formats = {"BF16": int(operands.format == "bfloat16"), "HALF_C": 1}
    return formats | tiles.macros | {"D": operands.D, "CAUSAL": int(causal)}


def attention(Q, K, V, out=None, causal=False, engine="numba", wgmma=None, lse=False, **tiles):
    """Return O = softmax(Q·Kᵀ/√D)·V for each head.

    Parameters
    ----------
    Q : array, shape (heads, M, D)
        All heads of all sequences of a batch, one after the other; M queries, D elements each.
    K, V : array, shape (heads, N, D)
        In Numba they may have fewer heads: consecutive heads of Q share one of theirs. Only in
        Numba in 16 bits may N be another number than M.
        Of float32, D from 16 to 128, in Numba; of float16 or bfloat16 (as uint16, or of ml_dtypes)
        D 64 or 128, in C++, and for Hopper in Numba. NumPy arrays are copied to the device; any
        strides.
    out : array, shape (heads, M, D), optional
        Where O goes, in the format of Q and on its side.
    causal : bool
        Whether query i sees only keys 0 to i + N - M: the last query sees all. N is at least M.
    engine : {"numba", "cpp"}
        Which kernel runs; "cpp" needs a GPU with tensor cores, from Ampere (sm_80) on.
    wgmma : {0, 1}, optional
        Whether the C++ kernel for Hopper (sm_90) runs; by default where it can.
    lse : bool
        Whether to return the logarithms of the sums of exponentials too; Numba's kernels have them.
    **tiles : int
        Options of the C++ kernel for any other GPU: see `Tiles`. They choose that kernel.

    Returns
    -------
    array of the format of Q, shape (heads, M, D)
        `out`, or a new array of the kind of Q. With `lse` also an array of float32 on its side,
        shape (heads, M).

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        One line that names the value, the limit and the way out.
    """
    operands = Heads(Q, K, V, out, engine)
    if lse and engine != "numba":
        raise ValueError("the C++ kernels keep no sums of exponentials: use engine='numba'")
    launcher(operands, causal, wgmma, **tiles)()
    if not lse:
        return operands.result()
    sums = operands.lse
    return operands.result(), cupy.asnumpy(sums) if operands._kind == "numpy" else sums


def loads(heads: int, N: int, D: int, causal: bool = False) -> dict[str, int]:
    """Return the elements of each array that the Numba kernel loads: K and V once per block."""
    starts = range(0, N, QUERIES)
    keys = sum(min(N, KEYS * cdiv(min(N, q + QUERIES), KEYS)) if causal else N for q in starts)
    return {"Q": heads * N * D, "K": heads * keys * D, "V": heads * keys * D}


def flops(heads: int, N: int, D: int, causal: bool = False) -> int:
    """Return the operations of the two products, as the field counts them: half where causal."""
    return 4 * heads * N * N * D // (2 if causal else 1)


# ---------------------------------------------------------------------------------- the truth


def exact(Q, K, V, causal=False) -> np.ndarray:
    """Return the attention of NumPy arrays of floats in float64."""
    K, V = (np.repeat(array, len(Q) // len(array), axis=0) for array in (K, V))
    weights, V = _weights(Q, K, causal)[0], np.asarray(V, np.float64)
    return weights @ V


def error_bound(Q, K, V, causal=False, unit=0.0) -> np.ndarray:
    """Return how far each element of a result may be off the exact one.

    A score is a sum of D products; its rounding is a relative error of the weight, and so is that
    of the distance to the maximum. A weight is rescaled once per tile, and N of them are added. 64
    roundings are left for exponentials and the division.

    Parameters
    ----------
    Q, K, V : array, shapes (heads, M, D) and (heads, N, D)
        NumPy arrays of floats, as the kernel got them.
    causal : bool
    unit : float
        The rounding of weights and results to 16 bits: 2⁻¹¹ for float16, 2⁻⁸ for bfloat16.
    """
    K, V = (np.repeat(array, len(Q) // len(array), axis=0) for array in (K, V))
    P, distance, size = _weights(Q, K, causal)
    V, (N, D) = abs(np.asarray(V, np.float64)), K.shape[1:]
    tiles = cdiv(N, KEYS)
    relative = 2.0**-24 * ((D + 4) * size + 2 * distance + 4 * tiles + N + 64)
    # An error of one weight also moves the sum that all are divided by.
    own, of_sum = (P * relative) @ V, (P * relative).sum(2, keepdims=True) * (P @ V)
    return own + of_sum + 2 * unit * (P @ V) + (2.0**-24 if unit else 2.0**-125)


def _weights(Q, K, causal):
    """The exact weights, how far each score is below the largest, and Σ|q·k|/√D of each."""
    Q, K = np.asarray(Q, np.float64), np.asarray(K, np.float64).transpose(0, 2, 1)
    root = math.sqrt(Q.shape[2])
    scores, size = Q @ K / root, abs(Q) @ abs(K) / root
    M, N = scores.shape[1:]
    seen = np.tri(M, N, N - M, dtype=bool) if causal else np.True_
    largest = np.where(seen, scores, -np.inf).max(axis=2, keepdims=True)
    below = np.where(seen, scores - largest, -np.inf)
    P = np.exp(below)
    return P / P.sum(axis=2, keepdims=True), np.where(seen, -below, 0), size
