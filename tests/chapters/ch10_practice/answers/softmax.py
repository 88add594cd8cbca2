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
    ("no division", " / shared[0]", "", Kind.WRONG),
    (
        "every thread looks through the whole row",
        "for col in range(t, N, THREADS):\n        largest",
        "for col in range(N):\n        largest",
        Kind.BUDGET,
    ),
    (
        "no barrier between the two uses",
        "largest = shared[0]\n    cuda.syncthreads()",
        "largest = shared[0]",
        Kind.MISSING_BARRIER,
    ),
    (
        "barrier under the if",
        "            shared[t] += shared[t + half]\n        cuda.syncthreads()",
        "            shared[t] += shared[t + half]\n            cuda.syncthreads()",
        Kind.DIVERGENT_BARRIER,
    ),
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
    ("float64", "acc = float32(0)", "acc = 0.0", Kind.FLOAT64),
    ("never stops", "half //= 2", "half = half", Kind.ENDLESS),
    ("stores into A", "P[row, col] = ", "A[row, col] = ", Kind.INPUT_CHANGED),
    (
        "not coalesced",
        "for col in range(t, N, THREADS):\n        acc",
        "for col in range(t * ((N + 63) // 64), min(N, (t + 1) * ((N + 63) // 64))):\n        acc",
        Kind.BUDGET,
    ),
]
RIGHT = [
    (
        "the factor first",
        "    for col in range(t, N, THREADS):\n        P[row, col] = math.exp(A[row, col] - largest) / shared[0]",
        "    total = shared[0]\n    for col in range(t, N, THREADS):\n        P[row, col] = math.exp(A[row, col] - largest) / total",
    ),
    ("from the back", "half = THREADS // 2", "half = 32"),
]
