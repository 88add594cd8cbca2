"""A batch of products."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

A_LOAD = "A[b, row, ka] if row < M and ka < K else float32(0)"
B_LOAD = "B[b, kb, col] if kb < K and col < N else float32(0)"
WRONG = [
    ("A of batch 0", "A[b, row", "A[0, row", Flaw.WRONG),
    ("stored in batch 0", "C[b, row", "C[0, row", Flaw.RACE),
    (
        "batch by y",
        "cuda.blockIdx.z",
        "cuda.blockIdx.y",
        (Flaw.RACE, Flaw.OUT_OF_BOUNDS, Flaw.MISSING_GUARD),
    ),
    (
        "first barrier missing",
        "        cuda.syncthreads()\n        for k",
        "        for k",
        Flaw.MISSING_BARRIER,
    ),
    ("remainder dropped", "(K + T - 1) // T", "K // T", Flaw.DROPPED_TILE),
    ("no guard on A", A_LOAD, "A[b, row, ka]", Flaw.MISSING_GUARD),
    ("sizes exchanged", "if row < M and col < N:", "if row < N and col < M:", Flaw.ONLY_SQUARE),
    ("stored transposed", "C[b, row, col]", "C[b, col, row]", Flaw.TRANSPOSED),
    ("A's index swapped", "A[b, row, ka]", "A[b, ka, row]", (Flaw.SWAPPED, Flaw.OUT_OF_BOUNDS)),
    ("sum set, not added to", "acc += sA", "acc = sA", Flaw.LOST_SUM),
    ("float64 sum", "acc = float32(0)", "acc = 0.0", Flaw.FLOAT64),
    (
        "no zero-fill",
        f"sA[ty, tx] = {A_LOAD}",
        "if row < M and ka < K:\n            sA[ty, tx] = A[b, row, ka]",
        Flaw.UNINITIALISED,
    ),
    (
        "early return",
        "    for t in range",
        "    if row >= M or col >= N:\n        return\n    for t in range",
        Flaw.DIVERGENT_BARRIER,
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
]
