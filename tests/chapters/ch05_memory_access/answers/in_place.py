"""A transpose without a second matrix."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

ABOVE = "if top + ty < n and left + tx < n:"
WRONG = [
    ("no barrier", "        cuda.syncthreads()\n", "", Flaw.MISSING_BARRIER),
    ("all blocks work", "if left >= top:", "if True:", (Flaw.RACE, Flaw.WRONG, Flaw.TRANSPOSED)),
    ("the diagonal left out", "if left >= top:", "if left > top:", Flaw.UNWRITTEN),
    ("no guard above", ABOVE, "if True:", (Flaw.MISSING_GUARD, Flaw.UNINITIALISED)),
    ("one bench for both", "there[", "here[", (Flaw.RACE, Flaw.MISSING_BARRIER, Flaw.WRONG)),
    (
        "only one half written",
        "            A[top + ty, left + tx] = there[tx, ty]\n",
        "            pass\n",
        (Flaw.WRONG, Flaw.UNWRITTEN),
    ),
    (
        "tiles exchanged, not turned",
        "[tx, ty]",
        "[ty, tx]",
        (Flaw.WRONG, Flaw.SWAPPED, Flaw.UNINITIALISED),
    ),
    ("no padding", "(W, 33)", "(W, W)", Flaw.BUDGET),
    ("a small bench", "(W, 33)", "(W, 16)", Flaw.OUT_OF_BOUNDS),
    ("benches of 64 KB", "(W, 33)", "(512, 33)", Flaw.SHARED_LIMIT),
    (
        "a barrier under a guard",
        "        cuda.syncthreads()\n        if left + ty",
        "        if top + tx < n:\n            cuda.syncthreads()\n        if left + ty",
        Flaw.DIVERGENT_BARRIER,
    ),
    (
        "without a bench",
        "= here[tx, ty]",
        "= A[top + tx, left + ty]",
        (Flaw.RACE, Flaw.BUDGET, Flaw.WRONG, Flaw.UNINITIALISED),
    ),
    ("negated", "= here[tx, ty]", "= -here[tx, ty]", Flaw.WRONG),
]
RIGHT = [
    ("padding by three", "(W, 33)", "(W, 35)"),
    ("blocks below the diagonal instead", "if left >= top:", "if left <= top:"),
]
