"""Turn a square matrix on its side without a second one."""

import numpy as np

from kernels.lab.exercises.arrays import Numbers, cdiv
from kernels.lab.exercises.counts import conflicts, global_count
from kernels.lab.exercises.exercise import FINE, ODD, SQUARE, KernelExercise, Quota, Suspect, Trial
from kernels.lab.exercises.flaws import Flaw

W = 32


def trials(seed=0):
    return [_trial(n, role, seed) for n, role in ((50, ODD), (31, ODD), (70, FINE), (64, SQUARE))]


def _trial(n, role, seed):
    A = Numbers(role, seed, n)(n, n, low=-99, high=99)

    def suspects():
        yield Suspect(Flaw.TRANSPOSED, "this is A itself: it was never transposed", A)
        upper = np.where(np.triu(np.ones_like(A)) > 0, A, A.T)
        yield Suspect(Flaw.WRONG, "one half was overwritten before it was loaded", upper)
        yield Suspect(Flaw.WRONG, "one half was overwritten before it was loaded", upper.T)

    grid = (cdiv(n, W), cdiv(n, W))
    return Trial(f"{n} × {n}", grid, (W, W), {"A": A}, {"A": A.T}, {}, suspects, role)


EXERCISE = KernelExercise(
    name="in-place",
    title="transpose in place",
    text="""
    @cuda.jit
    def in_place(A):
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        left, top = cuda.blockIdx.x * W, cuda.blockIdx.y * W
        n = A.shape[0]
        # --- yours, from here
        here = cuda.shared.array((W, 33), float32)
        there = cuda.shared.array((W, 33), float32)
        if left >= top:
            if top + ty < n and left + tx < n:
                here[ty, tx] = A[top + ty, left + tx]
            if left + ty < n and top + tx < n:
                there[ty, tx] = A[left + ty, top + tx]
            cuda.syncthreads()
            if left + ty < n and top + tx < n:
                A[left + ty, top + tx] = here[tx, ty]
            if top + ty < n and left + tx < n:
                A[top + ty, left + tx] = there[tx, ty]
        # --- to here
    """,
    trials=trials,
    names={"W": W},
    hints=(
        "Use two shared arrays, and load both tiles before you overwrite either. How many barriers"
        " do you need?",
        "Blocks with left < top have nothing to do. The test gives the same answer for all threads"
        " of a block, so a barrier inside the `if` is safe.",
        "The guards of the two tiles differ: one tile's corner is at row top, column left, the"
        " other's at row left, column top. On the diagonal both are the same tile, and every thread"
        " writes the same number twice.",
    ),
    after="One barrier protects both shared arrays and A itself: no thread overwrites an element"
          " before it's loaded. No other block touches these two tiles.",
    budgets=(
        Quota(
            "sectors", 1200, global_count("sectors"),
            "load and store along rows: the last index must change with x",
        ),
        Quota("bank conflicts", 0, conflicts, "32 elements of a column must lie in 32 banks"),
    ),
)  # fmt: skip
