"""Rectangular tiles."""
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
        "        for k in range(BK):\n            acc",
        "        for k in range(BK - 1):\n            cuda.syncthreads()\n            acc",
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
    (
        "A carried by all",
        "        if tx < BK:\n            sA",
        "        if True:\n            sA",
        Kind.OUT_OF_BOUNDS,
    ),
    ("A carried by too few", "if tx < BK:", "if tx < BK - 1:", Kind.UNINITIALISED),
    (
        "the barrier under the if",
        f"            sA[ty, tx] = {A_LOAD}\n",
        f"            sA[ty, tx] = {A_LOAD}\n            cuda.syncthreads()\n",
        Kind.DIVERGENT_BARRIER,
    ),
    (
        "a tile of A turned",
        "sA = cuda.shared.array((BM, BK)",
        "sA = cuda.shared.array((BK, 4)",
        Kind.OUT_OF_BOUNDS,
    ),
    ("stored transposed", "C[row, col] = acc", "C[col, row] = acc", Kind.TRANSPOSED),
    ("remainder dropped", "(K + BK - 1) // BK", "K // BK", Kind.DROPPED_TILE),
    ("only one tile", "(K + BK - 1) // BK", "1", Kind.DROPPED_TILE),
    (
        "first tile dropped",
        "range((K + BK - 1) // BK)",
        "range(1, (K + BK - 1) // BK)",
        Kind.DROPPED_TILE,
    ),
    (
        "last tile dropped",
        "range((K + BK - 1) // BK)",
        "range((K + BK - 1) // BK - 1)",
        Kind.DROPPED_TILE,
    ),
    (
        "steps from M",
        "(K + BK - 1) // BK",
        "(M + BK - 1) // BK",
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
    ("A's index swapped", "A[row, ka]", "A[ka, row]", (Kind.SWAPPED, Kind.WRONG)),
    ("wrong stride along A", "ka, kb = t * BK + tx", "ka, kb = t + tx", Kind.WRONG),
    ("wrong stride along B", "t * BK + ty", "t + ty", Kind.WRONG),
    ("row of B by tx", "t * BK + ty", "t * BK + tx", Kind.WRONG),
    ("sum set, not added to", "acc += sA", "acc = sA", Kind.LOST_SUM),
    ("inner loop one short", "for k in range(BK)", "for k in range(BK - 1)", Kind.WRONG),
    ("inner loop one too far", "for k in range(BK)", "for k in range(BK + 1)", Kind.OUT_OF_BOUNDS),
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
        "sA = cuda.shared.array((BM, BK)",
        "sA = cuda.shared.array((BM, 32768)",
        Kind.SHARED_LIMIT,
    ),
    (
        "no sharing",
        "sA[ty, k] * sB[k, tx]",
        "(A[row, t * BK + k] if row < M and t * BK + k < K else float32(0)) * sB[k, tx]",
        Kind.BUDGET,
    ),
    (
        "endless",
        "    for t in range((K + BK - 1) // BK):",
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
        "sB = cuda.shared.array((BK, BN), float32)",
        "sB = cuda.shared.array((BK, BN), float16)",
        Kind.ROUNDED,
    ),
    (
        "tile of integers",
        "sB = cuda.shared.array((BK, BN), float32)",
        "sB = cuda.shared.array((BK, BN), int32)",
        (Kind.ROUNDED, Kind.WRONG),
    ),
]
RIGHT = [
    (
        "steps by T",
        "for t in range((K + BK - 1) // BK):\n        ka, kb = t * BK + tx, t * BK + ty",
        "for k0 in range(0, K, BK):\n        ka, kb = k0 + tx, k0 + ty",
    ),
    (
        "the last threads carry A",
        "if tx < BK:\n            sA[ty, tx] = " + A_LOAD,
        "tk = tx - (BN - BK)\n        ka = t * BK + tk\n        if tk >= 0:\n            sA[ty, tk] = "
        + A_LOAD,
    ),
    (
        "B first",
        f"if tx < BK:\n            sA[ty, tx] = {A_LOAD}\n        sB[ty, tx] = {B_LOAD}",
        f"sB[ty, tx] = {B_LOAD}\n        if tx < BK:\n            sA[ty, tx] = {A_LOAD}",
    ),
]
