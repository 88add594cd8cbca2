"""The first kernel of one's own: the six lines of a tiled product, where the tile divides all."""

from functools import partial

from kernels.lab.exercises.counts import barriers, global_count, shared_bytes
from kernels.lab.exercises.exercise import FINE, MULTIPLE, SQUARE, KernelExercise, Quota
from kernels.lab.exercises.products import product_trials

T = 16
M, N, K = 32, 48, 64
#: Sizes that the tile divides; edges are chapter 4's.
SHAPES = ((M, N, K, MULTIPLE), (48, 16, 32, FINE), (32, 32, 32, SQUARE))
BUDGETS = (
    Quota(
        "loads", M * K * N // T + K * N * M // T, global_count("lanes", "load"),
        "each thread loads one element of A and one of B per step; the rest is in shared memory",
    ),
    Quota(
        "barriers", 2 * (K // T) * (N // T) * (M // T), barriers,
        "two per step are enough: one after the loads, one after the inner loop",
    ),
    Quota("bytes of shared memory a block", 2 * T * T * 4, shared_bytes, "two tiles of float32"),
)  # fmt: skip

TEXT = """
@cuda.jit
def mine(A, B, C):
    sA = cuda.shared.array((T, T), float32)
    sB = cuda.shared.array((T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y  # place in the block
    col, row = cuda.grid(2)  # place in the grid
    acc = float32(0)
    for k0 in range(0, A.shape[1], T):
        # --- yours, from here
        sA[ty, tx] = A[row, k0 + tx]
        sB[ty, tx] = B[k0 + ty, col]
        cuda.syncthreads()
        for k in range(T):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
        # --- to here
    C[row, col] = acc
"""

EXERCISE = KernelExercise(
    name="first-tiled",
    title="your tiled kernel",
    text=TEXT,
    trials=partial(product_trials, shapes=SHAPES, begin="k0"),
    names={"T": T},
    hints=(
        "Each thread stores one number into `sA[ty, tx]` and one into `sB[ty, tx]`. A's tile moves"
        " right with k0, B's tile moves down.",
        "In A, the thread stays in its own row: column `k0 + tx`. In B, it stays in its own column:"
        " row `k0 + ty`. Then comes a barrier.",
        "`sA[ty, tx] = A[row, k0 + tx]`, `sB[ty, tx] = B[k0 + ty, col]`, `cuda.syncthreads()`."
        " Then, for k in `range(T)`, add `sA[ty, k] * sB[k, tx]` to acc, and wait once more behind"
        " that loop.",
    ),
    after="Every thread loaded 2·K/T numbers instead of 2·K. The other numbers that it multiplied"
    " were loaded by its neighbours.",
    budgets=BUDGETS,
)
