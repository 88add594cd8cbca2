"""A convolution of an image."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.kinds import Kind

A_LOAD = "image[i, j] if row < M and ka < K else float32(0)"
B_LOAD = "F[kb, col] if kb < K and col < N else float32(0)"
WRONG = [
    (
        "taps column by column",
        "ka // 3, row % across + ka % 3",
        "ka % 3, row % across + ka // 3",
        Kind.SWAPPED,
    ),
    (
        "image turned",
        "image[i, j]",
        "image[j, i]",
        (Kind.OUT_OF_BOUNDS, Kind.ONLY_SQUARE, Kind.WRONG),
    ),
    (
        "width of the image",
        "across = image.shape[1] - 2",
        "across = image.shape[1]",
        (Kind.OUT_OF_BOUNDS, Kind.MISSING_GUARD),
    ),
    (
        "height instead of width",
        "image.shape[1] - 2",
        "image.shape[0] - 2",
        (Kind.OUT_OF_BOUNDS, Kind.ONLY_SQUARE, Kind.WRONG, Kind.MISSING_GUARD),
    ),
    ("no window", "+ ka // 3, row % across + ka % 3", ", row % across", Kind.WRONG),
    (
        "division and rest exchanged",
        "i, j = row // across + ka // 3, row % across + ka % 3",
        "i, j = row % across + ka // 3, row // across + ka % 3",
        (Kind.OUT_OF_BOUNDS, Kind.WRONG),
    ),
    ("no guard on A", A_LOAD, "image[i, j]", (Kind.MISSING_GUARD, Kind.OUT_OF_BOUNDS)),
    ("no guard on A's row", "row < M and ka < K", "ka < K", Kind.MISSING_GUARD),
    (
        "no guard on A's tap",
        "row < M and ka < K",
        "row < M",
        (Kind.MISSING_GUARD, Kind.OUT_OF_BOUNDS),
    ),
    ("no guard on F", B_LOAD, "F[kb, col]", (Kind.MISSING_GUARD, Kind.OUT_OF_BOUNDS)),
    (
        "no guard on F's tap",
        "kb < K and col < N",
        "col < N",
        (Kind.MISSING_GUARD, Kind.OUT_OF_BOUNDS),
    ),
    (
        "no zero-fill",
        f"sA[ty, tx] = {A_LOAD}",
        "if row < M and ka < K:\n            sA[ty, tx] = image[i, j]",
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
    ("remainder dropped", "(K + S - 1) // S", "K // S", Kind.DROPPED_TILE),
    ("sum set, not added to", "acc += sA", "acc = sA", (Kind.LOST_SUM, Kind.WRONG)),
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
        (Kind.ROUNDED, Kind.WRONG),
    ),
    ("pixels made whole", "image[i, j] if", "int(image[i, j]) if", (Kind.ROUNDED, Kind.WRONG)),
    ("pixels in half precision", "image[i, j] if", "float16(image[i, j]) if", Kind.ROUNDED),
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
        "a window",
        "i, j = row // across + ka // 3, row % across + ka % 3",
        "top, left = row // across, row % across\n        i, j = top + ka // 3, left + ka % 3",
    ),
]
