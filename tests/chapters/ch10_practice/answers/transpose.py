"""A transpose."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.kinds import Kind

LOAD = "if row < M and col < N:\n        tile"
STORE = "if row < N and col < M:"
WRONG = [
    ("no barrier", "    cuda.syncthreads()\n", "", Kind.MISSING_BARRIER),
    (
        "barrier under the guard",
        "    cuda.syncthreads()\n",
        "        cuda.syncthreads()\n",
        Kind.DIVERGENT_BARRIER,
    ),
    ("no guard on the load", LOAD, "if True:\n        tile", Kind.MISSING_GUARD),
    ("no guard on the store", STORE, "if True:", (Kind.MISSING_GUARD, Kind.UNINITIALISED)),
    ("the load's guard on the store", STORE, "if row < M and col < N:", Kind.ONLY_SQUARE),
    ("one size twice", STORE, "if row < M and col < M:", (Kind.ONLY_SQUARE, Kind.UNWRITTEN)),
    (
        "not turned",
        "tile[tx, ty]",
        "tile[ty, tx]",
        (Kind.UNINITIALISED, Kind.SWAPPED, Kind.TRANSPOSED),
    ),
    (
        "tiles stay",
        "col, row = cuda.blockIdx.y * W + tx, cuda.blockIdx.x * W + ty",
        "col, row = cuda.blockIdx.x * W + tx, cuda.blockIdx.y * W + ty",
        (Kind.SWAPPED, Kind.UNINITIALISED, Kind.UNWRITTEN, Kind.ONLY_SQUARE),
    ),
    ("without the bench", "At[row, col] = tile[tx, ty]", "At[row, col] = A[col, row]", Kind.BUDGET),
    (
        "sideways store",
        "At[row, col] = tile[tx, ty]",
        "col, row = cuda.blockIdx.y * W + ty, cuda.blockIdx.x * W + tx\n"
        "        if row < N and col < M:\n            At[row, col] = tile[ty, tx]",
        (Kind.BUDGET, Kind.UNWRITTEN),
    ),
    (
        "wrong stride",
        "cuda.blockIdx.y * W + tx",
        "cuda.blockIdx.y * 16 + tx",
        (Kind.RACE, Kind.UNINITIALISED),
    ),
    (
        "stores into A",
        "At[row, col] = tile",
        "A[row, col] = tile",
        (Kind.INPUT_CHANGED, Kind.ONLY_SQUARE, Kind.MISSING_GUARD, Kind.RACE),
    ),
    ("a small tile", "array((W, W)", "array((W, 16)", Kind.OUT_OF_BOUNDS),
]
RIGHT = [
    ("a padded tile", "array((W, W)", "array((W, 33)"),
    (
        "turned on the way in",
        "tile[ty, tx] = A[row, col]\n    cuda.syncthreads()",
        "tile[ty, tx] = A[row, col]\n    cuda.syncthreads()\n    bx, by = cuda.blockIdx.x, cuda.blockIdx.y",
    ),
]
