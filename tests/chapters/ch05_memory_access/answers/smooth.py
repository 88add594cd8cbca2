"""A neighbour on each side."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.kinds import Kind

SUM = "a[left] + a[i] + a[right]"
WRONG = [
    ("no guard", "if i < b.size:", "if True:", Kind.MISSING_GUARD),
    ("guard with <=", "i < b.size", "i <= b.size", Kind.MISSING_GUARD),
    ("guard too early", "i < b.size", "i < b.size - 1", Kind.UNWRITTEN),
    ("no guard at the left end", "max(i - 1, 0)", "i - 1", Kind.NEGATIVE_INDEX),
    (
        "no guard at the right end",
        "min(i + 1, a.size - 1)",
        "i + 1",
        (Kind.OUT_OF_BOUNDS, Kind.MISSING_GUARD),
    ),
    (
        "the size instead of the last index",
        "a.size - 1",
        "a.size",
        (Kind.OUT_OF_BOUNDS, Kind.MISSING_GUARD),
    ),
    ("left neighbour twice", SUM, "a[left] + a[i] + a[left]", Kind.WRONG),
    (
        "each block for itself",
        "max(i - 1, 0)",
        "max(i - 1, i - cuda.threadIdx.x)",
        (Kind.WRONG, Kind.ONLY_MULTIPLES),
    ),
    ("place in the block only", "cuda.grid(1)", "cuda.threadIdx.x", Kind.RACE),
    ("in place", "b[i] = a", "a[i] = a", (Kind.INPUT_CHANGED, Kind.RACE)),
    ("loads more than it needs", SUM, f"{SUM} + a[i] - a[i]", Kind.BUDGET),
    ("float64", SUM, f"1.0 * ({SUM})", Kind.FLOAT64),
    (
        "whole numbers stored",
        "b[i] = a[left] + a[i] + a[right]",
        "b[i] = int(a[left] + a[i] + a[right])",
        Kind.ROUNDED,
    ),
]
RIGHT = [
    (
        "limits before the step",
        "max(i - 1, 0), min(i + 1, a.size - 1)",
        "max(i, 1) - 1, min(i + 2, a.size) - 1",
    ),
    ("the other order", SUM, "a[right] + a[left] + a[i]"),
]
