"""Row sums."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

ADD = "if t < half:\n            partial[t] += partial[t + half]"
WRONG = [
    (
        "no barrier after the stores",
        "partial[t] = acc\n    cuda.syncthreads()",
        "partial[t] = acc",
        Flaw.MISSING_BARRIER,
    ),
    (
        "barrier under the if",
        ADD + "\n        cuda.syncthreads()",
        ADD + "\n            cuda.syncthreads()",
        Flaw.DIVERGENT_BARRIER,
    ),
    ("all threads add", "if t < half:", "if True:", Flaw.OUT_OF_BOUNDS),
    (
        "one too many",
        "if t < half:",
        "if t <= half:",
        (Flaw.WRONG, Flaw.MISSING_BARRIER, Flaw.OUT_OF_BOUNDS),
    ),
    (
        "only the first columns",
        "range(t, A.shape[1], THREADS)",
        "range(t, THREADS, THREADS)",
        (Flaw.DROPPED_TILE, Flaw.MISSING_GUARD, Flaw.OUT_OF_BOUNDS),
    ),
    (
        "remainder dropped",
        "range(t, A.shape[1], THREADS)",
        "range(t, A.shape[1] // THREADS * THREADS, THREADS)",
        Flaw.DROPPED_TILE,
    ),
    (
        "past the end",
        "A.shape[1], THREADS",
        "A.shape[1] + 1, THREADS",
        (Flaw.MISSING_GUARD, Flaw.OUT_OF_BOUNDS),
    ),
    ("stride of one", "range(t, A.shape[1], THREADS)", "range(t, A.shape[1])", Flaw.WRONG),
    ("rows by columns", "A[row, col]", "A[col, row]", (Flaw.SWAPPED, Flaw.OUT_OF_BOUNDS)),
    ("sum set, not added to", "acc += A", "acc = A", Flaw.LOST_SUM),
    ("never stops", "half //= 2", "half = half", Flaw.ENDLESS),
    ("float64 sum", "acc = float32(0)", "acc = 0.0", Flaw.FLOAT64),
    (
        "not coalesced",
        "range(t, A.shape[1], THREADS)",
        "range(t * ((A.shape[1] + THREADS - 1) // THREADS), min(A.shape[1], (t + 1) * ((A.shape[1] + THREADS - 1) // THREADS)))",
        Flaw.BUDGET,
    ),
]
RIGHT = [
    (
        "thread 0 adds them all",
        "half = THREADS // 2",
        "if t == 0:\n        for i in range(1, THREADS):\n            partial[0] += partial[i]\n    half = 0",
    ),
    (
        "interleaved",
        "    half = THREADS // 2\n    while half > 0:\n        if t < half:\n            partial[t] += partial[t + half]\n        cuda.syncthreads()\n        half //= 2",
        "    step = 1\n    while step < THREADS:\n        if t % (2 * step) == 0:\n            partial[t] += partial[t + step]\n        cuda.syncthreads()\n        step *= 2",
    ),
]
