"""Two matrices."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

GUARD = "row < C.shape[0] and col < C.shape[1]"
WRONG = [
    ("no guard", f"if {GUARD}:", "if True:", Flaw.MISSING_GUARD),
    ("no guard on the rows", GUARD, "col < C.shape[1]", Flaw.MISSING_GUARD),
    ("sizes exchanged", GUARD, "row < C.shape[1] and col < C.shape[0]", Flaw.ONLY_SQUARE),
    (
        "x and y exchanged",
        "col, row",
        "row, col",
        (Flaw.UNWRITTEN, Flaw.ONLY_SQUARE, Flaw.MISSING_GUARD),
    ),
    ("stored transposed", "C[row, col]", "C[col, row]", Flaw.TRANSPOSED),
    ("B transposed", "B[row, col]", "B[col, row]", Flaw.SWAPPED),
    ("B forgotten", "+ B[row, col]", "+ A[row, col]", Flaw.WRONG),
    ("stores into A", "C[row, col] =", "A[row, col] =", Flaw.INPUT_CHANGED),
    ("the block's place only", "cuda.grid(2)", "cuda.threadIdx.x, cuda.threadIdx.y", Flaw.RACE),
    ("one row too few", "row < C.shape[0]", "row < C.shape[0] - 1", Flaw.UNWRITTEN),
    ("float64", "= A[row, col]", "= 1.0 * A[row, col]", Flaw.FLOAT64),
    ("adds to what is there", "] = A", "] += A", Flaw.READS_OUTPUT),
    (
        "whole numbers stored",
        "C[row, col] = A[row, col] + B[row, col]",
        "C[row, col] = int(A[row, col] + B[row, col])",
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
    (
        "nested guards",
        f"if {GUARD}:\n        C",
        "if row < C.shape[0]:\n      if col < C.shape[1]:\n        C",
    ),
]
