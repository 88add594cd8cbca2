"""The first tiled product."""

from kernels.lab.exercises.flaws import Flaw

A_LOAD, B_LOAD = "sA[ty, tx] = A[row, k0 + tx]", "sB[ty, tx] = B[k0 + ty, col]"
ADDED = "acc += sA[ty, k] * sB[k, tx]"
FIRST = f"{B_LOAD}\n        cuda.syncthreads()"
SECOND = f"{ADDED}\n        cuda.syncthreads()"
WRONG = [
    ("first barrier missing", FIRST, B_LOAD, Flaw.MISSING_BARRIER),
    ("second barrier missing", SECOND, ADDED, Flaw.MISSING_BARRIER),
    ("barrier in the inner loop", SECOND, SECOND.replace("        cuda", "            cuda"),
     Flaw.BUDGET),
    ("A's column by ty", "A[row, k0 + tx]", "A[row, k0 + ty]", (Flaw.WRONG, Flaw.SWAPPED)),
    ("B's row by tx", "B[k0 + ty, col]", "B[k0 + tx, col]", (Flaw.WRONG, Flaw.SWAPPED)),
    ("k0 forgotten in A", "A[row, k0 + tx]", "A[row, tx]", Flaw.SAME_TILE),
    ("k0 forgotten in B", "B[k0 + ty, col]", "B[ty, col]", Flaw.SAME_TILE),
    ("A's index swapped", "A[row, k0 + tx]", "A[k0 + tx, row]",
     (Flaw.SWAPPED, Flaw.WRONG, Flaw.OUT_OF_BOUNDS, Flaw.ONLY_SQUARE)),
    ("A's tile stored transposed", "sA[ty, tx] =", "sA[tx, ty] =", (Flaw.SWAPPED, Flaw.WRONG)),
    ("sum set, not added to", "acc += sA", "acc = sA", Flaw.LOST_SUM),
    ("inner loop one short", "for k in range(T)", "for k in range(T - 1)", Flaw.WRONG),
    ("inner loop over all of K", "for k in range(T)", "for k in range(A.shape[1])",
     Flaw.OUT_OF_BOUNDS),
    ("all of K in each step", f"for k in range(T):\n            {ADDED}",
     "for k in range(A.shape[1]):\n            acc += A[row, k] * B[k, col]", Flaw.WRONG),
    ("B's tile never stored", f"{B_LOAD}\n", "pass\n", (Flaw.UNINITIALISED, Flaw.WRONG)),
]  # fmt: skip
RIGHT = [
    ("B first", f"{A_LOAD}\n        {B_LOAD}", f"{B_LOAD}\n        {A_LOAD}"),
    ("the factors exchanged", "sA[ty, k] * sB[k, tx]", "sB[k, tx] * sA[ty, k]"),
]
