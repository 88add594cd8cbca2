"""Beat the previous rung: four elements of C per thread, one below the other."""

from chapters.ch04_tiled.exercises.tiled import ACROSS, BUDGETS, DOWN, STEPS, T
from kernels.lab.exercises.exercise import KernelExercise, Quota
from kernels.lab.exercises.products import product_trials

ROWS = 4


def shared_reads(trace) -> int:
    """Elements read from shared memory, thread by thread."""
    return trace.count(space="shared", op="load")["lanes"]


EXERCISE = KernelExercise(
    name="four-sums",
    title="beat the tiled kernel: four sums per thread",
    text="""
    @cuda.jit
    def four_sums(A, B, C):
        sA = cuda.shared.array((T, T), float32)
        sB = cuda.shared.array((T, T), float32)
        acc = cuda.local.array(ROWS, float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        col, top = cuda.blockIdx.x * T + tx, cuda.blockIdx.y * T
        M, N, K = C.shape[0], C.shape[1], A.shape[1]
        for r in range(ROWS):
            acc[r] = 0
        for t in range((K + T - 1) // T):
            for y in range(ty, T, T // ROWS):
                row, ka, kb = top + y, t * T + tx, t * T + y
                sA[y, tx] = A[row, ka] if row < M and ka < K else float32(0)
                sB[y, tx] = B[kb, col] if kb < K and col < N else float32(0)
            cuda.syncthreads()
            # --- yours, from here
            for k in range(T):
                b = sB[k, tx]
                for r in range(ROWS):
                    acc[r] += sA[ROWS * ty + r, k] * b
            # --- to here
            cuda.syncthreads()
        for r in range(ROWS):
            row = top + ROWS * ty + r
            if row < M and col < N:
                C[row, col] = acc[r]
    """,
    start="""
    for k in range(T):
        for r in range(ROWS):
            acc[r] += sA[ROWS * ty + r, k] * sB[k, tx]
    """,
    trials=lambda seed=0: product_trials(block=(T, T // ROWS), tile=(T, T), seed=seed),
    names={"T": T, "ROWS": ROWS},
    hints=(
        "It's right already. Count the shared-memory reads in one iteration of the loop "
        "over k: which of them read the same number again?",
        "All four sums of a thread use the same `sB[k, tx]`. Read it once, and keep it in"
        " a register.",
        "`b = sB[k, tx]` between the two loops, then `acc[r] += sA[ROWS * ty + r, k] * "
        "b`.",
    ),
    after="Five reads for four multiply-adds instead of eight: 1.25 each. A thread tile "
    "with several columns saves on both sides; chapter 7 goes up to 8 × 8.",
    budgets=(
        Quota(
            "shared-memory reads", ACROSS * DOWN * STEPS * T * T * T * 5 // 4, shared_reads,
            "read each element of sB once for four sums",
        ),
        *BUDGETS,
    ),
)  # fmt: skip
