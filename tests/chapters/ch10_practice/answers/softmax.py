"""Softmax of rows."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

WRONG = [
    (
        "no largest",
        "largest = shared[0]\n    cuda.syncthreads()",
        "largest = float32(0)\n    cuda.syncthreads()",
        (Flaw.NOT_A_NUMBER, Flaw.WRONG),
    ),
    ("begins at zero", "largest = A[row, 0]", "largest = float32(0)", Flaw.NOT_A_NUMBER),
    ("no division", " / shared[0]", "", Flaw.WRONG),
    (
        "every thread looks through the whole row",
        "for col in range(t, N, THREADS):\n        largest",
        "for col in range(N):\n        largest",
        Flaw.BUDGET,
    ),
    (
        "no barrier between the two uses",
        "largest = shared[0]\n    cuda.syncthreads()",
        "largest = shared[0]",
        Flaw.MISSING_BARRIER,
    ),
    (
        "barrier under the if",
        "            shared[t] += shared[t + half]\n        cuda.syncthreads()",
        "            shared[t] += shared[t + half]\n            cuda.syncthreads()",
        Flaw.DIVERGENT_BARRIER,
    ),
    (
        "of the columns",
        "A[row, col]",
        "A[col, row]",
        (Flaw.OUT_OF_BOUNDS, Flaw.SWAPPED, Flaw.ONLY_SQUARE),
    ),
    ("sum set, not added to", "acc += math", "acc = math", (Flaw.WRONG, Flaw.LOST_SUM)),
    (
        "only the first columns",
        "P[row, col] = ",
        "if col < THREADS:\n            P[row, col] = ",
        Flaw.UNWRITTEN,
    ),
    (
        "past the end",
        "range(t, N, THREADS)",
        "range(t, N + 1, THREADS)",
        (Flaw.MISSING_GUARD, Flaw.OUT_OF_BOUNDS),
    ),
    ("float64", "acc = float32(0)", "acc = 0.0", Flaw.FLOAT64),
    ("never stops", "half //= 2", "half = half", Flaw.ENDLESS),
    ("stores into A", "P[row, col] = ", "A[row, col] = ", Flaw.INPUT_CHANGED),
    (
        "not coalesced",
        "for col in range(t, N, THREADS):\n        acc",
        "for col in range(t * ((N + 63) // 64), min(N, (t + 1) * ((N + 63) // 64))):\n        acc",
        Flaw.BUDGET,
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
