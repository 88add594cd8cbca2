"""A factor stored transposed."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

GUARD = "row < C.shape[0] and col < C.shape[1]"
WRONG = [
    ("no guard", f"if {GUARD}:", "if True:", Flaw.MISSING_GUARD),
    ("one size twice", GUARD, "row < C.shape[0] and col < C.shape[0]", Flaw.ONLY_SQUARE),
    ("stored transposed", "C[row, col] =", "C[col, row] =", Flaw.TRANSPOSED),
    ("A's index swapped", "A[row, k]", "A[k, row]", Flaw.SWAPPED),
    (
        "x and y exchanged",
        "col, row = cuda",
        "row, col = cuda",
        (Flaw.ONLY_SQUARE, Flaw.UNWRITTEN, Flaw.MISSING_GUARD),
    ),
    ("sum set, not added to", "acc += A", "acc = A", Flaw.LOST_SUM),
    ("last product dropped", "range(A.shape[1])", "range(A.shape[1] - 1)", Flaw.WRONG),
    (
        "stores inside the input",
        "C[row, col] =",
        "A[row, col] =",
        (Flaw.INPUT_CHANGED, Flaw.MISSING_GUARD, Flaw.ONLY_SQUARE),
    ),
    ("sums in C itself", "acc += A", "C[row, col] += A", Flaw.READS_OUTPUT),
    (
        "endless",
        "for k in range(A.shape[1]):",
        "k = 0\n        while k < A.shape[1]:",
        Flaw.ENDLESS,
    ),
    ("float64 sum", "acc = float32(0)", "acc = 0.0", Flaw.FLOAT64),
    (
        "products made whole",
        "acc += A[row, k] * Bt[col, k]",
        "acc += int(A[row, k] * Bt[col, k])",
        (Flaw.ROUNDED, Flaw.FLOAT64),
    ),
    (
        "sum in half precision",
        "acc += A[row, k] * Bt[col, k]",
        "acc = float16(acc + A[row, k] * Bt[col, k])",
        Flaw.ROUNDED,
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
