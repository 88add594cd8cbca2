"""A fragment by hand: which numbers a lane loads for mma.m16n8k16."""

from __future__ import annotations

import numpy as np

from kernels import ptx
from kernels.backend import uint32
from kernels.lab.exercises.arrays import Numbers, poisoned, wide
from kernels.lab.exercises.exercise import FINE, ODD, KernelExercise, Suspect, Trial
from kernels.lab.exercises.flaws import Flaw
from kernels.measure.oracle import tolerance


def trials(seed=0):
    return [_trial(K, role, seed) for K, role in ((48, ODD), (16, FINE))]


def _trial(K, role, seed):
    # Multiples of 1/8 are exact in fp16, and so are their sums in float32.
    numbers = Numbers(role, seed, K)
    A, B = numbers(16, K).astype(np.float16), numbers(K, 8).astype(np.float16)
    a, b = wide(A), wide(B)
    # A taller C has rows that nobody stores: they stay as they are.
    rest = np.full((K // 16, 8), 0.5, np.float32)

    def tall(C):
        return np.concatenate([C, rest])

    bounds = {"C": np.concatenate([tolerance(A, B), 0 * rest])} if role == FINE else {}

    def suspects():
        swapped = np.roll(a @ b, 8, axis=0)
        yield Suspect(Flaw.SWAPPED, "rows 0 to 7 and 8 to 15 of A are exchanged", tall(swapped))
        for side, other in ((0, "right"), (1, "left")):
            only = a.reshape(16, -1, 2, 8).copy()
            only[:, :, 1 - side] = 0
            result = tall(only.reshape(16, K) @ b)
            yield Suspect(Flaw.WRONG, f"the {other} half of each 16 × 16 of A is missing", result)

    pairs = A.view(np.uint32), np.ascontiguousarray(B.T).view(np.uint32)
    arguments = {"A": pairs[0], "BT": pairs[1], "C": tall(poisoned(16, 8))}
    expected = {"C": tall(a @ b)}
    return Trial(f"K = {K}", (1,), (32,), arguments, expected, bounds, suspects, role, exact=True)


EXERCISE = KernelExercise(
    name="fill-fragment",
    title="fill the fragments of m16n8k16",
    text="""
    @cuda.jit
    def fill_fragment(A, BT, C):
        lane = cuda.threadIdx.x
        g, t = lane // 4, lane % 4
        a, b = cuda.local.array(4, uint32), cuda.local.array(2, uint32)
        acc = cuda.local.array(4, float32)
        for i in range(4):
            acc[i] = 0
        for k in range(0, A.shape[1], 8):
            # --- yours, from here
            a[0] = A[g, k + t]
            a[1] = A[g + 8, k + t]
            a[2] = A[g, k + t + 4]
            a[3] = A[g + 8, k + t + 4]
            b[0] = BT[g, k + t]
            b[1] = BT[g, k + t + 4]
            # --- to here
            multiply_add_16(acc, a, b)
        C[g, 2 * t] = acc[0]
        C[g, 2 * t + 1] = acc[1]
        C[g + 8, 2 * t] = acc[2]
        C[g + 8, 2 * t + 1] = acc[3]
    """,
    trials=trials,
    names={"multiply_add_16": ptx.mma(16, "float16"), "uint32": uint32},
    hints=(
        "m16n8k16 is two m16n8k8 side by side. The first half of k is what `one_warp` loads: two"
        " registers of A, one of B. The second half comes behind it, in the same order.",
        "A's registers go down before they go right: upper left, lower left, upper right, lower"
        " right. One block to the right is four pairs.",
        "`a[2] = A[g, k + t + 4]` and `b[1] = BT[g, k + t + 4]`; `a[1]` and `a[3]` are eight rows"
        " below `a[0]` and `a[2]`.",
    ),
    after="`ldmatrix` fills all four registers of A at once, from shared memory. You choose the"
    " order of the four blocks by the addresses that the lanes give it.",
    needs=(8, 0),
)
