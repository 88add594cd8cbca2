"""A transpose without conflicts."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.kinds import Kind

LOAD = "if row < M and col < N:\n        tile"
STORE = "if row < N and col < M:"
WRONG = [
    ("padded the other way", "(W, W + 1)", "(W + 1, W)", Kind.BUDGET),
    ("not padded", "(W, W + 1)", "(W, 1 * W)", Kind.BUDGET),
    ("padded by two", "(W, W + 1)", "(W, W + 2)", Kind.BUDGET),
    ("padded by four", "(W, W + 1)", "(W, W + 4)", Kind.BUDGET),
    ("padded by a whole row", "(W, W + 1)", "(W, 2 * W)", Kind.BUDGET),
    ("too short", "(W, W + 1)", "(W, W - 1)", Kind.OUT_OF_BOUNDS),
    ("too few rows", "(W, W + 1)", "(W - 1, W + 1)", Kind.OUT_OF_BOUNDS),
    ("float64 tile", "(W, W + 1), float32", "(W, W + 1), float64", (Kind.BUDGET, Kind.FLOAT64)),
    ("no barrier", "    cuda.syncthreads()\n", "", Kind.MISSING_BARRIER),
    ("race across warps only", "cuda.syncthreads()", "cuda.syncwarp()", Kind.MISSING_BARRIER),
    ("no guard on the load", LOAD, "if True:\n        tile", Kind.MISSING_GUARD),
    ("the load's guard on the store", STORE, "if row < M and col < N:", Kind.ONLY_SQUARE),
    ("not turned", "tile[tx, ty]", "tile[ty, tx]",
     (Kind.UNINITIALISED, Kind.SWAPPED, Kind.TRANSPOSED)),
    ("without the bench", "At[row, col] = tile[tx, ty]", "At[row, col] = A[col, row]", Kind.BUDGET),
]
RIGHT = [
    ("padded by three", "(W, W + 1)", "(W, W + 3)"),
    ("padded by five, and a row", "(W, W + 1)", "(W + 1, W + 5)"),
    ("a number", "(W, W + 1)", "(32, 33)"),
]
