"""A product, a bias, a maximum."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.kinds import Kind

GUARD = "row < C.shape[0] and col < C.shape[1]"
WRONG = [
    ("no guard", f"if {GUARD}:", "if True:", Kind.MISSING_GUARD),
    ("no guard on the rows", GUARD, "col < C.shape[1]", Kind.MISSING_GUARD),
    ("no guard on the columns", GUARD, "row < C.shape[0]", Kind.MISSING_GUARD),
    ("guard with <=", "row < C", "row <= C", Kind.MISSING_GUARD),
    ("one size twice", GUARD, "row < C.shape[0] and col < C.shape[0]", Kind.ONLY_SQUARE),
    ("sizes exchanged", GUARD, "row < C.shape[1] and col < C.shape[0]", Kind.ONLY_SQUARE),
    ("stored transposed", "C[row, col] =", "C[col, row] =", Kind.TRANSPOSED),
    ("A's index swapped", "A[row, k]", "A[k, row]", Kind.SWAPPED),
    ("B's index swapped", "B[k, col]", "B[col, k]", Kind.SWAPPED),
    (
        "x and y exchanged",
        "col, row = cuda",
        "row, col = cuda",
        (Kind.ONLY_SQUARE, Kind.UNWRITTEN, Kind.MISSING_GUARD),
    ),
    ("sum set, not added to", "acc += A", "acc = A", Kind.LOST_SUM),
    ("last product dropped", "range(A.shape[1])", "range(A.shape[1] - 1)", Kind.WRONG),
    ("first product dropped", "range(A.shape[1])", "range(1, A.shape[1])", Kind.WRONG),
    ("K from the wrong side", "range(A.shape[1])", "range(A.shape[0])", Kind.ONLY_SQUARE),
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
    ("no maximum", "max(acc, float32(0))", "acc", Kind.WRONG),
    ("no bias", "acc = bias[col]", "acc = float32(0)", Kind.WRONG),
    (
        "bias after the maximum",
        "acc = bias[col]\n        for k in range(A.shape[1]):\n            acc += A[row, k] * B[k, col]\n        C[row, col] = max(acc, float32(0))",
        "acc = float32(0)\n        for k in range(A.shape[1]):\n            acc += A[row, k] * B[k, col]\n        C[row, col] = max(acc, float32(0)) + bias[col]",
        Kind.WRONG,
    ),
    ("bias of the row", "bias[col]", "bias[row]", (Kind.SWAPPED, Kind.ONLY_SQUARE)),
    ("minimum", "max(acc", "min(acc", Kind.WRONG),
    ("float64 maximum", "bias[col]", "bias[col] + 0.0", Kind.FLOAT64),
    (
        "bias loaded in the loop",
        "acc = bias[col]\n        for k in range(A.shape[1]):\n            acc +=",
        "acc = bias[col]\n        for k in range(A.shape[1]):\n            acc += bias[col] - bias[col] +",
        Kind.BUDGET,
    ),
    (
        "products made whole",
        "acc += A[row, k] * B[k, col]",
        "acc += int(A[row, k] * B[k, col])",
        (Kind.ROUNDED, Kind.WRONG),
    ),
    (
        "sum in half precision",
        "acc += A[row, k] * B[k, col]",
        "acc = float16(acc + A[row, k] * B[k, col])",
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
    (
        "bias at the end",
        "acc = bias[col]\n        for k in range(A.shape[1]):\n            acc += A[row, k] * B[k, col]\n        C[row, col] = max(acc, float32(0))",
        "acc = float32(0)\n        for k in range(A.shape[1]):\n            acc += A[row, k] * B[k, col]\n        C[row, col] = max(acc + bias[col], float32(0))",
    ),
    ("a condition", "max(acc, float32(0))", "acc if acc > 0 else float32(0)"),
]
