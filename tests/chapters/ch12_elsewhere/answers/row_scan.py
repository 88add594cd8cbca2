"""Prefix sums of rows."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.kinds import Kind

WRONG = [
    ("no barrier after the stores", "else float32(0)\n        cuda.syncthreads()\n        step = 1", "else float32(0)\n        step = 1", Kind.MISSING_BARRIER),
    ("barrier under the if", "if col < N:\n            S[row, col] = before + s[t]\n", "if col < N:\n            S[row, col] = before + s[t]\n            cuda.syncthreads()\n", Kind.DIVERGENT_BARRIER),
    ("no guard at the load", "A[row, col] if col < N else float32(0)", "A[row, col]", (Kind.MISSING_GUARD, Kind.OUT_OF_BOUNDS)),
    ("reads left of the first", "s[t - step] if t >= step else float32(0)", "s[t - step]", (Kind.NEGATIVE_INDEX, Kind.OUT_OF_BOUNDS, Kind.WRONG)),
    ("one too few", "t >= step", "t > step", Kind.WRONG),
    ("never stops", "step *= 2", "step *= 1", Kind.ENDLESS),
    ("begins anew each time", "before += s[THREADS - 1]", "before += float32(0)", (Kind.LOST_SUM, Kind.WRONG)),
    ("only the first columns", "range(0, N, THREADS)", "range(0, THREADS, THREADS)", (Kind.UNWRITTEN, Kind.DROPPED_TILE)),
    ("remainder dropped", "range(0, N, THREADS)", "range(0, N // THREADS * THREADS, THREADS)", (Kind.UNWRITTEN, Kind.DROPPED_TILE, Kind.NOTHING_WRITTEN)),
    ("rows by columns", "A[row, col] if", "A[col, row] if", (Kind.SWAPPED, Kind.OUT_OF_BOUNDS)),
    ("exclusive", "S[row, col] = before + s[t]", "S[row, col] = before + s[t] - A[row, col]", (Kind.WRONG, Kind.BUDGET)),
    ("float64 sum", "before = float32(0)", "before = 0.0", Kind.FLOAT64),
    ("shared memory of half precision", "array(THREADS, float32)", "array(THREADS, float16)", Kind.ROUNDED),
]  # fmt: skip
RIGHT = [
    ("steps in a for loop", "        step = 1\n        while step < THREADS:\n", "        step = 1\n        for _ in range(6):\n"),
    ("no addition of nothing", "            s[t] += left\n", "            if t >= step:\n                s[t] += left\n"),
]  # fmt: skip
