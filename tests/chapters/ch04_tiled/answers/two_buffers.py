"""Two pairs of tiles, one barrier."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.kinds import Kind

A_LOAD = "A[row, ka] if row < M and ka < K else float32(0)"
B_LOAD = "B[kb, col] if kb < K and col < N else float32(0)"
STORED = f"sB[pair, ty, tx] = {B_LOAD}\n        cuda.syncthreads()"
WRONG = [
    ("first barrier missing", STORED, f"sB[pair, ty, tx] = {B_LOAD}", Kind.MISSING_BARRIER),
    (
        "race across warps only: first",
        STORED,
        f"sB[pair, ty, tx] = {B_LOAD}\n        cuda.syncwarp()",
        Kind.MISSING_BARRIER,
    ),
    (
        "early return",
        "    for t in range",
        "    if row >= M or col >= N:\n        return\n    for t in range",
        Kind.DIVERGENT_BARRIER,
    ),
    ("one pair only", "t % 2", "0", Kind.MISSING_BARRIER),
    ("a pair for two steps", "t % 2", "t // 2 % 2", Kind.MISSING_BARRIER),
    ("a third pair", "t % 2", "t % 3", Kind.OUT_OF_BOUNDS),
    (
        "a second barrier",
        "acc += sA[pair, ty, k] * sB[pair, k, tx]",
        "acc += sA[pair, ty, k] * sB[pair, k, tx]\n        cuda.syncthreads()",
        Kind.BUDGET,
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
        f"sA[pair, ty, tx] = {A_LOAD}",
        "if row < M and ka < K:\n            sA[pair, ty, tx] = A[row, ka]",
        Kind.UNINITIALISED,
    ),
    (
        "filled with ones",
        A_LOAD + "\n        sB[pair, ty, tx] = " + B_LOAD,
        (A_LOAD + "\n        sB[pair, ty, tx] = " + B_LOAD).replace("float32(0)", "float32(1)"),
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
    (
        "A's tile read transposed",
        "sA[pair, ty, k] * sB",
        "sA[pair, k, ty] * sB",
        (Kind.WRONG, Kind.SWAPPED),
    ),
    (
        "B's tile read transposed",
        "* sB[pair, k, tx]",
        "* sB[pair, tx, k]",
        (Kind.WRONG, Kind.SWAPPED),
    ),
    ("A's index swapped", "A[row, ka]", "A[ka, row]", (Kind.SWAPPED, Kind.WRONG)),
    ("wrong stride along A", "pair = t * T + tx", "pair = t + tx", Kind.WRONG),
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
        "sA = cuda.shared.array((2, T, T)",
        "sA = cuda.shared.array((2, 8192, T)",
        Kind.SHARED_LIMIT,
    ),
    (
        "no sharing",
        "sA[pair, ty, k] * sB[pair, k, tx]",
        "(A[row, t * T + k] if row < M and t * T + k < K else float32(0)) * sB[pair, k, tx]",
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
        "acc += sA[pair, ty, k] * sB[pair, k, tx]",
        "acc += int(sA[pair, ty, k] * sB[pair, k, tx])",
        (Kind.ROUNDED, Kind.FLOAT64),
    ),
    (
        "sum in half precision",
        "acc += sA[pair, ty, k] * sB[pair, k, tx]",
        "acc = float16(acc + sA[pair, ty, k] * sB[pair, k, tx])",
        Kind.ROUNDED,
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
    ("pairs the other way round", "t % 2", "(t + 1) % 2"),
    ("by a bit", "t % 2", "t & 1"),
]
