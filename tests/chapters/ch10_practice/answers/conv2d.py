"""A convolution of an image."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

A_LOAD = "image[i, j] if row < M and ka < K else float32(0)"
B_LOAD = "F[kb, col] if kb < K and col < N else float32(0)"
WRONG = [
    (
        "taps column by column",
        "ka // 3, row % across + ka % 3",
        "ka % 3, row % across + ka // 3",
        Flaw.SWAPPED,
    ),
    (
        "image turned",
        "image[i, j]",
        "image[j, i]",
        (Flaw.OUT_OF_BOUNDS, Flaw.ONLY_SQUARE, Flaw.WRONG),
    ),
    (
        "width of the image",
        "across = image.shape[1] - 2",
        "across = image.shape[1]",
        (Flaw.OUT_OF_BOUNDS, Flaw.MISSING_GUARD),
    ),
    (
        "height instead of width",
        "image.shape[1] - 2",
        "image.shape[0] - 2",
        (Flaw.OUT_OF_BOUNDS, Flaw.ONLY_SQUARE, Flaw.WRONG, Flaw.MISSING_GUARD),
    ),
    ("no window", "+ ka // 3, row % across + ka % 3", ", row % across", Flaw.WRONG),
    (
        "division and rest exchanged",
        "i, j = row // across + ka // 3, row % across + ka % 3",
        "i, j = row % across + ka // 3, row // across + ka % 3",
        (Flaw.OUT_OF_BOUNDS, Flaw.WRONG),
    ),
    ("no guard on A", A_LOAD, "image[i, j]", (Flaw.MISSING_GUARD, Flaw.OUT_OF_BOUNDS)),
    ("no guard on A's row", "row < M and ka < K", "ka < K", Flaw.MISSING_GUARD),
    (
        "no zero-fill",
        f"sA[ty, tx] = {A_LOAD}",
        "if row < M and ka < K:\n            sA[ty, tx] = image[i, j]",
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
    ("remainder dropped", "(K + S - 1) // S", "K // S", Flaw.DROPPED_TILE),
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
