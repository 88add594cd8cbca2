"""A transpose without a second matrix."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.kinds import Kind

ABOVE = "if top + ty < n and left + tx < n:"
WRONG = [
    ("no barrier", "        cuda.syncthreads()\n", "", Kind.MISSING_BARRIER),
    ("all blocks work", "if left >= top:", "if True:", (Kind.RACE, Kind.WRONG, Kind.TRANSPOSED)),
    ("the diagonal left out", "if left >= top:", "if left > top:", Kind.UNWRITTEN),
    ("no guard above", ABOVE, "if True:", (Kind.MISSING_GUARD, Kind.UNINITIALISED)),
    ("one bench for both", "there[", "here[", (Kind.RACE, Kind.MISSING_BARRIER, Kind.WRONG)),
    (
        "only one half written",
        "            A[top + ty, left + tx] = there[tx, ty]\n",
        "            pass\n",
        (Kind.WRONG, Kind.UNWRITTEN),
    ),
    (
        "tiles exchanged, not turned",
        "[tx, ty]",
        "[ty, tx]",
        (Kind.WRONG, Kind.SWAPPED, Kind.UNINITIALISED),
    ),
    ("no padding", "(W, 33)", "(W, W)", Kind.BUDGET),
    ("a small bench", "(W, 33)", "(W, 16)", Kind.OUT_OF_BOUNDS),
    ("benches of 64 KB", "(W, 33)", "(512, 33)", Kind.SHARED_LIMIT),
    (
        "a barrier under a guard",
        "        cuda.syncthreads()\n        if left + ty",
        "        if top + tx < n:\n            cuda.syncthreads()\n        if left + ty",
        Kind.DIVERGENT_BARRIER,
    ),
    (
        "without a bench",
        "= here[tx, ty]",
        "= A[top + tx, left + ty]",
        (Kind.RACE, Kind.BUDGET, Kind.WRONG, Kind.UNINITIALISED),
    ),
    ("negated", "= here[tx, ty]", "= -here[tx, ty]", Kind.WRONG),
]
RIGHT = [
    ("padding by three", "(W, 33)", "(W, 35)"),
    ("blocks below the diagonal instead", "if left >= top:", "if left <= top:"),
]
