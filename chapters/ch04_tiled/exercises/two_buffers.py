"""Double buffering: two pairs of tiles, used alternately, and one barrier per step."""

from kernels.lab.exercises.counts import barriers, shared_bytes
from kernels.lab.exercises.exercise import KernelExercise, Quota
from kernels.lab.exercises.products import product_trials

from .tiled import ACROSS, BUDGETS, DOWN, STEPS, T

EXERCISE = KernelExercise(
    name="two-buffers",
    title="one barrier per step instead of two",
    text="""
    @cuda.jit
    def two_buffers(A, B, C):
        sA = cuda.shared.array((2, T, T), float32)
        sB = cuda.shared.array((2, T, T), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        col, row = cuda.grid(2)
        M, N, K = C.shape[0], C.shape[1], A.shape[1]
        acc = float32(0)
        # --- yours, from here
        for t in range((K + T - 1) // T):
            ka, kb, pair = t * T + tx, t * T + ty, t % 2
            sA[pair, ty, tx] = A[row, ka] if row < M and ka < K else float32(0)
            sB[pair, ty, tx] = B[kb, col] if kb < K and col < N else float32(0)
            cuda.syncthreads()
            for k in range(T):
                acc += sA[pair, ty, k] * sB[pair, k, tx]
        # --- to here
        if row < M and col < N:
            C[row, col] = acc
    """,
    trials=product_trials,
    names={"T": T},
    hints=(
        "In step t the threads work with `sA[t % 2]` and `sB[t % 2]`, both to store and in the"
        " inner loop.",
        "A fast warp can be at most one barrier ahead. Which of the two pairs is it filling, and"
        " which one may a slow warp still be reading?",
        "One barrier, between the stores and the inner loop, is enough: the pair of step t is"
        " filled again in step t + 2, behind the barrier of step t + 1.",
    ),
    after="It costs twice the shared memory. This is double buffering; chapter 7 uses it to load"
    " the next tile while the current one is being multiplied.",
    budgets=(
        BUDGETS[0],
        Quota("barriers", STEPS * ACROSS * DOWN, barriers, "one per step is enough"),
        Quota("bytes of shared memory a block", 4 * T * T * 4, shared_bytes, "two pairs of tiles"),
    ),
)
