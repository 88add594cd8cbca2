"""Find the mistake in a naive kernel that is right for every square."""

from kernels.lab.exercises.counts import global_count
from kernels.lab.exercises.exercise import KernelExercise, Quota
from kernels.lab.exercises.products import product_trials

M, N, K = 37, 29, 23

EXERCISE = KernelExercise(
    name="square-minded",
    title="fix a kernel that is right only for squares",
    text="""
    @cuda.jit
    def square_minded(A, B, C):
        col, row = cuda.grid(2)
        # --- yours, from here
        if row < C.shape[0] and col < C.shape[1]:
            acc = float32(0)
            for k in range(A.shape[1]):
                acc += A[row, k] * B[k, col]
            C[row, col] = acc
        # --- to here
    """,
    start="""
    if row < C.shape[0] and col < C.shape[0]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc
    """,
    trials=lambda seed=0: product_trials(depth=1, seed=seed),
    hints=(
        "Try a C with one row and two columns, then one with two rows and one column.",
        "Every size in the kernel is compared with something. Does each compare with its own?",
        "The guard compares the column with `C.shape[0]`, the number of rows.",
    ),
    after="A wide C keeps columns that nobody writes: no access is out of bounds, so the trace has"
    " nothing to say, and only the poison shows. A tall C is the other way about.",
    budgets=(Quota("loads", 2 * M * N * K, global_count("lanes", "load"), "two loads for each k"),),
)
