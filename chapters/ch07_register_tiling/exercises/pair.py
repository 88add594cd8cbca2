"""Two outputs per thread: each owns two neighbouring elements of C."""

from kernels.lab.exercises.counts import global_count
from kernels.lab.exercises.exercise import FINE, MULTIPLE, ODD, SQUARE, KernelExercise, Quota
from kernels.lab.exercises.products import product_trials

M, N, K = 37, 29, 23
SHAPES = ((M, N, K, ODD), (5, 18, 33, FINE), (64, 64, 64, SQUARE), (8, 128, 32, MULTIPLE))

EXERCISE = KernelExercise(
    name="pair",
    title="two outputs per thread",
    text="""
    @cuda.jit
    def pair(A, B, C):
        x, row = cuda.grid(2)
        col = 2 * x
        # --- yours, from here
        if row < C.shape[0] and col < C.shape[1]:
            both = col + 1 < C.shape[1]
            left, right = float32(0), float32(0)
            for k in range(A.shape[1]):
                a = A[row, k]
                left += a * B[k, col]
                if both:
                    right += a * B[k, col + 1]
            C[row, col] = left
            if both:
                C[row, col + 1] = right
        # --- to here
    """,
    trials=lambda seed=0: product_trials(
        block=(32, 8), tile=(64, 8), depth=1, shapes=SHAPES, seed=seed
    ),
    hints=(
        "Two accumulators, and three loads per step: `A[row, k]` once, then the two neighbours in"
        " B.",
        "The last thread of a row may own only one element, so the right one needs its own guard,"
        " for its load and for its store.",
        "`a = A[row, k]`; `left += a * B[k, col]`; and, if `col + 1 < C.shape[1]`,"
        " `right += a * B[k, col + 1]`.",
    ),
    after="Three loads for two multiply-adds, 1.5 each instead of 2. The price: neighbours in the"
    " warp own columns that lie two apart, so a load of B touches twice as many sectors.",
    budgets=(
        Quota(
            "loads", M * ((N + 1) // 2) * K + M * N * K, global_count("lanes", "load"),
            "load A[row, k] once and use it twice",
        ),
    ),
)  # fmt: skip
