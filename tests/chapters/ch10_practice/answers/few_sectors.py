"""A target of sectors."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

INDEX = "row, col = i // N, i % N"
WRONG = [
    ("rows run fastest", INDEX, "row, col = i % M, 1 * (i // M)", Flaw.BUDGET),
    (
        "exchanged",
        INDEX,
        "col, row = i // N, i % N",
        (Flaw.ONLY_SQUARE, Flaw.OUT_OF_BOUNDS, Flaw.MISSING_GUARD, Flaw.BUDGET),
    ),
    (
        "by the wrong size",
        INDEX,
        "row, col = i // M, i % M",
        (Flaw.ONLY_SQUARE, Flaw.OUT_OF_BOUNDS),
    ),
    (
        "two sizes",
        INDEX,
        "row, col = i // N, i % M",
        (Flaw.ONLY_SQUARE, Flaw.OUT_OF_BOUNDS, Flaw.RACE),
    ),
    (
        "two columns at a time",
        INDEX,
        "row, col = i // 2 % M, i % 2 + 2 * (i // (2 * M))",
        (Flaw.BUDGET, Flaw.OUT_OF_BOUNDS),
    ),
    ("no guard", "if i < M * N:", "if True:", Flaw.MISSING_GUARD),
    (
        "guard by one size",
        "i < M * N",
        "i < M * M",
        (Flaw.ONLY_SQUARE, Flaw.UNWRITTEN, Flaw.MISSING_GUARD),
    ),
    (
        "factor of the column",
        "f[row]",
        "f[col]",
        (Flaw.SWAPPED, Flaw.ONLY_SQUARE, Flaw.OUT_OF_BOUNDS),
    ),
    ("no factor", "f[row] * A", "A", Flaw.WRONG),
    ("stored transposed", "B[row, col] =", "B[col, row] =", Flaw.TRANSPOSED),
    ("stores into A", "B[row, col] =", "A[row, col] =", Flaw.INPUT_CHANGED),
    ("float64", "= f[row]", "= 1.0 * f[row]", Flaw.FLOAT64),
    ("adds to what is there", "B[row, col] =", "B[row, col] +=", Flaw.READS_OUTPUT),
]
RIGHT = [
    ("by subtraction", INDEX, "row = i // N\n        col = i - row * N"),
    ("divmod", INDEX, "row, col = divmod(i, N)"),
]
