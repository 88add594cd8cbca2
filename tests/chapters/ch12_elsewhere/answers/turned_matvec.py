"""The transposed matrix times a vector."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

STORE = "s[ty, tx] = acc\n    cuda.syncthreads()\n"
ADD = "s[ty, tx] += s[ty + half, tx]\n"
WRONG = [
    ("no barrier after the stores", STORE, "s[ty, tx] = acc\n", Flaw.MISSING_BARRIER),
    ("barrier under the if", ADD + "        cuda.syncthreads()\n", ADD + "            cuda.syncthreads()\n", Flaw.DIVERGENT_BARRIER),
    ("no guard", "if col < K:\n        for", "if True:\n        for", (Flaw.MISSING_GUARD, Flaw.OUT_OF_BOUNDS)),
    ("only the first rows", "range(ty, N, ROWS)", "range(ty, min(N, ROWS), ROWS)", (Flaw.DROPPED_TILE, Flaw.WRONG)),
    ("remainder dropped", "range(ty, N, ROWS)", "range(ty, N // ROWS * ROWS, ROWS)", (Flaw.DROPPED_TILE, Flaw.WRONG, Flaw.ONLY_MULTIPLES)),
    ("every thread adds all rows", "range(ty, N, ROWS)", "range(N)", (Flaw.WRONG, Flaw.BUDGET)),
    ("the same rows for all", "range(ty, N, ROWS)", "range(0, N, ROWS)", Flaw.WRONG),
    ("not transposed", "W[row, col] * g[row]", "W[col, row] * g[row]", (Flaw.SWAPPED, Flaw.TRANSPOSED, Flaw.OUT_OF_BOUNDS)),
    ("the wrong element of g", "g[row]", "g[ty]", (Flaw.WRONG, Flaw.OUT_OF_BOUNDS, Flaw.MISSING_GUARD)),
    ("sum set, not added to", "acc += W", "acc = W", (Flaw.LOST_SUM, Flaw.WRONG)),
    ("never stops", "half //= 2", "half //= 1", Flaw.ENDLESS),
    ("all add", "if ty < half:", "if True:", Flaw.OUT_OF_BOUNDS),
    ("one too many", "if ty < half:", "if ty <= half:", (Flaw.WRONG, Flaw.OUT_OF_BOUNDS, Flaw.MISSING_BARRIER)),
]  # fmt: skip
RIGHT = [
    ("one thread of each column adds the eight", "    half = ROWS // 2\n    while half > 0:\n        if ty < half:\n            s[ty, tx] += s[ty + half, tx]\n        cuda.syncthreads()\n        half //= 2\n", "    if ty == 0:\n        for i in range(1, ROWS):\n            s[0, tx] += s[i, tx]\n"),
    ("rows in a while loop", "        for row in range(ty, N, ROWS):\n            acc += W[row, col] * g[row]\n", "        row = ty\n        while row < N:\n            acc += W[row, col] * g[row]\n            row += ROWS\n"),
]  # fmt: skip
