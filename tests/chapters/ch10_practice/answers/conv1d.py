"""A convolution of a signal."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.kinds import Kind

A_LOAD = "x[row + ka] if row < M and ka < K else float32(0)"
B_LOAD = "F[kb, col] if kb < K and col < N else float32(0)"
WRONG = [
    ("filters run backward", "x[row + ka]", "x[row + K - 1 - ka]", Kind.SWAPPED),
    ("shifted", "x[row + ka]", "x[row + ka + 1]", (Kind.OUT_OF_BOUNDS, Kind.MISSING_GUARD)),
    ("no window", "x[row + ka]", "x[row]", Kind.WRONG),
    ("column instead of row", "x[row + ka]", "x[col + ka]", (Kind.WRONG, Kind.OUT_OF_BOUNDS)),
    ("no guard on A", A_LOAD, "x[row + ka]", Kind.MISSING_GUARD),
    (
        "no guard on A's tap",
        "row < M and ka < K",
        "row < M",
        (Kind.MISSING_GUARD, Kind.OUT_OF_BOUNDS),
    ),
    (
        "no zero-fill",
        f"sA[ty, tx] = {A_LOAD}",
        "if row < M and ka < K:\n            sA[ty, tx] = x[row + ka]",
        Kind.UNINITIALISED,
    ),
    ("F turned", "F[kb, col]", "F[col, kb]", (Kind.SWAPPED, Kind.OUT_OF_BOUNDS, Kind.WRONG)),
    ("F's first tile only", "F[kb, col]", "F[ty, col]", (Kind.WRONG, Kind.ONLY_MULTIPLES)),
    (
        "first barrier missing",
        "        cuda.syncthreads()\n        for k",
        "        for k",
        Kind.MISSING_BARRIER,
    ),
    ("remainder dropped", "(K + T - 1) // T", "K // T", Kind.DROPPED_TILE),
    ("sum set, not added to", "acc += sA", "acc = sA", Kind.LOST_SUM),
    ("float64 sum", "acc = float32(0)", "acc = 0.0", Kind.FLOAT64),
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
