"""A factor stored transposed."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.kinds import Kind

GUARD = "row < C.shape[0] and col < C.shape[1]"
WRONG = [
    ("no guard", f"if {GUARD}:", "if True:", Kind.MISSING_GUARD),
    ("one size twice", GUARD, "row < C.shape[0] and col < C.shape[0]", Kind.ONLY_SQUARE),
    ("stored transposed", "C[row, col] =", "C[col, row] =", Kind.TRANSPOSED),
    ("A's index swapped", "A[row, k]", "A[k, row]", Kind.SWAPPED),
    (
        "x and y exchanged",
        "col, row = cuda",
        "row, col = cuda",
        (Kind.ONLY_SQUARE, Kind.UNWRITTEN, Kind.MISSING_GUARD),
    ),
    ("sum set, not added to", "acc += A", "acc = A", Kind.LOST_SUM),
    ("last product dropped", "range(A.shape[1])", "range(A.shape[1] - 1)", Kind.WRONG),
    (
        "stores inside the input",
        "C[row, col] =",
        "A[row, col] =",
        (Kind.INPUT_CHANGED, Kind.MISSING_GUARD, Kind.ONLY_SQUARE),
    ),
    ("sums in C itself", "acc += A", "C[row, col] += A", Kind.READS_OUTPUT),
    (
        "endless",
        "for k in range(A.shape[1]):",
        "k = 0\n        while k < A.shape[1]:",
        Kind.ENDLESS,
    ),
    ("float64 sum", "acc = float32(0)", "acc = 0.0", Kind.FLOAT64),
    (
        "products made whole",
        "acc += A[row, k] * Bt[col, k]",
        "acc += int(A[row, k] * Bt[col, k])",
        (Kind.ROUNDED, Kind.FLOAT64),
    ),
    (
        "sum in half precision",
        "acc += A[row, k] * Bt[col, k]",
        "acc = float16(acc + A[row, k] * Bt[col, k])",
        Kind.ROUNDED,
    ),
]
RIGHT = [
    (
        "the long index",
        "col, row = cuda.grid(2)",
        "col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x\n"
        "    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y",
    ),
    ("from the last product", "range(A.shape[1])", "range(A.shape[1] - 1, -1, -1)"),
]
