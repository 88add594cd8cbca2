"""The tiled product, from memory."""

from kernels.lab.exercises.arrays import cdiv
from kernels.lab.exercises.counts import barriers, global_count, shared_bytes
from kernels.lab.exercises.exercise import KernelExercise, Quota
from kernels.lab.exercises.products import product_trials

T = 16
M, N, K = 37, 29, 23
STEPS, ACROSS, DOWN = cdiv(K, T), cdiv(N, T), cdiv(M, T)
#: What the tiled kernel may spend at 37 × 29 × 23: each tile of a block is loaded once.
BUDGETS = (
    Quota(
        "loads", M * K * ACROSS + K * N * DOWN, global_count("lanes", "load"),
        "each thread loads one element of A and one of B per step; the rest is in shared memory",
    ),
    Quota(
        "sectors loaded", 714, global_count("sectors", "load"),
        "neighbouring threads load neighbouring elements of a row: tx belongs in the column",
    ),
    Quota(
        "barriers", 2 * STEPS * ACROSS * DOWN, barriers,
        "two per step are enough: one after the loads, one after the inner loop",
    ),
    Quota("bytes of shared memory a block", 2 * T * T * 4, shared_bytes, "two tiles of float32"),
)  # fmt: skip

TEXT = """
@cuda.jit
def mine(A, B, C):
    sA = cuda.shared.array((T, T), float32)
    sB = cuda.shared.array((T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    M, N, K = C.shape[0], C.shape[1], A.shape[1]
    acc = float32(0)
    # --- yours, from here
    for t in range((K + T - 1) // T):
        ka, kb = t * T + tx, t * T + ty
        sA[ty, tx] = A[row, ka] if row < M and ka < K else float32(0)
        sB[ty, tx] = B[kb, col] if kb < K and col < N else float32(0)
        cuda.syncthreads()
        for k in range(T):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    # --- to here
    if row < M and col < N:
        C[row, col] = acc
"""

EXERCISE = KernelExercise(
    name="tiled",
    title="write the tiled kernel from memory",
    text=TEXT,
    trials=product_trials,
    names={"T": T},
    hints=(
        "How many steps cover K when T doesn't divide it? `(K + T - 1) // T`. Each step loads,"
        " waits, multiplies and adds, and waits.",
        "In step t, thread `(tx, ty)` loads column `t * T + tx` of A, in its own row, and row"
        " `t * T + ty` of B, in its own column. Where there's nothing to load, it stores"
        " `float32(0)`.",
        "If a race is reported, look at the two lines it names. Is there a barrier between them on"
        " the way forward, and on the way round the loop?",
    ),
    after="Every thread loaded 2·K/T numbers instead of 2·K, and every thread of the block stayed"
    " to the end: at the edges only the store is optional.",
    budgets=BUDGETS,
)
