"""Row sums."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.kinds import Kind

ADD = "if t < half:\n            partial[t] += partial[t + half]"
WRONG = [
    (
        "no barrier after the stores",
        "partial[t] = acc\n    cuda.syncthreads()",
        "partial[t] = acc",
        Kind.MISSING_BARRIER,
    ),
    (
        "barrier under the if",
        ADD + "\n        cuda.syncthreads()",
        ADD + "\n            cuda.syncthreads()",
        Kind.DIVERGENT_BARRIER,
    ),
    ("all threads add", "if t < half:", "if True:", Kind.OUT_OF_BOUNDS),
    (
        "one too many",
        "if t < half:",
        "if t <= half:",
        (Kind.WRONG, Kind.MISSING_BARRIER, Kind.OUT_OF_BOUNDS),
    ),
    (
        "only the first columns",
        "range(t, A.shape[1], THREADS)",
        "range(t, THREADS, THREADS)",
        (Kind.DROPPED_TILE, Kind.MISSING_GUARD, Kind.OUT_OF_BOUNDS),
    ),
    (
        "remainder dropped",
        "range(t, A.shape[1], THREADS)",
        "range(t, A.shape[1] // THREADS * THREADS, THREADS)",
        Kind.DROPPED_TILE,
    ),
    (
        "past the end",
        "A.shape[1], THREADS",
        "A.shape[1] + 1, THREADS",
        (Kind.MISSING_GUARD, Kind.OUT_OF_BOUNDS),
    ),
    ("stride of one", "range(t, A.shape[1], THREADS)", "range(t, A.shape[1])", Kind.WRONG),
    ("rows by columns", "A[row, col]", "A[col, row]", (Kind.SWAPPED, Kind.OUT_OF_BOUNDS)),
    ("sum set, not added to", "acc += A", "acc = A", Kind.LOST_SUM),
    ("never stops", "half //= 2", "half = half", Kind.ENDLESS),
    ("float64 sum", "acc = float32(0)", "acc = 0.0", Kind.FLOAT64),
    (
        "not coalesced",
        "range(t, A.shape[1], THREADS)",
        "range(t * ((A.shape[1] + THREADS - 1) // THREADS), min(A.shape[1], (t + 1) * ((A.shape[1] + THREADS - 1) // THREADS)))",
        Kind.BUDGET,
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
