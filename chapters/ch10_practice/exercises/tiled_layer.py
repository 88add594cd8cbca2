"""Fuse a bias and a maximum into the tiled product."""

from chapters.ch03_naive.exercises.layer import layer_trials
from chapters.ch04_tiled.exercises.tiled import BUDGETS, TEXT, M, N, T
from kernels.lab.exercises.counts import global_count
from kernels.lab.exercises.exercise import KernelExercise, Quota

TILED, _, _ = TEXT.partition("    if row < M and col < N:\n        C[row, col] = acc")

EXERCISE = KernelExercise(
    name="tiled-layer",
    title="fuse a bias and a maximum into the tiled product",
    text=TILED.replace("def mine(A, B, C)", "def tiled_layer(A, B, bias, C)")
    .replace("    # --- yours, from here\n", "")
    .replace("    # --- to here\n", "")
    + """    # --- yours, from here
    if row < M and col < N:
        C[row, col] = max(acc + bias[col], float32(0))
    # --- to here
""",
    trials=lambda seed=0: layer_trials(T, seed),
    names={"T": T},
    hints=(
        "After the loop the product is complete. The rest happens to one element, in the "
        "thread that computed it.",
        "There's one bias per column. A thread beyond the edge has no column, so the load"
        " of the bias needs the guard of the store.",
        "`if row < M and col < N:` and under it `C[row, col] = max(acc + bias[col], float32(0))`.",
    ),
    after="What follows a product is nearly free while its element is still in a register. "
    "Libraries call it an epilogue.",
    budgets=(
        Quota(
            "loads",
            BUDGETS[0].most + M * N,
            global_count("lanes", "load"),
            "the bias is one load for each element of C, under the guard",
        ),
        *BUDGETS[2:],
    ),
)
