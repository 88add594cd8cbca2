"""Two elements per thread."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.kinds import Kind

WRONG = [
    ("no guard", "if row < C.shape[0] and col < C.shape[1]:", "if True:", Kind.MISSING_GUARD),
    ("no guard on the rows", "row < C.shape[0] and col", "col", Kind.MISSING_GUARD),
    ("no guard on the columns", " and col < C.shape[1]", "", Kind.MISSING_GUARD),
    ("no second guard", "both = col + 1 < C.shape[1]", "both = True", Kind.MISSING_GUARD),
    ("second guard too late", "col + 1 < C", "col < C", Kind.MISSING_GUARD),
    ("second guard too early", "col + 1 < C", "col + 2 < C", Kind.UNWRITTEN),
    ("left's neighbour", "B[k, col + 1]", "B[k, col]", Kind.WRONG),
    ("stored the other way round", "C[row, col] = left", "C[row, col] = right", Kind.WRONG),
    ("both into one place", "C[row, col + 1] = right", "C[row, col] = right", Kind.UNWRITTEN),
    (
        "next row instead",
        "C[row, col + 1] = right",
        "C[row + 1, col] = right",
        (Kind.RACE, Kind.OUT_OF_BOUNDS, Kind.MISSING_GUARD),
    ),
    ("A loaded twice", "left += a *", "left += A[row, k] *", Kind.BUDGET),
    ("sum set, not added to", "left += a", "left = a", (Kind.WRONG, Kind.LOST_SUM)),
    ("one sum for both", "right += a", "left += a", Kind.WRONG),
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
    (
        "products made whole",
        "right += a * B[k, col + 1]",
        "right += int(a * B[k, col + 1])",
        (Kind.ROUNDED, Kind.WRONG),
    ),
    (
        "sum in half precision",
        "right += a * B[k, col + 1]",
        "right = float16(right + a * B[k, col + 1])",
        Kind.ROUNDED,
    ),
]
RIGHT = [
    ("a register for the place", "both = col + 1 < C.shape[1]", "both = col < C.shape[1] - 1"),
    ("fused", "left += a * B[k, col]", "left = cuda.fma(a, B[k, col], left)"),
    (
        "two loops of guards",
        "            if both:\n                right += a * B[k, col + 1]",
        "            right += a * (B[k, col + 1] if both else float32(0))",
    ),
]
