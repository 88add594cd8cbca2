"""The climb."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.kinds import Kind

OPTIONS = {"block": (8, 8), "tile": (32, 32)}
A_LOAD = "A[row, k] if row < M and k < K else float32(0)"
B_LOAD = "B[k, col] if k < K and col < N else float32(0)"
WRONG = [
    (
        "first barrier missing",
        "        cuda.syncthreads()\n        for k in range(STEP):",
        "        for k in range(STEP):",
        Kind.MISSING_BARRIER,
    ),
    (
        "second barrier missing",
        "acc[i, j] += a[i] * b[j]\n        cuda.syncthreads()",
        "acc[i, j] += a[i] * b[j]",
        Kind.MISSING_BARRIER,
    ),
    (
        "race across warps only",
        "        cuda.syncthreads()\n        for k in range(STEP):",
        "        cuda.syncwarp()\n        for k in range(STEP):",
        Kind.MISSING_BARRIER,
    ),
    ("remainder dropped", "range(0, K, STEP)", "range(0, K - STEP, STEP)", Kind.DROPPED_TILE),
    ("only one step", "range(0, K, STEP)", "range(0, STEP, STEP)", Kind.DROPPED_TILE),
    ("no guard on A", A_LOAD, "A[row, k]", Kind.MISSING_GUARD),
    ("no guard on B", B_LOAD, "B[k, col]", Kind.MISSING_GUARD),
    ("no guard on the store", "if row < M and col < N:", "if True:", Kind.MISSING_GUARD),
    (
        "sizes exchanged",
        "if row < M and col < N:",
        "if row < N and col < M:",
        (Kind.ONLY_SQUARE, Kind.MISSING_GUARD),
    ),
    ("stored transposed", "C[row, col] = acc[i, j]", "C[col, row] = acc[i, j]", Kind.TRANSPOSED),
    ("thread tile transposed", "= acc[i, j]", "= acc[j, i]", Kind.WRONG),
    (
        "half of the tile carried",
        "SIDE * STEP, threads",
        "SIDE * STEP // 2, threads",
        Kind.UNINITIALISED,
    ),
    (
        "A and B exchanged at the bench",
        "a[i] = sA[k, ty + i * threads]",
        "a[i] = sB[k, ty + i * threads]",
        Kind.WRONG_OPERAND,
    ),
    (
        "neighbours in the store only",
        "left + tx + j * threads",
        "left + TM * tx + j",
        Kind.WRONG,
    ),
    ("sums set, not added to", "acc[i, j] += a", "acc[i, j] = a", Kind.LOST_SUM),
    (
        "sums not cleared",
        "acc[i, j] = 0",
        "acc[0, 0] = 0",
        (Kind.WRONG, Kind.NOT_A_NUMBER, Kind.UNINITIALISED),
    ),
    ("float64 sums", "(TM, TM), float32", "(TM, TM), float64", Kind.FLOAT64),
    (
        "no registers",
        "acc[i, j] += a[i] * b[j]",
        "acc[i, j] += sA[k, ty + i * threads] * sB[k, tx + j * threads]",
        Kind.BUDGET,
    ),
    (
        "A not shared",
        "a[i] = sA[k, ty + i * threads]",
        "r = top + ty + i * threads\n                a[i] = A[r, k0 + k] if r < M and k0 + k < K else float32(0)",
        Kind.BUDGET,
    ),
    (
        "A loaded by columns",
        "row, k = top + e // STEP, k0 + e % STEP\n            sA[e % STEP, e // STEP]",
        "row, k = top + e % SIDE, k0 + e // SIDE\n            sA[e // SIDE, e % SIDE]",
        Kind.BUDGET,
    ),
    ("wrong stride of the carrying", "threads * threads", "threads", (Kind.RACE, Kind.BUDGET)),
    ("steps overlap", "range(0, K, STEP)", "range(0, K, STEP // 2)", Kind.WRONG),
    (
        "stores into A",
        "C[row, col] = acc",
        "A[row, col] = acc",
        (Kind.INPUT_CHANGED, Kind.MISSING_GUARD, Kind.ONLY_SQUARE, Kind.OUT_OF_BOUNDS),
    ),
    (
        "endless",
        "        for k0 in range(0, K, STEP):".strip(),
        "k0 = 0\n    while k0 < K:",
        Kind.ENDLESS,
    ),
    (
        "products made whole",
        "acc[i, j] += a[i] * b[j]",
        "acc[i, j] += int(a[i] * b[j])",
        (Kind.ROUNDED, Kind.FLOAT64),
    ),
    (
        "sum in half precision",
        "acc[i, j] += a[i] * b[j]",
        "acc[i, j] = float16(acc[i, j] + a[i] * b[j])",
        Kind.ROUNDED,
    ),
    (
        "tile of half precision",
        "acc = cuda.local.array((TM, TM), float32)",
        "acc = cuda.local.array((TM, TM), float16)",
        Kind.ROUNDED,
    ),
    (
        "tile of integers",
        "acc = cuda.local.array((TM, TM), float32)",
        "acc = cuda.local.array((TM, TM), int32)",
        Kind.ROUNDED,
    ),
]
RIGHT = [
    ("no padding", "(STEP, ROW)", "(STEP, SIDE)"),
    (
        "the columns first",
        "for i in range(TM):\n                for j in range(TM):\n                    acc[i, j] +=",
        "for j in range(TM):\n                for i in range(TM):\n                    acc[i, j] +=",
    ),
    ("fused", "acc[i, j] += a[i] * b[j]", "acc[i, j] = cuda.fma(a[i], b[j], acc[i, j])"),
]
