"""Four sums per thread."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

SUM = "acc[r] += sA[ROWS * ty + r, k] * b"
WRONG = [
    ("B read four times", SUM, "acc[r] += sA[ROWS * ty + r, k] * sB[k, tx]", Flaw.BUDGET),
    ("B of another row", "b = sB[k, tx]", "b = sB[tx, k]", Flaw.SWAPPED),
    ("B of the first row", "b = sB[k, tx]", "b = sB[0, tx]", Flaw.WRONG),
    (
        "five sums",
        "for r in range(ROWS):\n                acc",
        "for r in range(ROWS + 1):\n                acc",
        Flaw.OUT_OF_BOUNDS,
    ),
    ("sums set, not added to", "acc[r] += sA", "acc[r] = sA", Flaw.LOST_SUM),
    (
        "first barrier missing",
        "        cuda.syncthreads()\n        # --- yours, from here\n",
        "        # --- yours, from here\n",
        Flaw.MISSING_BARRIER,
    ),
    ("remainder dropped", "(K + T - 1) // T", "K // T", Flaw.DROPPED_TILE),
    (
        "stored in another row",
        "row = top + ROWS * ty + r",
        "row = top + ty + ROWS * r",
        (Flaw.WRONG, Flaw.ONLY_MULTIPLES),
    ),
    (
        "float64 sums",
        "acc = cuda.local.array(ROWS, float32)",
        "acc = cuda.local.array(ROWS, float64)",
        Flaw.FLOAT64,
    ),
    (
        "no guard on the store",
        "if row < M and col < N:\n            C",
        "if True:\n            C",
        Flaw.MISSING_GUARD,
    ),
    (
        "half of the tile carried",
        "range(ty, T, T // ROWS)",
        "range(ty, T // 2, T // ROWS)",
        Flaw.UNINITIALISED,
    ),
    (
        "products made whole",
        "acc[r] += sA[ROWS * ty + r, k] * b",
        "acc[r] += int(sA[ROWS * ty + r, k] * b)",
        (Flaw.ROUNDED, Flaw.FLOAT64),
    ),
    (
        "sum in half precision",
        "acc[r] += sA[ROWS * ty + r, k] * b",
        "acc[r] = float16(acc[r] + sA[ROWS * ty + r, k] * b)",
        Flaw.ROUNDED,
    ),
]
RIGHT = [
    (
        "written out",
        "            for r in range(ROWS):\n                " + SUM,
        "            y = ROWS * ty\n            acc[0] += sA[y, k] * b\n            acc[1] += sA[y + 1, k] * b\n"
        "            acc[2] += sA[y + 2, k] * b\n            acc[3] += sA[y + 3, k] * b",
    ),
    ("fused", SUM, "acc[r] = cuda.fma(sA[ROWS * ty + r, k], b, acc[r])"),
]
