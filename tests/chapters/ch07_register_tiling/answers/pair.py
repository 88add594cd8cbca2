"""Two elements per thread."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.kinds import Kind

WRONG = [
    ("no guard", "if row < C.shape[0] and col < C.shape[1]:", "if True:", Kind.MISSING_GUARD),
    ("second guard too early", "col + 1 < C", "col + 2 < C", Kind.UNWRITTEN),
    ("left's neighbour", "B[k, col + 1]", "B[k, col]", Kind.WRONG),
    (
        "next row instead",
        "C[row, col + 1] = right",
        "C[row + 1, col] = right",
        (Kind.RACE, Kind.OUT_OF_BOUNDS, Kind.MISSING_GUARD),
    ),
    ("A loaded twice", "left += a *", "left += A[row, k] *", Kind.BUDGET),
    ("sum set, not added to", "left += a", "left = a", (Kind.WRONG, Kind.LOST_SUM)),
    ("A's index swapped", "A[row, k]", "A[k, row]", Kind.SWAPPED),
    ("B's index swapped", "B[k, col]", "B[col, k]", (Kind.SWAPPED, Kind.WRONG, Kind.OUT_OF_BOUNDS)),
    ("float64 sums", "float32(0), float32(0)", "0.0, 0.0", Kind.FLOAT64),
    ("x is the column", "col = 2 * x", "col = x", Kind.RACE),
    (
        "K from the wrong side",
        "range(A.shape[1])",
        "range(A.shape[0])",
        (Kind.ONLY_SQUARE, Kind.OUT_OF_BOUNDS),
    ),
    (
        "products made whole",
        "left += a * B[k, col]",
        "left += int(a * B[k, col])",
        (Kind.ROUNDED, Kind.WRONG),
    ),
    (
        "sum in half precision",
        "left += a * B[k, col]",
        "left = float16(left + a * B[k, col])",
        Kind.ROUNDED,
    ),
]
RIGHT = [
    ("a register for the place", "both = col + 1 < C.shape[1]", "both = col < C.shape[1] - 1"),
    ("fused", "left += a * B[k, col]", "left = cuda.fma(a, B[k, col], left)"),
]
