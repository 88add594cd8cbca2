"""The naive product with a factor that is stored transposed: C = A·Bᵀ from Bt."""

from kernels.lab.exercises.counts import global_count
from kernels.lab.exercises.exercise import KernelExercise, Quota
from kernels.lab.exercises.products import product_trials

M, N, K = 37, 29, 23


def trials(seed=0):
    return product_trials(arguments=lambda A, B: {"A": A, "Bt": B.T.copy()}, depth=1, seed=seed)


EXERCISE = KernelExercise(
    name="naive-bt",
    title="multiply by a factor that's stored transposed",
    text="""
    @cuda.jit
    def naive_bt(A, Bt, C):
        col, row = cuda.grid(2)
        # --- yours, from here
        if row < C.shape[0] and col < C.shape[1]:
            acc = float32(0)
            for k in range(A.shape[1]):
                acc += A[row, k] * Bt[col, k]
            C[row, col] = acc
        # --- to here
    """,
    trials=trials,
    hints=(
        "Only one index expression of the naive kernel changes. Bt has N rows and K columns: which"
        " of its rows belongs to column col of C?",
        "`Bt[col, k]` instead of `B[k, col]`. The guard and the loop over `A.shape[1]` stay.",
        "Start acc as `float32(0)`, add `A[row, k] * Bt[col, k]` for every k, store acc once, all"
        " of it"
        " under the guard on row and col.",
    ),
    after="The numbers are right and the price is the swapped kernel's: x drives the first index of"
    " Bt, so the threads of a warp land in different rows.",
    budgets=(Quota("loads", 2 * M * N * K, global_count("lanes", "load"), "two loads for each k"),),
)
