"""A grouped product."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

A_LOAD = "A[row, ka] if row < end and ka < K else float32(0)"
B_LOAD = "B[g, kb, col] if kb < K and col < N else float32(0)"
GUARD = "if row < end and col < N:"
WRONG = [
    ("B of group 0", "B[g, kb", "B[0, kb", Flaw.WRONG),
    ("rows from the first", "starts[g] + cuda", "cuda", (Flaw.RACE, Flaw.WRONG, Flaw.UNWRITTEN)),
    (
        "the end of all rows",
        "end = starts[g] + cuda.blockIdx.y * T, starts[g + 1]",
        "end = starts[g] + cuda.blockIdx.y * T, C.shape[0]",
        (Flaw.RACE, Flaw.WRONG, Flaw.BUDGET),
    ),
    (
        "groups by y",
        "cuda.blockIdx.z",
        "cuda.blockIdx.y",
        (Flaw.RACE, Flaw.WRONG, Flaw.UNWRITTEN, Flaw.OUT_OF_BOUNDS, Flaw.MISSING_GUARD),
    ),
    (
        "first barrier missing",
        "        cuda.syncthreads()\n        for k",
        "        for k",
        Flaw.MISSING_BARRIER,
    ),
    (
        "second barrier missing",
        "sB[k, tx]\n        cuda.syncthreads()",
        "sB[k, tx]",
        Flaw.MISSING_BARRIER,
    ),
    (
        "remainder dropped",
        "for k0 in range(0, K, T)",
        "for k0 in range(0, K // T * T, T)",
        (Flaw.DROPPED_TILE, Flaw.WRONG, Flaw.ONLY_MULTIPLES),
    ),
    (
        "no guard on B",
        B_LOAD,
        "B[g, kb, col]",
        Flaw.MISSING_GUARD,
    ),
    (
        "no guard on the store",
        GUARD,
        "if row < C.shape[0] and col < N:",
        (Flaw.RACE, Flaw.WRONG),
    ),
    ("blocks without rows work", "    if top >= end:\n        return\n", "", Flaw.BUDGET),
    (
        "threads return, not blocks",
        "if top >= end:\n        return",
        "if top + ty >= end:\n        return",
        Flaw.DIVERGENT_BARRIER,
    ),
    ("sum set, not added to", "acc += sA", "acc = sA", (Flaw.LOST_SUM, Flaw.WRONG)),
    ("float64 sum", "acc = float32(0)", "acc = 0.0", Flaw.FLOAT64),
]
RIGHT = [
    (
        "an outer condition",
        "if top >= end:\n        return",
        "if not top < end:\n        return",
    ),
    (
        "B first",
        f"sA[ty, tx] = {A_LOAD}\n            sB[ty, tx] = {B_LOAD}".replace(
            "            ", "        "
        ),
        f"sB[ty, tx] = {B_LOAD}\n        sA[ty, tx] = {A_LOAD}",
    ),
]
