"""A transpose."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

LOAD = "if row < M and col < N:\n        tile"
STORE = "if row < N and col < M:"
WRONG = [
    ("no barrier", "    cuda.syncthreads()\n", "", Flaw.MISSING_BARRIER),
    (
        "barrier under the guard",
        "    cuda.syncthreads()\n",
        "        cuda.syncthreads()\n",
        Flaw.DIVERGENT_BARRIER,
    ),
    ("no guard on the load", LOAD, "if True:\n        tile", Flaw.MISSING_GUARD),
    ("no guard on the store", STORE, "if True:", (Flaw.MISSING_GUARD, Flaw.UNINITIALISED)),
    ("the load's guard on the store", STORE, "if row < M and col < N:", Flaw.ONLY_SQUARE),
    ("one size twice", STORE, "if row < M and col < M:", (Flaw.ONLY_SQUARE, Flaw.UNWRITTEN)),
    (
        "not turned",
        "tile[tx, ty]",
        "tile[ty, tx]",
        (Flaw.UNINITIALISED, Flaw.SWAPPED, Flaw.TRANSPOSED),
    ),
    (
        "tiles stay",
        "col, row = cuda.blockIdx.y * W + tx, cuda.blockIdx.x * W + ty",
        "col, row = cuda.blockIdx.x * W + tx, cuda.blockIdx.y * W + ty",
        (Flaw.SWAPPED, Flaw.UNINITIALISED, Flaw.UNWRITTEN, Flaw.ONLY_SQUARE),
    ),
    ("without the bench", "At[row, col] = tile[tx, ty]", "At[row, col] = A[col, row]", Flaw.BUDGET),
    (
        "sideways store",
        "At[row, col] = tile[tx, ty]",
        "col, row = cuda.blockIdx.y * W + ty, cuda.blockIdx.x * W + tx\n"
        "        if row < N and col < M:\n            At[row, col] = tile[ty, tx]",
        (Flaw.BUDGET, Flaw.UNWRITTEN),
    ),
    (
        "wrong stride",
        "cuda.blockIdx.y * W + tx",
        "cuda.blockIdx.y * 16 + tx",
        (Flaw.RACE, Flaw.UNINITIALISED),
    ),
    (
        "stores into A",
        "At[row, col] = tile",
        "A[row, col] = tile",
        (Flaw.INPUT_CHANGED, Flaw.ONLY_SQUARE, Flaw.MISSING_GUARD, Flaw.RACE),
    ),
    ("a small tile", "array((W, W)", "array((W, 16)", Flaw.OUT_OF_BOUNDS),
]
RIGHT = [
    ("a padded tile", "array((W, W)", "array((W, 33)"),
    (
        "turned on the way in",
        "tile[ty, tx] = A[row, col]\n    cuda.syncthreads()",
        "tile[ty, tx] = A[row, col]\n    cuda.syncthreads()\n    bx, by = cuda.blockIdx.x, cuda.blockIdx.y",
    ),
]
