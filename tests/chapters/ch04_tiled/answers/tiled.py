"""The tiled product."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.kinds import Kind

A_LOAD = "A[row, ka] if row < M and ka < K else float32(0)"
B_LOAD = "B[kb, col] if kb < K and col < N else float32(0)"
CARRIED = f"sB[ty, tx] = {B_LOAD}\n        cuda.syncthreads()"
BARRIER_2 = "acc += sA[ty, k] * sB[k, tx]\n        cuda.syncthreads()"
WRONG = [
    ("first barrier missing", CARRIED, f"sB[ty, tx] = {B_LOAD}", Kind.MISSING_BARRIER),
    ("second barrier missing", BARRIER_2, "acc += sA[ty, k] * sB[k, tx]", Kind.MISSING_BARRIER),
    ("no barrier", "        cuda.syncthreads()\n", "", Kind.MISSING_BARRIER),
    (
        "race across warps only: first",
        CARRIED,
        f"sB[ty, tx] = {B_LOAD}\n        cuda.syncwarp()",
        Kind.MISSING_BARRIER,
    ),
    (
        "race across warps only: second",
        BARRIER_2,
        "acc += sA[ty, k] * sB[k, tx]\n        cuda.syncwarp()",
        Kind.MISSING_BARRIER,
    ),
    (
        "barrier in the inner loop only",
        "        for k in range(T):\n            acc",
        "        for k in range(T - 1):\n            cuda.syncthreads()\n            acc",
        (Kind.WRONG, Kind.BUDGET),
    ),
    (
        "barrier under a guard",
        BARRIER_2,
        "acc += sA[ty, k] * sB[k, tx]\n        if row < M and col < N:\n            cuda.syncthreads()",
        Kind.DIVERGENT_BARRIER,
    ),
    (
        "early return",
        "    for t in range",
        "    if row >= M or col >= N:\n        return\n    for t in range",
        Kind.DIVERGENT_BARRIER,
    ),
    ("remainder dropped", "(K + T - 1) // T", "K // T", Kind.DROPPED_TILE),
    ("only one tile", "(K + T - 1) // T", "1", Kind.DROPPED_TILE),
    (
        "first tile dropped",
        "range((K + T - 1) // T)",
        "range(1, (K + T - 1) // T)",
        Kind.DROPPED_TILE,
    ),
    (
        "last tile dropped",
        "range((K + T - 1) // T)",
        "range((K + T - 1) // T - 1)",
        Kind.DROPPED_TILE,
    ),
    (
        "steps from M",
        "(K + T - 1) // T",
        "(M + T - 1) // T",
        (Kind.BUDGET, Kind.ONLY_SQUARE, Kind.DROPPED_TILE),
    ),
    ("no guard on A", A_LOAD, "A[row, ka]", Kind.MISSING_GUARD),
    ("no guard on B", B_LOAD, "B[kb, col]", Kind.MISSING_GUARD),
    ("no guard on A's row", "row < M and ka < K", "ka < K", Kind.MISSING_GUARD),
    ("no guard on A's column", "row < M and ka < K", "row < M", Kind.MISSING_GUARD),
    ("no guard on B's column", "kb < K and col < N", "kb < K", Kind.MISSING_GUARD),
    ("no guard on the store", "if row < M and col < N:", "if True:", Kind.MISSING_GUARD),
    (
        "sizes exchanged in the store",
        "if row < M and col < N:",
        "if row < N and col < M:",
        Kind.ONLY_SQUARE,
    ),
    ("one size twice", "if row < M and col < N:", "if row < M and col < M:", Kind.ONLY_SQUARE),
    (
        "no zero-fill",
        f"sA[ty, tx] = {A_LOAD}",
        "if row < M and ka < K:\n            sA[ty, tx] = A[row, ka]",
        Kind.UNINITIALISED,
    ),
    (
        "filled with ones",
        A_LOAD + "\n        sB[ty, tx] = " + B_LOAD,
        (A_LOAD + "\n        sB[ty, tx] = " + B_LOAD).replace("float32(0)", "float32(1)"),
        Kind.ONLY_MULTIPLES,
    ),
    ("stored transposed", "C[row, col] = acc", "C[col, row] = acc", Kind.TRANSPOSED),
    (
        "x and y exchanged",
        "col, row = cuda",
        "row, col = cuda",
        (
            Kind.SWAPPED,
            Kind.TRANSPOSED,
            Kind.ONLY_SQUARE,
            Kind.OUT_OF_BOUNDS,
            Kind.WRONG,
            Kind.UNWRITTEN,
        ),
    ),
    ("A's tile read transposed", "sA[ty, k] * sB", "sA[k, ty] * sB", (Kind.WRONG, Kind.SWAPPED)),
    ("B's tile read transposed", "* sB[k, tx]", "* sB[tx, k]", (Kind.WRONG, Kind.SWAPPED)),
    (
        "tiles exchanged",
        "sA[ty, k] * sB[k, tx]",
        "sB[ty, k] * sA[k, tx]",
        (Kind.SWAPPED, Kind.WRONG),
    ),
    ("A's index swapped", "A[row, ka]", "A[ka, row]", (Kind.SWAPPED, Kind.WRONG)),
    ("wrong stride along A", "ka, kb = t * T + tx", "ka, kb = t + tx", Kind.WRONG),
    ("wrong stride along B", "t * T + ty", "t + ty", Kind.WRONG),
    ("row of B by tx", "t * T + ty", "t * T + tx", Kind.SWAPPED),
    ("sum set, not added to", "acc += sA", "acc = sA", Kind.LOST_SUM),
    ("inner loop one short", "for k in range(T)", "for k in range(T - 1)", Kind.WRONG),
    ("inner loop one too far", "for k in range(T)", "for k in range(T + 1)", Kind.OUT_OF_BOUNDS),
    ("float64 sum", "acc = float32(0)", "acc = 0.0", Kind.FLOAT64),
    ("integer sum", "acc = float32(0)", "acc = 0", Kind.FLOAT64),
    (
        "stores into A",
        "C[row, col] = acc",
        "A[row, col] = acc",
        (Kind.INPUT_CHANGED, Kind.MISSING_GUARD, Kind.ONLY_SQUARE),
    ),
    (
        "a tile too large",
        "sA = cuda.shared.array((T, T)",
        "sA = cuda.shared.array((16384, T)",
        Kind.SHARED_LIMIT,
    ),
    (
        "no sharing",
        "sA[ty, k] * sB[k, tx]",
        "(A[row, t * T + k] if row < M and t * T + k < K else float32(0)) * sB[k, tx]",
        Kind.BUDGET,
    ),
    (
        "endless",
        "    for t in range((K + T - 1) // T):",
        "    t = 0\n    while t < K:",
        Kind.ENDLESS,
    ),
    (
        "products made whole",
        "acc += sA[ty, k] * sB[k, tx]",
        "acc += int(sA[ty, k] * sB[k, tx])",
        (Kind.ROUNDED, Kind.FLOAT64),
    ),
    (
        "sum in half precision",
        "acc += sA[ty, k] * sB[k, tx]",
        "acc = float16(acc + sA[ty, k] * sB[k, tx])",
        Kind.ROUNDED,
    ),
    (
        "tile of half precision",
        "sA = cuda.shared.array((T, T), float32)",
        "sA = cuda.shared.array((T, T), float16)",
        Kind.ROUNDED,
    ),
    (
        "tile of integers",
        "sA = cuda.shared.array((T, T), float32)",
        "sA = cuda.shared.array((T, T), int32)",
        (Kind.ROUNDED, Kind.WRONG),
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
