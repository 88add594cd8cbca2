"""The running maximum and sum of a row, and attention with two masks, tile by tile."""

import numpy as np

from kernels.lab.exercises.arrays import UNIT, Numbers, cdiv, poisoned, wide
from kernels.lab.exercises.counts import global_count
from kernels.lab.exercises.exercise import (
    FINE,
    FROM,
    MULTIPLE,
    ODD,
    SQUARE,
    TO,
    KernelExercise,
    NumberExercise,
    Quota,
    Suspect,
    Trial,
)
from kernels.lab.exercises.flaws import Flaw

D = 4  #: head size
QUERIES = 64  #: of a block, one for each thread
WINDOW = 34  #: keys that a query of the sliding window sees, its own included

LOWEST = np.float32(-3e38)  #: where a running maximum begins

# ----------------------------------------------------------------------------- a running maximum


def rows(seed=0):
    shapes = ((5, 150, ODD), (3, 37, FINE), (4, 192, MULTIPLE), (64, 64, SQUARE))
    return [_row(*shape, seed) for shape in shapes]


def _row(M, N, role, seed):
    numbers = Numbers(role, seed, M, N)
    A = numbers(M, N, low=-2, high=2)
    A[1] -= 92  # exponentials of these vanish
    A[2] += 92  # and of these overflow
    if M > 3:
        A[3] = np.sort(A[3])  # the maximum grows at every step
    below = abs(wide(A) - A.max(axis=1, keepdims=True))
    total = np.exp(-below).sum(axis=1)

    def suspects():
        col = np.arange(N)
        for left_out, sentence in (
            (col % 32 > 0, "only the elements of lane 0 count"),
            (col % 2 == 1, "only the elements of every second lane count"),
            (col % 32 >= 16, "only the elements of the first 16 lanes count"),
            (col == N - 1, "the last column does not count"),
            (col >= N // 32 * 32, "the last N % 32 columns do not count"),
        ):
            yield Suspect(Flaw.WRONG, sentence, _summary(np.where(left_out, LOWEST, A)))

    bounds = np.zeros((M, 2))
    bounds[:, 1] = UNIT * (2 * (below * np.exp(-below)).sum(axis=1) + (N + 64) * total)
    arguments = {"A": A, "summary": poisoned(M, 2)}
    expected, bounds = {"summary": _summary(A)}, {"summary": bounds}
    return Trial(f"{M} × {N}", (M,), (32,), arguments, expected, bounds, suspects, role)


def _summary(A):
    """The largest element of each row, and the sum of exp(element - largest)."""
    top = wide(A).max(axis=1)
    return np.stack([top, np.exp(wide(A) - top[:, None]).sum(axis=1)], axis=1)


ONLINE = KernelExercise(
    name="online-softmax",
    title="the largest element and the sum of a row, in one pass",
    text="""
    @cuda.jit
    def online(A, summary):
        lane, row = cuda.threadIdx.x, cuda.blockIdx.x
        N = A.shape[1]
        largest, acc = LOWEST, float32(0)
        # --- yours, from here
        for col in range(lane, N, 32):
            x = A[row, col]
            above = max(largest, x)
            acc = acc * math.exp(largest - above) + math.exp(x - above)
            largest = above
        for offset in (16, 8, 4, 2, 1):
            other = cuda.shfl_xor_sync(ALL, largest, offset)
            more = cuda.shfl_xor_sync(ALL, acc, offset)
            above = max(largest, other)
            acc = acc * math.exp(largest - above) + more * math.exp(other - above)
            largest = above
        # --- to here
        if lane == 0:
            summary[row, 0] = largest
            summary[row, 1] = acc
    """,
    trials=rows,
    names={"ALL": 0xFFFFFFFF, "LOWEST": LOWEST},
    hints=(
"First each lane works alone: it goes over every 32nd element and keeps two numbers, the largest"
" so far and the sum of exp(element - largest).",
"When the largest grows from `largest` to `above`, every term of the sum shrinks by the same"
" factor, exp(largest - above). Lanes without an element keep LOWEST and 0.",
"To merge two lanes, exchange both numbers with `cuda.shfl_xor_sync(ALL, value, offset)`, take"
" the larger maximum, and rescale both sums to it. Offsets 16, 8, 4, 2, 1.",
),
    after="Two numbers summarise any part of a row, and two summaries merge into one. So parts can"
" be taken in any order, by any thread.",
    budgets=(
        Quota("loads", 5 * 150, global_count("lanes", "load"),
               "one pass loads every element once"),
        Quota("sectors loaded", 110, global_count("sectors", "load"),
               "neighbouring lanes must load neighbouring columns"),
    ),
)  # fmt: skip

# ------------------------------------------------------------------------------------ two masks


def causal(seed=0):
    sizes = ((97, ODD), (37, FINE), (64, MULTIPLE))
    return [_attention(N, role, seed, N) for N, role in sizes]


def window(seed=0):
    sizes = ((129, ODD), (70, FINE), (128, MULTIPLE))
    return [_attention(N, role, seed, WINDOW) for N, role in sizes]


def _attention(N, role, seed, window):
    numbers = Numbers(role, seed, N, window)
    # Where scores fall by 88 and more, whoever is relative to the last one overflows.
    far = 8 if role == ODD else 2
    Q, K, V = (numbers(N, D, low=-most, high=most) for most in (far, far // 2, 2))
    K[-1] = Q[-1]  # so that the last query sees its own key, whatever the others are
    scores = wide(Q) @ wide(K).T
    age = np.arange(N)[:, None] - np.arange(N)

    def weighted(seen, factor=1.0):
        scored = np.where(seen, scores * factor, -np.inf)
        P = np.exp(scored - scored.max(axis=1, keepdims=True))
        return P / P.sum(axis=1, keepdims=True)

    seen = (age >= 0) & (age < window)
    P = weighted(seen)

    def suspects():
        for sentence, other in (
            ("every query sees every key: the mask is missing", np.full((N, N), True)),
            ("queries see the keys after them", age <= 0),
            ("queries see the key after their own", (age >= -1) & (age < window)),
        ):
            if other.any(axis=1).all():
                yield Suspect(Flaw.WRONG, sentence, (weighted(other) @ wide(V)).astype(np.float32))

    # Rounding moves a score by D roundings of its terms, and by that of its distance to the
    # largest; each weight is rescaled with every key, and N of them are added.
    size = abs(wide(Q)) @ abs(wide(K)).T
    largest = np.where(seen, scores, -np.inf).max(axis=1, keepdims=True)
    distance = np.where(seen, largest - scores, 0)
    relative = UNIT * ((D + 4) * size + 2 * distance + 5 * N + 64)
    V64 = abs(wide(V))
    bound = (P * relative) @ V64 + (P * relative).sum(axis=1, keepdims=True) * (P @ V64)
    arguments = {"Q": Q, "K": K, "V": V, "out": poisoned(N, D)}
    return Trial(f"{N} × {D}", (cdiv(N, QUERIES),), (QUERIES,), arguments,
                 {"out": P @ wide(V)}, {"out": bound + 2.0**-125}, suspects, role)  # fmt: skip


_BEGINNING = """
    @cuda.jit
    def NAME(Q, K, V, out):
        sK = cuda.shared.array((32, D), float32)
        sV = cuda.shared.array((32, D), float32)
        q = cuda.local.array(D, float32)
        acc = cuda.local.array(D, float32)
        t, first, N = cuda.threadIdx.x, cuda.blockIdx.x * 64, Q.shape[0]
        query = first + t
        for d in range(D):
            q[d] = Q[query, d] if query < N else float32(0)
            acc[d] = float32(0)
        largest, total = LOWEST, float32(0)
"""
_TILE = """
            for i in range(t, 32 * D, 64):
                row, d = key0 + i // D, i % D
                sK[i // D, d] = K[row, d] if row < N else float32(0)
                sV[i // D, d] = V[row, d] if row < N else float32(0)
            cuda.syncthreads()
"""
_KEYS = """
            for k in range(32):
                if SEEN:
                    score = float32(0)
                    for d in range(D):
                        score += q[d] * sK[k, d]
                    above = max(largest, score)
                    rescale = math.exp(largest - above)
                    weight = math.exp(score - above)
                    total = total * rescale + weight
                    for d in range(D):
                        acc[d] = acc[d] * rescale + weight * sV[k, d]
                    largest = above
"""
_END = """
        if query < N:
            for d in range(D):
                out[query, d] = acc[d] / total
"""


def _text(name, seen, *parts):
    """The lines of a kernel, without the empty ones between its parts."""
    text = "\n".join(part.strip("\n") for part in parts)
    return text.replace("NAME", name).replace("SEEN", seen)


CAUSAL = KernelExercise(
    name="causal-attention",
    title="one tile of causal attention",
    text=_text(
        "causal", "key0 + k <= query", _BEGINNING,
        "        for key0 in range(0, min(N, first + 64), 32):", _TILE,
        f"            {FROM}", _KEYS,
        f"            {TO}\n            cuda.syncthreads()", _END,
    ),
    trials=causal,
    names={"D": D, "LOWEST": LOWEST},
    hints=(
"Go over the 32 keys of the tile. Skip those after the thread's query. For the others, the score"
" is the sum of q[d] * sK[k, d].",
"Let `above` be the larger of `largest` and the score. What was added so far shrinks by"
" the factor exp(largest - above), and the key's weight is exp(score - above).",
"Multiply `total` and every `acc[d]` by that factor, `rescale`, then add the new term:"
" `total = total * rescale + weight`, `acc[d] = acc[d] * rescale + weight * sV[k, d]`."
" Last, `largest = above`.",
),
    after="Scores, weights, maximum and sum live in registers. The loop ends at the block's last"
" query, so tiles that no query sees aren't loaded.",
    budgets=(
        Quota("elements loaded", (2 * (64 + 97) + 97) * D, global_count("lanes", "load"),
               "each block loads a tile once, before your lines"),
    ),
)  # fmt: skip

SLIDING = KernelExercise(
    name="sliding-window",
    title="attention in a sliding window",
    text=_text(
        "sliding", "key0 + k <= query and query - key0 - k < WINDOW", _BEGINNING,
        f"        {FROM}\n        start = max(0, first - WINDOW + 1) // 32 * 32\n"
        "        for key0 in range(start, min(N, first + 64), 32):", _TILE, _KEYS,
        f"            cuda.syncthreads()\n        {TO}", _END,
    ),
    trials=window,
    names={"D": D, "LOWEST": LOWEST, "WINDOW": WINDOW},
    hints=(
"A block has the queries `first` to `first + 63`. Which is the oldest key that any of them sees,"
" and which the newest? Only the tiles between the two are needed.",
"Start at `max(0, first - WINDOW + 1) // 32 * 32`, a multiple of 32. The 64 threads load a tile"
" together: element i of it is in row `i // D` and column `i % D`.",
"Key `key0 + k` is seen if it isn't after the query and `query - key0 - k < WINDOW`. Each iteration"
" needs two barriers: after the tile is loaded, and after it has been used.",
),
    after="With a window, the work grows with N times the window instead of N times N.",
    budgets=(
        Quota("elements of K loaded", (64 + 128 + 65) * D, global_count("lanes", "load", "K"),
               "skip the tiles that no query of the block sees"),
    ),
)  # fmt: skip

HEADS, LENGTH, SIZE = 8 * 32, 8192, 128

SIZES = NumberExercise(
    name="attention-sizes",
    title="what a layer would store",
    hints=(
"Every head has its own Q and its own S. How many heads are there in all, and how many bytes does a"
" number take?",
"Q has 8 · 32 heads of 8192 × 128 numbers of 2 bytes. S has as many heads, of 8192 × 8192. A MiB"
" is 2²⁰ bytes, a GiB 2³⁰.",
"Each block loads all of its head's K, and one head has 8192 / 128 blocks.",
),
    after="Q, K, V and the result take 2 GiB together. S alone would take 32 GiB.",
    answers={
        "Q_MiB": HEADS * LENGTH * SIZE * 2 // 2**20,
        "S_GiB": HEADS * LENGTH**2 * 2 // 2**30,
        "loads_of_K": LENGTH // 128,
    },
    mistakes={
        ("Q_MiB", LENGTH * SIZE * 2 / 2**20): "that's one head: there are 8 · 32",
        ("S_GiB", LENGTH**2 * 2 / 2**30): "that's one head: there are 8 · 32",
        ("S_GiB", HEADS * LENGTH**2 * 4 / 2**30): "that's float32: here a number takes 2 bytes",
        ("loads_of_K", LENGTH): "that's once per query: a block has 128 of them",
        ("loads_of_K", LENGTH // 16): "that's with 16 queries per block: here there are 128",
    },
    allowance=0.01,
)  # fmt: skip
