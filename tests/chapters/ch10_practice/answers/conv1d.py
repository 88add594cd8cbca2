"""A convolution of a signal."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.kinds import Kind

A_LOAD = "x[row + ka] if row < M and ka < K else float32(0)"
B_LOAD = "F[kb, col] if kb < K and col < N else float32(0)"
WRONG = [
    ("filters run backward", "x[row + ka]", "x[row + K - 1 - ka]", Kind.SWAPPED),
    ("shifted", "x[row + ka]", "x[row + ka + 1]", (Kind.OUT_OF_BOUNDS, Kind.MISSING_GUARD)),
    ("no window", "x[row + ka]", "x[row]", Kind.WRONG),
    ("taps only", "x[row + ka]", "x[ka]", Kind.WRONG),
    ("column instead of row", "x[row + ka]", "x[col + ka]", (Kind.WRONG, Kind.OUT_OF_BOUNDS)),
    ("no guard on A", A_LOAD, "x[row + ka]", Kind.MISSING_GUARD),
    ("no guard on A's row", "row < M and ka < K", "ka < K", Kind.MISSING_GUARD),
    (
        "no guard on A's tap",
        "row < M and ka < K",
        "row < M",
        (Kind.MISSING_GUARD, Kind.OUT_OF_BOUNDS),
    ),
    ("no guard on F", B_LOAD, "F[kb, col]", Kind.MISSING_GUARD),
    ("no guard on F's tap", "kb < K and col < N", "col < N", Kind.MISSING_GUARD),
    (
        "no zero-fill",
        f"sA[ty, tx] = {A_LOAD}",
        "if row < M and ka < K:\n            sA[ty, tx] = x[row + ka]",
        Kind.UNINITIALISED,
    ),
    ("F turned", "F[kb, col]", "F[col, kb]", (Kind.SWAPPED, Kind.OUT_OF_BOUNDS, Kind.WRONG)),
    ("F's first tile only", "F[kb, col]", "F[ty, col]", (Kind.WRONG, Kind.ONLY_MULTIPLES)),
    ("tiles exchanged", "sA[ty, tx] = ", "sA[tx, ty] = ", Kind.SWAPPED),
    (
        "first barrier missing",
        "        cuda.syncthreads()\n        for k",
        "        for k",
        Kind.MISSING_BARRIER,
    ),
    (
        "second barrier missing",
        "sB[k, tx]\n        cuda.syncthreads()",
        "sB[k, tx]",
        Kind.MISSING_BARRIER,
    ),
    (
        "race across warps only",
        "        cuda.syncthreads()\n        for k",
        "        cuda.syncwarp()\n        for k",
        Kind.MISSING_BARRIER,
    ),
    ("remainder dropped", "(K + T - 1) // T", "K // T", Kind.DROPPED_TILE),
    ("sum set, not added to", "acc += sA", "acc = sA", Kind.LOST_SUM),
    ("no guard on the store", "if row < M and col < N:", "if True:", Kind.MISSING_GUARD),
    ("float64 sum", "acc = float32(0)", "acc = 0.0", Kind.FLOAT64),
    (
        "stored transposed",
        "out[row, col] = acc",
        "out[col, row] = acc",
        (Kind.TRANSPOSED, Kind.OUT_OF_BOUNDS, Kind.MISSING_GUARD),
    ),
    (
        "products made whole",
        "acc += sA[ty, k] * sB[k, tx]",
        "acc += int(sA[ty, k] * sB[k, tx])",
        (Kind.ROUNDED, Kind.FLOAT64),
    ),
    (
        "sum in half precision",
        "acc += sA[ty, k] * sB[k, tx]",
        "acc = float16(acc + sA[ty, k] * sB[k, tx])",
        Kind.ROUNDED,
    ),
    ("samples made whole", "x[row + ka] if", "int(x[row + ka]) if", (Kind.ROUNDED, Kind.WRONG)),
    ("samples in half precision", "x[row + ka] if", "float16(x[row + ka]) if", Kind.ROUNDED),
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
    (
        "an early sum",
        f"sA[ty, tx] = {A_LOAD}",
        "i = row + ka\n        sA[ty, tx] = x[i] if row < M and ka < K else float32(0)",
    ),
]
