"""One block a row: the sum of a row, and its softmax."""

import numpy as np

from kernels.lab.exercises.arrays import UNIT, Numbers, poisoned, wide
from kernels.lab.exercises.counts import global_count
from kernels.lab.exercises.exercise import (
    FINE,
    MULTIPLE,
    ODD,
    SQUARE,
    KernelExercise,
    Quota,
    Suspect,
    Trial,
)
from kernels.lab.exercises.flaws import Flaw

BLOCK = 64
SHAPES = ((5, 150, ODD), (3, 37, FINE), (128, 128, SQUARE), (4, 192, MULTIPLE))


def sums(seed=0):
    return [_sum(*shape, seed) for shape in SHAPES]


def _sum(M, N, role, seed):
    numbers = Numbers(role, seed, M, N)
    A = numbers(M, N, low=-9, high=9)

    def suspects():
        yield Suspect(Flaw.DROPPED_TILE, f"only the first {BLOCK} columns are added",
                      A[:, :BLOCK].sum(axis=1))  # fmt: skip
        if N > BLOCK:
            n = N // BLOCK * BLOCK
            yield Suspect(Flaw.DROPPED_TILE, f"the last {N - n} columns are missing",
                          A[:, :n].sum(axis=1))  # fmt: skip
        for stop, sentence in (
            (1, "only the sum of thread 0 is there: where are those of the others?"),
            (BLOCK // 2, "the upper half of the threads is never added"),
        ):
            partial = np.array([A[:, t::BLOCK].sum(axis=1) for t in range(stop)]).sum(axis=0)
            yield Suspect(Flaw.WRONG, sentence, partial.astype(np.float32))
        yield Suspect(Flaw.LOST_SUM, "each thread keeps only its last element",
                      np.array([A[:, t::BLOCK][:, -1] for t in range(min(BLOCK, N))])
                      .sum(axis=0))  # fmt: skip
        if M == N:
            yield Suspect(Flaw.SWAPPED, "these are the sums of the columns", A.sum(axis=0))

    want, bounds = wide(A).sum(axis=1), numbers.bounds("sums", N, abs(A).sum(axis=1))
    arguments = {"A": A, "sums": poisoned(M)}
    return Trial(f"{M} × {N}", (M,), (BLOCK,), arguments, {"sums": want}, bounds, suspects, role)


def softmaxes(seed=0):
    shapes = (*SHAPES[:2], (4, 192, MULTIPLE), (128, 128, MULTIPLE))
    return [_softmax(*shape, seed) for shape in shapes]


def _softmax(M, N, role, seed):
    far = 120 if role == ODD else 4  # a few elements count in a sum, or all of them
    A = Numbers(role, seed, M, N)(M, N, low=-far, high=far)
    A[1] -= 100_000  # all far below zero: whoever takes 0 for the largest divides 0 by 0
    if M == N:
        np.fill_diagonal(A, 300)  # whoever misses the largest element in any place overflows
    below = wide(A) - A.max(axis=1, keepdims=True)
    e = np.exp(below)
    want = e / e.sum(axis=1, keepdims=True)

    def suspects():
        yield Suspect(Flaw.WRONG, "the rows do not add up to one: the division is missing",
                      e.astype(np.float32))  # fmt: skip

    arguments = {"A": A, "P": poisoned(M, N)}
    bounds = {"P": _softmax_bound(below, want)}
    return Trial(f"{M} × {N}", (M,), (BLOCK,), arguments, {"P": want}, bounds, suspects, role)


def _softmax_bound(below, want):
    """How far a softmax in float32 may be off, from the distances to the largest element.

    The difference in the exponent is rounded, which the exponential makes a relative error of its
    size; so is each term of the sum, N times more in the adding. Sixty-four roundings are left for
    the exponentials, the division and the rescaling of a softmax in one pass. What is too small
    for float32 may be zero.
    """
    distance = abs(below) + (want * abs(below)).sum(axis=1, keepdims=True)
    return UNIT * (distance + below.shape[1] + 64) * want + 2.0**-125


ROW_SUM = KernelExercise(
    name="row-sum",
    title="the sum of each row, one block per row",
    text="""
    @cuda.jit
    def row_sum(A, sums):
        partial = cuda.shared.array(THREADS, float32)
        t, row = cuda.threadIdx.x, cuda.blockIdx.x
        # --- yours, from here
        acc = float32(0)
        for col in range(t, A.shape[1], THREADS):
            acc += A[row, col]
        partial[t] = acc
        cuda.syncthreads()
        half = THREADS // 2
        while half > 0:
            if t < half:
                partial[t] += partial[t + half]
            cuda.syncthreads()
            half //= 2
        # --- to here
        if t == 0:
            sums[row] = partial[0]
    """,
    trials=sums,
    names={"THREADS": BLOCK},
    hints=(
"There are two parts: each thread adds up every 64th element of the row for "
"itself; then the 64 partial sums are added together.",
"Halve the sums: threads 0 to 31 add what threads 32 to 63 have, then 0 to 15 add what 16 to 31"
" have, and so on. Each step reads what other threads wrote.",
"`for col in range(t, A.shape[1], THREADS): acc += A[row, col]`, then `partial[t]"
" = acc` and a barrier; then, while `half > 0`: `if t < half: partial[t] += "
"partial[t + half]`, a barrier outside the if, `half //= 2`.",
),
    after="Six halvings replace 63 additions, one after the other. The barrier is outside "
"the if: every thread must reach it, even those with nothing left to add.",
    budgets=(
        Quota("loads", 5 * 150, global_count("lanes", "load"), "every element is loaded once"),
        Quota("sectors loaded", 120, global_count("sectors", "load"),
               "neighbouring threads must load neighbouring columns"),
    ),
)  # fmt: skip

SOFTMAX = KernelExercise(
    name="softmax",
    title="the softmax of each row",
    text="""
    @cuda.jit
    def softmax(A, P):
        shared = cuda.shared.array(THREADS, float32)
        t, row = cuda.threadIdx.x, cuda.blockIdx.x
        N = A.shape[1]
        # --- yours, from here
        largest = A[row, 0]
        for col in range(t, N, THREADS):
            largest = max(largest, A[row, col])
        shared[t] = largest
        cuda.syncthreads()
        half = THREADS // 2
        while half > 0:
            if t < half:
                shared[t] = max(shared[t], shared[t + half])
            cuda.syncthreads()
            half //= 2
        largest = shared[0]
        cuda.syncthreads()
        acc = float32(0)
        for col in range(t, N, THREADS):
            acc += math.exp(A[row, col] - largest)
        shared[t] = acc
        cuda.syncthreads()
        half = THREADS // 2
        while half > 0:
            if t < half:
                shared[t] += shared[t + half]
            cuda.syncthreads()
            half //= 2
        for col in range(t, N, THREADS):
            P[row, col] = math.exp(A[row, col] - largest) / shared[0]
        # --- to here
    """,
    trials=softmaxes,
    names={"THREADS": BLOCK},
    hints=(
"Three passes over the row: its largest element, the sum of all exp(element - "
"largest), and the division. The first two are reductions like row-sum.",
"Without the largest element, exp overflows for numbers above 88. Every thread "
"needs the result of a reduction before shared memory is used for the next one: "
"two barriers, again.",
"After the first reduction: `largest = shared[0]`, then a barrier, and only then "
"`shared[t] = acc` for the second.",
),
    after="The same shared memory is used twice, so a barrier keeps the second use from "
"overtaking the first. Attention is two products with this between them.",
    budgets=(
        Quota("sectors loaded", 500, global_count("sectors", "load"),
               "the threads share each pass over the row; neighbours load neighbouring columns"),
    ),
)  # fmt: skip
