"""The transposed matrix times a vector."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.kinds import Kind

STORE = "s[ty, tx] = acc\n    cuda.syncthreads()\n"
ADD = "s[ty, tx] += s[ty + half, tx]\n"
WRONG = [
    ("no barrier after the stores", STORE, "s[ty, tx] = acc\n", Kind.MISSING_BARRIER),
    ("a warp's barrier only", STORE, "s[ty, tx] = acc\n    cuda.syncwarp()\n", Kind.MISSING_BARRIER),
    ("no barrier in the loop", ADD + "        cuda.syncthreads()\n", ADD, Kind.MISSING_BARRIER),
    ("barrier under the if", ADD + "        cuda.syncthreads()\n", ADD + "            cuda.syncthreads()\n", Kind.DIVERGENT_BARRIER),
    ("no guard", "if col < K:\n        for", "if True:\n        for", (Kind.MISSING_GUARD, Kind.OUT_OF_BOUNDS)),
    ("one row too many", "range(ty, N, ROWS)", "range(ty, N + 1, ROWS)", (Kind.MISSING_GUARD, Kind.OUT_OF_BOUNDS)),
    ("only the first rows", "range(ty, N, ROWS)", "range(ty, min(N, ROWS), ROWS)", (Kind.DROPPED_TILE, Kind.WRONG)),
    ("remainder dropped", "range(ty, N, ROWS)", "range(ty, N // ROWS * ROWS, ROWS)", (Kind.DROPPED_TILE, Kind.WRONG, Kind.ONLY_MULTIPLES)),
    ("every thread adds all rows", "range(ty, N, ROWS)", "range(N)", (Kind.WRONG, Kind.BUDGET)),
    ("the same rows for all", "range(ty, N, ROWS)", "range(0, N, ROWS)", Kind.WRONG),
    ("not transposed", "W[row, col] * g[row]", "W[col, row] * g[row]", (Kind.SWAPPED, Kind.TRANSPOSED, Kind.OUT_OF_BOUNDS)),
    ("the wrong element of g", "g[row]", "g[ty]", (Kind.WRONG, Kind.OUT_OF_BOUNDS, Kind.MISSING_GUARD)),
    ("sum set, not added to", "acc += W", "acc = W", (Kind.LOST_SUM, Kind.WRONG)),
    ("a difference", "acc += W", "acc -= W", Kind.WRONG),
    ("no reduction", "half = ROWS // 2", "half = 0", Kind.WRONG),
    ("starts too low", "half = ROWS // 2", "half = ROWS // 4", Kind.WRONG),
    ("stops too early", "while half > 0", "while half > 1", Kind.WRONG),
    ("never stops", "half //= 2", "half //= 1", Kind.ENDLESS),
    ("all add", "if ty < half:", "if True:", Kind.OUT_OF_BOUNDS),
    ("one too many", "if ty < half:", "if ty <= half:", (Kind.WRONG, Kind.OUT_OF_BOUNDS, Kind.MISSING_BARRIER)),
    ("halves along the warp", "s[ty + half, tx]", "s[ty, tx + half]", (Kind.WRONG, Kind.OUT_OF_BOUNDS)),
    ("places not written", "    s[ty, tx] = acc\n", "    if ty < 4:\n        s[ty, tx] = acc\n", Kind.UNINITIALISED),
    ("float64 sum", "acc = float32(0)", "acc = 0.0", Kind.FLOAT64),
    ("sum in half precision", "acc += W[row, col] * g[row]", "acc = float16(acc + W[row, col] * g[row])", (Kind.ROUNDED, Kind.WRONG)),
]  # fmt: skip
RIGHT = [
    ("one thread of each column adds the eight", "    half = ROWS // 2\n    while half > 0:\n        if ty < half:\n            s[ty, tx] += s[ty + half, tx]\n        cuda.syncthreads()\n        half //= 2\n", "    if ty == 0:\n        for i in range(1, ROWS):\n            s[0, tx] += s[i, tx]\n"),
    ("rows in a while loop", "        for row in range(ty, N, ROWS):\n            acc += W[row, col] * g[row]\n", "        row = ty\n        while row < N:\n            acc += W[row, col] * g[row]\n            row += ROWS\n"),
    ("neighbouring rows first", "    half = ROWS // 2\n    while half > 0:\n        if ty < half:\n            s[ty, tx] += s[ty + half, tx]\n        cuda.syncthreads()\n        half //= 2\n", "    step = 1\n    while step < ROWS:\n        if ty % (2 * step) == 0:\n            s[ty, tx] += s[ty + step, tx]\n        cuda.syncthreads()\n        step *= 2\n"),
]  # fmt: skip
