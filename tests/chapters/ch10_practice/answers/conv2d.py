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
        "no zero-fill",
        f"sA[ty, tx] = {A_LOAD}",
        "if row < M and ka < K:\n            sA[ty, tx] = image[i, j]",
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
    ("remainder dropped", "(K + S - 1) // S", "K // S", Kind.DROPPED_TILE),
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
