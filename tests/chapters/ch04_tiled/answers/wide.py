"""Rectangular tiles."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

A_LOAD = "A[row, ka] if row < M and ka < K else float32(0)"
B_LOAD = "B[kb, col] if kb < K and col < N else float32(0)"
CARRIED = f"sB[ty, tx] = {B_LOAD}\n        cuda.syncthreads()"
BARRIER_2 = "acc += sA[ty, k] * sB[k, tx]\n        cuda.syncthreads()"
WRONG = [
    ("first barrier missing", CARRIED, f"sB[ty, tx] = {B_LOAD}", Flaw.MISSING_BARRIER),
    (
        "barrier in the inner loop only",
        "        for k in range(BK):\n            acc",
        "        for k in range(BK - 1):\n            cuda.syncthreads()\n            acc",
        (Flaw.WRONG, Flaw.BUDGET),
    ),
    (
        "barrier under a guard",
        BARRIER_2,
        "acc += sA[ty, k] * sB[k, tx]\n        if row < M and col < N:\n            cuda.syncthreads()",
        Flaw.DIVERGENT_BARRIER,
    ),
    (
        "A carried by all",
        "        if tx < BK:\n            sA",
        "        if True:\n            sA",
        Flaw.OUT_OF_BOUNDS,
    ),
    ("A carried by too few", "if tx < BK:", "if tx < BK - 1:", Flaw.UNINITIALISED),
    ("stored transposed", "C[row, col] = acc", "C[col, row] = acc", Flaw.TRANSPOSED),
    ("remainder dropped", "(K + BK - 1) // BK", "K // BK", Flaw.DROPPED_TILE),
    (
        "steps from M",
        "(K + BK - 1) // BK",
        "(M + BK - 1) // BK",
        (Flaw.BUDGET, Flaw.ONLY_SQUARE, Flaw.DROPPED_TILE),
    ),
    ("no guard on A", A_LOAD, "A[row, ka]", Flaw.MISSING_GUARD),
    (
        "sizes exchanged in the store",
        "if row < M and col < N:",
        "if row < N and col < M:",
        Flaw.ONLY_SQUARE,
    ),
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
    ("A's index swapped", "A[row, ka]", "A[ka, row]", (Flaw.SWAPPED, Flaw.WRONG)),
    ("wrong stride along A", "ka, kb = t * BK + tx", "ka, kb = t + tx", Flaw.WRONG),
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
]
