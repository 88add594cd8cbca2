"""A product, a bias, a maximum."""
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
    ("bias of the row", "bias[col]", "bias[row]", (Flaw.SWAPPED, Flaw.ONLY_SQUARE)),
    ("float64 maximum", "bias[col]", "bias[col] + 0.0", Flaw.FLOAT64),
    (
        "bias loaded in the loop",
        "acc = bias[col]\n        for k in range(A.shape[1]):\n            acc +=",
        "acc = bias[col]\n        for k in range(A.shape[1]):\n            acc += bias[col] - bias[col] +",
        Flaw.BUDGET,
    ),
    *(
        (
            what,
            f"if {GUARD}:\n        acc = bias[col]\n        for k in range(A.shape[1]):\n            acc += A[row, k] * B[k, col]\n        C[row, col] = max(acc, float32(0))",
            f"if {first}:\n        for {other} in range(C.shape[{axis}]):\n            acc = bias[col]\n            for k in range(A.shape[1]):\n                acc += A[row, k] * B[k, col]\n            C[row, col] = max(acc, float32(0))",
            Flaw.BUDGET,
        )
        for what, first, other, axis in (
            ("one thread a row", "col == 0 and row < C.shape[0]", "col", 1),
            ("one thread a column", "row == 0 and col < C.shape[1]", "row", 0),
        )
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
