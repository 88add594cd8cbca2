"""The tiled product."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

A_LOAD = "A[row, ka] if row < M and ka < K else float32(0)"
B_LOAD = "B[kb, col] if kb < K and col < N else float32(0)"
CARRIED = f"sB[ty, tx] = {B_LOAD}\n        cuda.syncthreads()"
BARRIER_2 = "acc += sA[ty, k] * sB[k, tx]\n        cuda.syncthreads()"
WRONG = [
    ("first barrier missing", CARRIED, f"sB[ty, tx] = {B_LOAD}", Flaw.MISSING_BARRIER),
    ("second barrier missing", BARRIER_2, "acc += sA[ty, k] * sB[k, tx]", Flaw.MISSING_BARRIER),
    ("no barrier", "        cuda.syncthreads()\n", "", Flaw.MISSING_BARRIER),
    (
        "race across warps only: first",
        CARRIED,
        f"sB[ty, tx] = {B_LOAD}\n        cuda.syncwarp()",
        Flaw.MISSING_BARRIER,
    ),
    (
        "race across warps only: second",
        BARRIER_2,
        "acc += sA[ty, k] * sB[k, tx]\n        cuda.syncwarp()",
        Flaw.MISSING_BARRIER,
    ),
    (
        "barrier in the inner loop only",
        "        for k in range(T):\n            acc",
        "        for k in range(T - 1):\n            cuda.syncthreads()\n            acc",
        (Flaw.WRONG, Flaw.BUDGET),
    ),
    (
        "barrier under a guard",
        BARRIER_2,
        "acc += sA[ty, k] * sB[k, tx]\n        if row < M and col < N:\n            cuda.syncthreads()",
        Flaw.DIVERGENT_BARRIER,
    ),
    (
        "early return",
        "    for t in range",
        "    if row >= M or col >= N:\n        return\n    for t in range",
        Flaw.DIVERGENT_BARRIER,
    ),
    ("remainder dropped", "(K + T - 1) // T", "K // T", Flaw.DROPPED_TILE),
    ("only one tile", "(K + T - 1) // T", "1", Flaw.DROPPED_TILE),
    (
        "first tile dropped",
        "range((K + T - 1) // T)",
        "range(1, (K + T - 1) // T)",
        Flaw.DROPPED_TILE,
    ),
    (
        "last tile dropped",
        "range((K + T - 1) // T)",
        "range((K + T - 1) // T - 1)",
        Flaw.DROPPED_TILE,
    ),
    (
        "steps from M",
        "(K + T - 1) // T",
        "(M + T - 1) // T",
        (Flaw.BUDGET, Flaw.ONLY_SQUARE, Flaw.DROPPED_TILE),
    ),
    ("no guard on A", A_LOAD, "A[row, ka]", Flaw.MISSING_GUARD),
    ("no guard on B", B_LOAD, "B[kb, col]", Flaw.MISSING_GUARD),
    ("no guard on A's row", "row < M and ka < K", "ka < K", Flaw.MISSING_GUARD),
    ("no guard on A's column", "row < M and ka < K", "row < M", Flaw.MISSING_GUARD),
    ("no guard on B's column", "kb < K and col < N", "kb < K", Flaw.MISSING_GUARD),
    ("no guard on the store", "if row < M and col < N:", "if True:", Flaw.MISSING_GUARD),
    (
        "sizes exchanged in the store",
        "if row < M and col < N:",
        "if row < N and col < M:",
        Flaw.ONLY_SQUARE,
    ),
    ("one size twice", "if row < M and col < N:", "if row < M and col < M:", Flaw.ONLY_SQUARE),
    (
        "no zero-fill",
        f"sA[ty, tx] = {A_LOAD}",
        "if row < M and ka < K:\n            sA[ty, tx] = A[row, ka]",
        Flaw.UNINITIALISED,
    ),
    (
        "filled with ones",
        A_LOAD + "\n        sB[ty, tx] = " + B_LOAD,
        (A_LOAD + "\n        sB[ty, tx] = " + B_LOAD).replace("float32(0)", "float32(1)"),
        Flaw.ONLY_MULTIPLES,
    ),
    ("stored transposed", "C[row, col] = acc", "C[col, row] = acc", Flaw.TRANSPOSED),
    (
        "x and y exchanged",
        "col, row = cuda",
        "row, col = cuda",
        (
            Flaw.SWAPPED,
            Flaw.TRANSPOSED,
            Flaw.ONLY_SQUARE,
            Flaw.OUT_OF_BOUNDS,
            Flaw.WRONG,
            Flaw.UNWRITTEN,
        ),
    ),
    ("A's tile read transposed", "sA[ty, k] * sB", "sA[k, ty] * sB", (Flaw.WRONG, Flaw.SWAPPED)),
    ("B's tile read transposed", "* sB[k, tx]", "* sB[tx, k]", (Flaw.WRONG, Flaw.SWAPPED)),
    (
        "tiles exchanged",
        "sA[ty, k] * sB[k, tx]",
        "sB[ty, k] * sA[k, tx]",
        (Flaw.SWAPPED, Flaw.WRONG),
    ),
    ("A's index swapped", "A[row, ka]", "A[ka, row]", (Flaw.SWAPPED, Flaw.WRONG)),
    ("wrong stride along A", "ka, kb = t * T + tx", "ka, kb = t + tx", Flaw.WRONG),
    ("wrong stride along B", "t * T + ty", "t + ty", Flaw.WRONG),
    ("row of B by tx", "t * T + ty", "t * T + tx", Flaw.SWAPPED),
    ("sum set, not added to", "acc += sA", "acc = sA", Flaw.LOST_SUM),
    ("inner loop one short", "for k in range(T)", "for k in range(T - 1)", Flaw.WRONG),
    ("inner loop one too far", "for k in range(T)", "for k in range(T + 1)", Flaw.OUT_OF_BOUNDS),
    ("float64 sum", "acc = float32(0)", "acc = 0.0", Flaw.FLOAT64),
    ("integer sum", "acc = float32(0)", "acc = 0", Flaw.FLOAT64),
    (
        "stores into A",
        "C[row, col] = acc",
        "A[row, col] = acc",
        (Flaw.INPUT_CHANGED, Flaw.MISSING_GUARD, Flaw.ONLY_SQUARE),
    ),
    (
        "a tile too large",
        "sA = cuda.shared.array((T, T)",
        "sA = cuda.shared.array((16384, T)",
        Flaw.SHARED_LIMIT,
    ),
    (
        "no sharing",
        "sA[ty, k] * sB[k, tx]",
        "(A[row, t * T + k] if row < M and t * T + k < K else float32(0)) * sB[k, tx]",
        Flaw.BUDGET,
    ),
    (
        "endless",
        "    for t in range((K + T - 1) // T):",
        "    t = 0\n    while t < K:",
        Flaw.ENDLESS,
    ),
    (
        "products made whole",
        "acc += sA[ty, k] * sB[k, tx]",
        "acc += int(sA[ty, k] * sB[k, tx])",
        (Flaw.ROUNDED, Flaw.FLOAT64),
    ),
    (
        "sum in half precision",
        "acc += sA[ty, k] * sB[k, tx]",
        "acc = float16(acc + sA[ty, k] * sB[k, tx])",
        Flaw.ROUNDED,
    ),
    (
        "tile of half precision",
        "sA = cuda.shared.array((T, T), float32)",
        "sA = cuda.shared.array((T, T), float16)",
        Flaw.ROUNDED,
    ),
    (
        "tile of integers",
        "sA = cuda.shared.array((T, T), float32)",
        "sA = cuda.shared.array((T, T), int32)",
        (Flaw.ROUNDED, Flaw.WRONG),
    ),
]
RIGHT = [
    (
        "steps by T",
        "for t in range((K + T - 1) // T):\n        ka, kb = t * T + tx, t * T + ty",
        "for k0 in range(0, K, T):\n        ka, kb = k0 + tx, k0 + ty",
    ),
    (
        "B first",
        f"sA[ty, tx] = {A_LOAD}\n        sB[ty, tx] = {B_LOAD}",
        f"sB[ty, tx] = {B_LOAD}\n        sA[ty, tx] = {A_LOAD}",
    ),
    (
        "zero first",
        f"sA[ty, tx] = {A_LOAD}",
        "sA[ty, tx] = 0\n        if row < M and ka < K:\n            sA[ty, tx] = A[row, ka]",
    ),
]
