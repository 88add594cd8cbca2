"""The climb."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

OPTIONS = {"block": (8, 8), "tile": (32, 32)}
A_LOAD = "A[row, k] if row < M and k < K else float32(0)"
WRONG = [
    (
        "first barrier missing",
        "        cuda.syncthreads()\n        for k in range(STEP):",
        "        for k in range(STEP):",
        Flaw.MISSING_BARRIER,
    ),
    ("remainder dropped", "range(0, K, STEP)", "range(0, K - STEP, STEP)", Flaw.DROPPED_TILE),
    ("no guard on A", A_LOAD, "A[row, k]", Flaw.MISSING_GUARD),
    (
        "sizes exchanged",
        "if row < M and col < N:",
        "if row < N and col < M:",
        (Flaw.ONLY_SQUARE, Flaw.MISSING_GUARD),
    ),
    ("stored transposed", "C[row, col] = acc[i, j]", "C[col, row] = acc[i, j]", Flaw.TRANSPOSED),
    ("thread tile transposed", "= acc[i, j]", "= acc[j, i]", Flaw.WRONG),
    (
        "half of the tile carried",
        "SIDE * STEP, threads",
        "SIDE * STEP // 2, threads",
        Flaw.UNINITIALISED,
    ),
    (
        "A and B exchanged at the bench",
        "a[i] = sA[k, ty + i * threads]",
        "a[i] = sB[k, ty + i * threads]",
        Flaw.WRONG_OPERAND,
    ),
    ("sums set, not added to", "acc[i, j] += a", "acc[i, j] = a", Flaw.LOST_SUM),
    (
        "sums not cleared",
        "acc[i, j] = 0",
        "acc[0, 0] = 0",
        (Flaw.WRONG, Flaw.NOT_A_NUMBER, Flaw.UNINITIALISED),
    ),
    ("float64 sums", "(TM, TM), float32", "(TM, TM), float64", Flaw.FLOAT64),
    (
        "no registers",
        "acc[i, j] += a[i] * b[j]",
        "acc[i, j] += sA[k, ty + i * threads] * sB[k, tx + j * threads]",
        Flaw.BUDGET,
    ),
    ("wrong stride of the carrying", "threads * threads", "threads", (Flaw.RACE, Flaw.BUDGET)),
]
RIGHT = [
    ("no padding", "(STEP, ROW)", "(STEP, SIDE)"),
    (
        "the columns first",
        "for i in range(TM):\n                for j in range(TM):\n                    acc[i, j] +=",
        "for j in range(TM):\n                for i in range(TM):\n                    acc[i, j] +=",
    ),
]
