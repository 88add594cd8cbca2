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
        "no barrier in the loop",
        "        cuda.syncthreads()\n        half",
        "        half",
        Kind.MISSING_BARRIER,
    ),
    (
        "race across warps only",
        "partial[t] = acc\n    cuda.syncthreads()",
        "partial[t] = acc\n    cuda.syncwarp()",
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
    ("everybody adds all", "range(t, A.shape[1], THREADS)", "range(A.shape[1])", Kind.WRONG),
    ("rows by columns", "A[row, col]", "A[col, row]", (Kind.SWAPPED, Kind.OUT_OF_BOUNDS)),
    ("sum set, not added to", "acc += A", "acc = A", Kind.LOST_SUM),
    ("no reduction", "half = THREADS // 2", "half = 0", Kind.WRONG),
    ("one halving only", "half //= 2", "half = 0", Kind.WRONG),
    ("starts too low", "half = THREADS // 2", "half = THREADS // 4", Kind.WRONG),
    ("stops too early", "while half > 0", "while half > 1", Kind.WRONG),
    ("never stops", "half //= 2", "half = half", Kind.ENDLESS),
    ("float64 sum", "acc = float32(0)", "acc = 0.0", Kind.FLOAT64),
    (
        "not coalesced",
        "range(t, A.shape[1], THREADS)",
        "range(t * ((A.shape[1] + THREADS - 1) // THREADS), min(A.shape[1], (t + 1) * ((A.shape[1] + THREADS - 1) // THREADS)))",
        Kind.BUDGET,
    ),
    ("every thread stores", "if t == 0:\n        sums", "if t >= 0:\n        sums", Kind.RACE),
    (
        "a place not written",
        "partial[t] = acc",
        "if acc != 0:\n        partial[t] = acc",
        Kind.UNINITIALISED,
    ),
    (
        "products made whole",
        "acc += A[row, col]",
        "acc += int(A[row, col])",
        (Kind.ROUNDED, Kind.FLOAT64),
    ),
    (
        "sum in half precision",
        "acc += A[row, col]",
        "acc = float16(acc + A[row, col])",
        Kind.ROUNDED,
    ),
    ("tile of half precision", "array(THREADS, float32)", "array(THREADS, float16)", Kind.ROUNDED),
    ("tile of integers", "array(THREADS, float32)", "array(THREADS, int32)", Kind.ROUNDED),
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
    (
        "a while loop",
        "    for col in range(t, A.shape[1], THREADS):\n        acc += A[row, col]",
        "    col = t\n    while col < A.shape[1]:\n        acc += A[row, col]\n        col += THREADS",
    ),
    (
        "shuffles in the last warp",
        "half = THREADS // 2\n    while half > 0:",
        "half = THREADS // 2\n    while half >= 1:",
    ),
]
