"""Two pairs of tiles, one barrier."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

A_LOAD = "A[row, ka] if row < M and ka < K else float32(0)"
B_LOAD = "B[kb, col] if kb < K and col < N else float32(0)"
STORED = f"sB[pair, ty, tx] = {B_LOAD}\n        cuda.syncthreads()"
WRONG = [
    ("first barrier missing", STORED, f"sB[pair, ty, tx] = {B_LOAD}", Flaw.MISSING_BARRIER),
    (
        "early return",
        "    for t in range",
        "    if row >= M or col >= N:\n        return\n    for t in range",
        Flaw.DIVERGENT_BARRIER,
    ),
    ("a third pair", "t % 2", "t % 3", Flaw.OUT_OF_BOUNDS),
    (
        "a second barrier",
        "acc += sA[pair, ty, k] * sB[pair, k, tx]",
        "acc += sA[pair, ty, k] * sB[pair, k, tx]\n        cuda.syncthreads()",
        Flaw.BUDGET,
    ),
    ("remainder dropped", "(K + T - 1) // T", "K // T", Flaw.DROPPED_TILE),
    (
        "steps from M",
        "(K + T - 1) // T",
        "(M + T - 1) // T",
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
        "no zero-fill",
        f"sA[pair, ty, tx] = {A_LOAD}",
        "if row < M and ka < K:\n            sA[pair, ty, tx] = A[row, ka]",
        Flaw.UNINITIALISED,
    ),
    (
        "filled with ones",
        A_LOAD + "\n        sB[pair, ty, tx] = " + B_LOAD,
        (A_LOAD + "\n        sB[pair, ty, tx] = " + B_LOAD).replace("float32(0)", "float32(1)"),
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
    (
        "A's tile read transposed",
        "sA[pair, ty, k] * sB",
        "sA[pair, k, ty] * sB",
        (Flaw.WRONG, Flaw.SWAPPED),
    ),
]
RIGHT = [
    (
        "B first",
        f"sA[pair, ty, tx] = {A_LOAD}\n        sB[pair, ty, tx] = {B_LOAD}",
        f"sB[pair, ty, tx] = {B_LOAD}\n        sA[pair, ty, tx] = {A_LOAD}",
    ),
    (
        "zero first",
        f"sA[pair, ty, tx] = {A_LOAD}",
        "sA[pair, ty, tx] = 0\n        if row < M and ka < K:\n            sA[pair, ty, tx] = A[row, ka]",
    ),
]
