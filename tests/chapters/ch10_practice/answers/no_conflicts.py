"""A transpose without conflicts."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

LOAD = "if row < M and col < N:\n        tile"
STORE = "if row < N and col < M:"
WRONG = [
    ("padded the other way", "(W, 33)", "(33, W)", Flaw.BUDGET),
    ("not padded", "(W, 33)", "(W, 32)", Flaw.BUDGET),
    ("a sum of names", "(W, 33)", "(W, W + 1)", Flaw.NOT_COMPILED),
    ("too short", "(W, 33)", "(W, 31)", Flaw.OUT_OF_BOUNDS),
    ("too few rows", "(W, 33)", "(31, 33)", Flaw.OUT_OF_BOUNDS),
    ("float64 tile", "(W, 33), float32", "(W, 33), float64", (Flaw.BUDGET, Flaw.FLOAT64)),
    ("no barrier", "    cuda.syncthreads()\n", "", Flaw.MISSING_BARRIER),
    ("race across warps only", "cuda.syncthreads()", "cuda.syncwarp()", Flaw.MISSING_BARRIER),
    ("no guard on the load", LOAD, "if True:\n        tile", Flaw.MISSING_GUARD),
    ("the load's guard on the store", STORE, "if row < M and col < N:", Flaw.ONLY_SQUARE),
    (
        "not turned",
        "tile[tx, ty]",
        "tile[ty, tx]",
        (Flaw.UNINITIALISED, Flaw.SWAPPED, Flaw.TRANSPOSED),
    ),
    ("tile of half precision", "(W, 33), float32", "(W, 33), float16", Flaw.ROUNDED),
    ("tile of integers", "(W, 33), float32", "(W, 33), int32", Flaw.ROUNDED),
]
RIGHT = [
    ("padded by three", "(W, 33)", "(W, 35)"),
    ("padded by five, and a row", "(W, 33)", "(33, 37)"),
]
