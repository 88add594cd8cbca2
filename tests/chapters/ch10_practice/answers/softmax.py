"""Softmax of rows."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.kinds import Kind

WRONG = [
    (
        "no largest",
        "largest = shared[0]\n    cuda.syncthreads()",
        "largest = float32(0)\n    cuda.syncthreads()",
        (Kind.NOT_A_NUMBER, Kind.WRONG),
    ),
    ("begins at zero", "largest = A[row, 0]", "largest = float32(0)", Kind.NOT_A_NUMBER),
    (
        "own largest only",
        "largest = shared[0]\n    cuda.syncthreads()",
        "cuda.syncthreads()",
        (Kind.NOT_A_NUMBER, Kind.WRONG),
    ),
    ("no division", " / shared[0]", "", Kind.WRONG),
    (
        "no barrier between the two uses",
        "largest = shared[0]\n    cuda.syncthreads()",
        "largest = shared[0]",
        Kind.MISSING_BARRIER,
    ),
    (
        "no barrier before the first reduction",
        "shared[t] = largest\n    cuda.syncthreads()",
        "shared[t] = largest",
        Kind.MISSING_BARRIER,
    ),
    (
        "no barrier before the second reduction",
        "shared[t] = acc\n    cuda.syncthreads()",
        "shared[t] = acc",
        Kind.MISSING_BARRIER,
    ),
    (
        "no barrier in the loops",
        "        cuda.syncthreads()\n        half",
        "        half",
        Kind.MISSING_BARRIER,
    ),
    (
        "race across warps only",
        "shared[t] = acc\n    cuda.syncthreads()",
        "shared[t] = acc\n    cuda.syncwarp()",
        Kind.MISSING_BARRIER,
    ),
    (
        "barrier under the if",
        "            shared[t] += shared[t + half]\n        cuda.syncthreads()",
        "            shared[t] += shared[t + half]\n            cuda.syncthreads()",
        Kind.DIVERGENT_BARRIER,
    ),
    ("the smallest", "largest = max(", "largest = min(", (Kind.NOT_A_NUMBER, Kind.WRONG)),
    (
        "of the columns",
        "A[row, col]",
        "A[col, row]",
        (Kind.OUT_OF_BOUNDS, Kind.SWAPPED, Kind.ONLY_SQUARE),
    ),
    ("sum set, not added to", "acc += math", "acc = math", (Kind.WRONG, Kind.LOST_SUM)),
    (
        "only the first columns",
        "P[row, col] = ",
        "if col < THREADS:\n            P[row, col] = ",
        Kind.UNWRITTEN,
    ),
    (
        "past the end",
        "range(t, N, THREADS)",
        "range(t, N + 1, THREADS)",
        (Kind.MISSING_GUARD, Kind.OUT_OF_BOUNDS),
    ),
    (
        "not stored for the last",
        "range(t, N, THREADS):\n        P",
        "range(t, N - 1, THREADS):\n        P",
        Kind.UNWRITTEN,
    ),
    (
        "the second reduction takes the largest",
        "shared[t] += shared[t + half]",
        "shared[t] = max(shared[t], shared[t + half])",
        Kind.WRONG,
    ),
    ("float64", "acc = float32(0)", "acc = 0.0", Kind.FLOAT64),
    ("never stops", "half //= 2", "half = half", Kind.ENDLESS),
    ("stores into A", "P[row, col] = ", "A[row, col] = ", Kind.INPUT_CHANGED),
    (
        "not coalesced",
        "for col in range(t, N, THREADS):\n        acc",
        "for col in range(t * ((N + 63) // 64), min(N, (t + 1) * ((N + 63) // 64))):\n        acc",
        Kind.BUDGET,
    ),
    (
        "terms made whole",
        "acc += math.exp(A[row, col] - largest)",
        "acc += int(math.exp(A[row, col] - largest))",
        (Kind.ROUNDED, Kind.WRONG),
    ),
    (
        "sum in half precision",
        "acc += math.exp(A[row, col] - largest)",
        "acc = float16(acc + math.exp(A[row, col] - largest))",
        Kind.ROUNDED,
    ),
    (
        "tile of half precision",
        "array(THREADS, float32)",
        "array(THREADS, float16)",
        (Kind.ROUNDED, Kind.WRONG),
    ),
    (
        "tile of integers",
        "array(THREADS, float32)",
        "array(THREADS, int32)",
        (Kind.ROUNDED, Kind.WRONG),
    ),
]
RIGHT = [
    (
        "the factor first",
        "    for col in range(t, N, THREADS):\n        P[row, col] = math.exp(A[row, col] - largest) / shared[0]",
        "    total = shared[0]\n    for col in range(t, N, THREADS):\n        P[row, col] = math.exp(A[row, col] - largest) / total",
    ),
    ("from the back", "half = THREADS // 2", "half = 32"),
    (
        "kept in P",
        "        acc += math.exp(A[row, col] - largest)",
        "        P[row, col] = math.exp(A[row, col] - largest)\n        acc += math.exp(A[row, col] - largest)",
    ),
]
