"""A tile that is not square: BM × BN of C, steps of BK along K."""

from kernels.lab.exercises.arrays import cdiv
from kernels.lab.exercises.counts import barriers, global_count, shared_bytes
from kernels.lab.exercises.exercise import KernelExercise, Quota
from kernels.lab.exercises.products import product_trials

BM, BN, BK = 8, 32, 8
M, N, K = 37, 29, 23
STEPS, ACROSS, DOWN = cdiv(K, BK), cdiv(N, BN), cdiv(M, BM)

EXERCISE = KernelExercise(
    name="wide",
    title="tile rectangular matrices with rectangular tiles",
    text="""
    @cuda.jit
    def wide(A, B, C):
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        col, row = cuda.grid(2)
        # --- yours, from here
        sA = cuda.shared.array((BM, BK), float32)
        sB = cuda.shared.array((BK, BN), float32)
        M, N, K = C.shape[0], C.shape[1], A.shape[1]
        acc = float32(0)
        for t in range((K + BK - 1) // BK):
            ka, kb = t * BK + tx, t * BK + ty
            if tx < BK:
                sA[ty, tx] = A[row, ka] if row < M and ka < K else float32(0)
            sB[ty, tx] = B[kb, col] if kb < K and col < N else float32(0)
            cuda.syncthreads()
            for k in range(BK):
                acc += sA[ty, k] * sB[k, tx]
            cuda.syncthreads()
        if row < M and col < N:
            C[row, col] = acc
        # --- to here
    """,
    trials=lambda seed=0: product_trials(block=(BN, BM), depth=BK, seed=seed),
    names={"BM": BM, "BN": BN, "BK": BK},
    hints=(
        "sA is BM × BK, 64 elements; sB is BK × BN, 256 elements, one per thread.",
        "Let the threads with `tx < BK` load A. Only the load may stand under that if: the barriers"
        " are for all threads.",
        "In step t: `ka = t * BK + tx`, `kb = t * BK + ty`. The inner loop runs over `range(BK)`,"
        " with `sA[ty, k] * sB[k, tx]`.",
    ),
    after="An element of A is used BN = 32 times, one of B only BM = 8 times. Among all tiles with"
    " the same number of threads the square has the shortest edges, so it loads least.",
    budgets=(
        Quota(
            "loads", M * K * ACROSS + K * N * DOWN, global_count("lanes", "load"),
            "each element of a tile is loaded once, by one thread",
        ),
        Quota("barriers", 2 * STEPS * ACROSS * DOWN, barriers, "two per step are enough"),
        Quota(
            "bytes of shared memory a block", (BM * BK + BK * BN) * 4, shared_bytes,
            "one tile of A, one of B",
        ),
    ),
)  # fmt: skip
