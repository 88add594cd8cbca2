"""A target of sectors."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.kinds import Kind

INDEX = "row, col = i // N, i % N"
WRONG = [
    ("rows run fastest", INDEX, "row, col = i % M, 1 * (i // M)", Kind.BUDGET),
    (
        "exchanged",
        INDEX,
        "col, row = i // N, i % N",
        (Kind.ONLY_SQUARE, Kind.OUT_OF_BOUNDS, Kind.MISSING_GUARD, Kind.BUDGET),
    ),
    (
        "by the wrong size",
        INDEX,
        "row, col = i // M, i % M",
        (Kind.ONLY_SQUARE, Kind.OUT_OF_BOUNDS),
    ),
    (
        "two sizes",
        INDEX,
        "row, col = i // N, i % M",
        (Kind.ONLY_SQUARE, Kind.OUT_OF_BOUNDS, Kind.RACE),
    ),
    (
        "two columns at a time",
        INDEX,
        "row, col = i // 2 % M, i % 2 + 2 * (i // (2 * M))",
        (Kind.BUDGET, Kind.OUT_OF_BOUNDS),
    ),
    ("no guard", "if i < M * N:", "if True:", Kind.MISSING_GUARD),
    (
        "guard by one size",
        "i < M * N",
        "i < M * M",
        (Kind.ONLY_SQUARE, Kind.UNWRITTEN, Kind.MISSING_GUARD),
    ),
    (
        "factor of the column",
        "f[row]",
        "f[col]",
        (Kind.SWAPPED, Kind.ONLY_SQUARE, Kind.OUT_OF_BOUNDS),
    ),
    ("no factor", "f[row] * A", "A", Kind.WRONG),
    ("stored transposed", "B[row, col] =", "B[col, row] =", Kind.TRANSPOSED),
    ("stores into A", "B[row, col] =", "A[row, col] =", Kind.INPUT_CHANGED),
    ("float64", "= f[row]", "= 1.0 * f[row]", Kind.FLOAT64),
    ("adds to what is there", "B[row, col] =", "B[row, col] +=", Kind.READS_OUTPUT),
]
RIGHT = [
    ("by subtraction", INDEX, "row = i // N\n        col = i - row * N"),
    ("divmod", INDEX, "row, col = divmod(i, N)"),
]
