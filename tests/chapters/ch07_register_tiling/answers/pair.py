"""Two elements per thread."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

WRONG = [
    ("no guard", "if row < C.shape[0] and col < C.shape[1]:", "if True:", Flaw.MISSING_GUARD),
    ("second guard too early", "col + 1 < C", "col + 2 < C", Flaw.UNWRITTEN),
    ("left's neighbour", "B[k, col + 1]", "B[k, col]", Flaw.WRONG),
    (
        "next row instead",
        "C[row, col + 1] = right",
        "C[row + 1, col] = right",
        (Flaw.RACE, Flaw.OUT_OF_BOUNDS, Flaw.MISSING_GUARD),
    ),
    ("A loaded twice", "left += a *", "left += A[row, k] *", Flaw.BUDGET),
    ("sum set, not added to", "left += a", "left = a", (Flaw.WRONG, Flaw.LOST_SUM)),
    ("A's index swapped", "A[row, k]", "A[k, row]", Flaw.SWAPPED),
    ("B's index swapped", "B[k, col]", "B[col, k]", (Flaw.SWAPPED, Flaw.WRONG, Flaw.OUT_OF_BOUNDS)),
    ("float64 sums", "float32(0), float32(0)", "0.0, 0.0", Flaw.FLOAT64),
    ("x is the column", "col = 2 * x", "col = x", Flaw.RACE),
    (
        "K from the wrong side",
        "range(A.shape[1])",
        "range(A.shape[0])",
        (Flaw.ONLY_SQUARE, Flaw.OUT_OF_BOUNDS),
    ),
    (
        "products made whole",
        "left += a * B[k, col]",
        "left += int(a * B[k, col])",
        (Flaw.ROUNDED, Flaw.WRONG),
    ),
    (
        "sum in half precision",
        "left += a * B[k, col]",
        "left = float16(left + a * B[k, col])",
        Flaw.ROUNDED,
    ),
]
RIGHT = [
    ("a register for the place", "both = col + 1 < C.shape[1]", "both = col < C.shape[1] - 1"),
    ("fused", "left += a * B[k, col]", "left = cuda.fma(a, B[k, col], left)"),
]
