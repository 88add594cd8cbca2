"""Four tiled kernels, four authors, four mistakes that were really made: find and mend each."""

from chapters.ch04_tiled.exercises.tiled import BUDGETS, TEXT, T
from kernels.lab.exercises.exercise import KernelExercise
from kernels.lab.exercises.products import product_trials

RIGHT = """
for t in range((K + T - 1) // T):
    ka, kb = t * T + tx, t * T + ty
    sA[ty, tx] = A[row, ka] if row < M and ka < K else float32(0)
    sB[ty, tx] = B[kb, col] if kb < K and col < N else float32(0)
    cuda.syncthreads()
    for k in range(T):
        acc += sA[ty, k] * sB[k, tx]
    cuda.syncthreads()
"""


def _repair(name, function, title, old, new, hints, after) -> KernelExercise:
    if old not in RIGHT:
        raise LookupError(f"the right kernel does not say {old!r}")
    return KernelExercise(
        name=name,
        title=title,
        text=TEXT.replace("def mine(", f"def {function}("),
        start=RIGHT.replace(old, new),
        trials=product_trials,
        names={"T": T},
        hints=hints,
        after=after,
        budgets=BUDGETS,
    )


EXERCISES = (
    _repair(
        "repair-short", "short_of_steps", "find the bug: sums that are too small",
        "(K + T - 1) // T", "K // T",
        (
            "It's right for K = 64 and wrong for K = 23. How many steps does it take for 23?",
            "`K // T` rounds down: 23 // 16 is one step, and the last 7 products are never "
            "added.",
            "Round up: `(K + T - 1) // T`. The zeros at the edges do the rest.",
        ),
        "A dropped remainder is silent. Nothing is out of bounds, and every test with a "
        "multiple of T passes.",
    ),
    _repair(
        "repair-bold", "bold", "find the bug: loads without asking",
        """    ka, kb = t * T + tx, t * T + ty
    sA[ty, tx] = A[row, ka] if row < M and ka < K else float32(0)
    sB[ty, tx] = B[kb, col] if kb < K and col < N else float32(0)
""",
        """    sA[ty, tx] = A[row, t * T + tx]
    sB[ty, tx] = B[t * T + ty, col]
""",
        (
            "Which thread loads an element that A doesn't have? At which sizes is there such "
            "a thread?",
            "Each load has two conditions: A needs `row < M` and its column below K; B needs "
            "its row below K and `col < N`.",
            "`sA[ty, tx] = A[row, ka] if row < M and ka < K else float32(0)` with `ka = t * T"
            " + tx`, and the same for B with `kb = t * T + ty` and `col < N`.",
        ),
        "Such a kernel may give the right result for years. It reads memory that belongs "
        "to something else, until one day there is none.",
    ),
    _repair(
        "repair-hasty", "hasty", "find the bug: a barrier is missing",
        """        acc += sA[ty, k] * sB[k, tx]
    cuda.syncthreads()
""",
        """        acc += sA[ty, k] * sB[k, tx]
""",
        (
            "The report names two lines and two threads. What's between those lines, if you "
            "go *around* the loop?",
            "A fast warp has finished step t and stores the tiles of step t + 1, while a slow"
            " warp still reads those of step t.",
            "Put a second `cuda.syncthreads()` at the end of the step, after the inner loop "
            "and outside of it.",
        ),
        "Two barriers protect two things: nobody reads before everybody has written, and "
        "nobody writes again before everybody has read.",
    ),
    _repair(
        "repair-crossed", "crossed", "find the bug: two indices are swapped",
        "sB[ty, tx] = B[kb, col] if kb < K and col < N else float32(0)",
        "sB[tx, ty] = B[kb, col] if kb < K and col < N else float32(0)",
        (
            "No access is out of bounds, there's no race, every element is written, and the "
            "result is wrong even for squares. Follow one number of B from global to shared "
            "memory.",
            "Row `kb` of B is row `ty` of the tile, and column `col` is column `tx`. Where is"
            " the number stored, and where does the inner loop look for it?",
            "`sB[ty, tx]`, not `sB[tx, ty]`: x is the column, in shared memory too.",
        ),
        "x is the column and y is the row, always. Then such a line looks wrong at first "
        "sight.",
    ),
)  # fmt: skip
