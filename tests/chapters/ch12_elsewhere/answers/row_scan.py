"""Prefix sums of rows."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

WRONG = [
    ("no barrier after the stores", "else float32(0)\n        cuda.syncthreads()\n        step = 1", "else float32(0)\n        step = 1", Flaw.MISSING_BARRIER),
    ("barrier under the if", "if col < N:\n            S[row, col] = before + s[t]\n", "if col < N:\n            S[row, col] = before + s[t]\n            cuda.syncthreads()\n", Flaw.DIVERGENT_BARRIER),
    ("no guard at the load", "A[row, col] if col < N else float32(0)", "A[row, col]", (Flaw.MISSING_GUARD, Flaw.OUT_OF_BOUNDS)),
    ("reads left of the first", "s[t - step] if t >= step else float32(0)", "s[t - step]", (Flaw.NEGATIVE_INDEX, Flaw.OUT_OF_BOUNDS, Flaw.WRONG)),
    ("one too few", "t >= step", "t > step", Flaw.WRONG),
    ("never stops", "step *= 2", "step *= 1", Flaw.ENDLESS),
    ("begins anew each time", "before += s[THREADS - 1]", "before += float32(0)", (Flaw.LOST_SUM, Flaw.WRONG)),
    ("only the first columns", "range(0, N, THREADS)", "range(0, THREADS, THREADS)", (Flaw.UNWRITTEN, Flaw.DROPPED_TILE)),
    ("remainder dropped", "range(0, N, THREADS)", "range(0, N // THREADS * THREADS, THREADS)", (Flaw.UNWRITTEN, Flaw.DROPPED_TILE, Flaw.NOTHING_WRITTEN)),
    ("rows by columns", "A[row, col] if", "A[col, row] if", (Flaw.SWAPPED, Flaw.OUT_OF_BOUNDS)),
    ("exclusive", "S[row, col] = before + s[t]", "S[row, col] = before + s[t] - A[row, col]", (Flaw.WRONG, Flaw.BUDGET)),
    ("float64 sum", "before = float32(0)", "before = 0.0", Flaw.FLOAT64),
    ("shared memory of half precision", "array(THREADS, float32)", "array(THREADS, float16)", Flaw.ROUNDED),
]  # fmt: skip
RIGHT = [
    ("steps in a for loop", "        step = 1\n        while step < THREADS:\n", "        step = 1\n        for _ in range(6):\n"),
    ("no addition of nothing", "            s[t] += left\n", "            if t >= step:\n                s[t] += left\n"),
]  # fmt: skip
