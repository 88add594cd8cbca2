"""The transposed matrix times a vector."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.kinds import Kind

STORE = "s[ty, tx] = acc\n    cuda.syncthreads()\n"
ADD = "s[ty, tx] += s[ty + half, tx]\n"
WRONG = [
    ("no barrier after the stores", STORE, "s[ty, tx] = acc\n", Kind.MISSING_BARRIER),
    ("barrier under the if", ADD + "        cuda.syncthreads()\n", ADD + "            cuda.syncthreads()\n", Kind.DIVERGENT_BARRIER),
    ("no guard", "if col < K:\n        for", "if True:\n        for", (Kind.MISSING_GUARD, Kind.OUT_OF_BOUNDS)),
    ("only the first rows", "range(ty, N, ROWS)", "range(ty, min(N, ROWS), ROWS)", (Kind.DROPPED_TILE, Kind.WRONG)),
    ("remainder dropped", "range(ty, N, ROWS)", "range(ty, N // ROWS * ROWS, ROWS)", (Kind.DROPPED_TILE, Kind.WRONG, Kind.ONLY_MULTIPLES)),
    ("every thread adds all rows", "range(ty, N, ROWS)", "range(N)", (Kind.WRONG, Kind.BUDGET)),
    ("the same rows for all", "range(ty, N, ROWS)", "range(0, N, ROWS)", Kind.WRONG),
    ("not transposed", "W[row, col] * g[row]", "W[col, row] * g[row]", (Kind.SWAPPED, Kind.TRANSPOSED, Kind.OUT_OF_BOUNDS)),
    ("the wrong element of g", "g[row]", "g[ty]", (Kind.WRONG, Kind.OUT_OF_BOUNDS, Kind.MISSING_GUARD)),
    ("sum set, not added to", "acc += W", "acc = W", (Kind.LOST_SUM, Kind.WRONG)),
    ("never stops", "half //= 2", "half //= 1", Kind.ENDLESS),
    ("all add", "if ty < half:", "if True:", Kind.OUT_OF_BOUNDS),
    ("one too many", "if ty < half:", "if ty <= half:", (Kind.WRONG, Kind.OUT_OF_BOUNDS, Kind.MISSING_BARRIER)),
]  # fmt: skip
RIGHT = [
    ("one thread of each column adds the eight", "    half = ROWS // 2\n    while half > 0:\n        if ty < half:\n            s[ty, tx] += s[ty + half, tx]\n        cuda.syncthreads()\n        half //= 2\n", "    if ty == 0:\n        for i in range(1, ROWS):\n            s[0, tx] += s[i, tx]\n"),
    ("rows in a while loop", "        for row in range(ty, N, ROWS):\n            acc += W[row, col] * g[row]\n", "        row = ty\n        while row < N:\n            acc += W[row, col] * g[row]\n            row += ROWS\n"),
]  # fmt: skip
