"""A convolution of a signal."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

A_LOAD = "x[row + ka] if row < M and ka < K else float32(0)"
B_LOAD = "F[kb, col] if kb < K and col < N else float32(0)"
WRONG = [
    ("filters run backward", "x[row + ka]", "x[row + K - 1 - ka]", Flaw.SWAPPED),
    ("shifted", "x[row + ka]", "x[row + ka + 1]", (Flaw.OUT_OF_BOUNDS, Flaw.MISSING_GUARD)),
    ("no window", "x[row + ka]", "x[row]", Flaw.WRONG),
    ("column instead of row", "x[row + ka]", "x[col + ka]", (Flaw.WRONG, Flaw.OUT_OF_BOUNDS)),
    ("no guard on A", A_LOAD, "x[row + ka]", Flaw.MISSING_GUARD),
    (
        "no guard on A's tap",
        "row < M and ka < K",
        "row < M",
        (Flaw.MISSING_GUARD, Flaw.OUT_OF_BOUNDS),
    ),
    (
        "no zero-fill",
        f"sA[ty, tx] = {A_LOAD}",
        "if row < M and ka < K:\n            sA[ty, tx] = x[row + ka]",
        Flaw.UNINITIALISED,
    ),
    ("F turned", "F[kb, col]", "F[col, kb]", (Flaw.SWAPPED, Flaw.OUT_OF_BOUNDS, Flaw.WRONG)),
    ("F's first tile only", "F[kb, col]", "F[ty, col]", (Flaw.WRONG, Flaw.ONLY_MULTIPLES)),
    (
        "first barrier missing",
        "        cuda.syncthreads()\n        for k",
        "        for k",
        Flaw.MISSING_BARRIER,
    ),
    ("remainder dropped", "(K + T - 1) // T", "K // T", Flaw.DROPPED_TILE),
    ("sum set, not added to", "acc += sA", "acc = sA", Flaw.LOST_SUM),
    ("float64 sum", "acc = float32(0)", "acc = 0.0", Flaw.FLOAT64),
]
RIGHT = [
    (
        "F first",
        f"sA[ty, tx] = {A_LOAD}\n        sB[ty, tx] = {B_LOAD}",
        f"sB[ty, tx] = {B_LOAD}\n        sA[ty, tx] = {A_LOAD}",
    ),
    (
        "zero first",
        f"sB[ty, tx] = {B_LOAD}",
        "sB[ty, tx] = 0\n        if kb < K and col < N:\n            sB[ty, tx] = F[kb, col]",
    ),
]
