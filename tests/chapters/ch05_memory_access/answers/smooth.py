"""A neighbour on each side."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

SUM = "a[left] + a[i] + a[right]"
WRONG = [
    ("no guard", "if i < b.size:", "if True:", Flaw.MISSING_GUARD),
    ("guard with <=", "i < b.size", "i <= b.size", Flaw.MISSING_GUARD),
    ("guard too early", "i < b.size", "i < b.size - 1", Flaw.UNWRITTEN),
    ("no guard at the left end", "max(i - 1, 0)", "i - 1", Flaw.NEGATIVE_INDEX),
    (
        "no guard at the right end",
        "min(i + 1, a.size - 1)",
        "i + 1",
        (Flaw.OUT_OF_BOUNDS, Flaw.MISSING_GUARD),
    ),
    (
        "the size instead of the last index",
        "a.size - 1",
        "a.size",
        (Flaw.OUT_OF_BOUNDS, Flaw.MISSING_GUARD),
    ),
    ("left neighbour twice", SUM, "a[left] + a[i] + a[left]", Flaw.WRONG),
    (
        "each block for itself",
        "max(i - 1, 0)",
        "max(i - 1, i - cuda.threadIdx.x)",
        (Flaw.WRONG, Flaw.ONLY_MULTIPLES),
    ),
    ("place in the block only", "cuda.grid(1)", "cuda.threadIdx.x", Flaw.RACE),
    ("in place", "b[i] = a", "a[i] = a", (Flaw.INPUT_CHANGED, Flaw.RACE)),
    ("loads more than it needs", SUM, f"{SUM} + a[i] - a[i]", Flaw.BUDGET),
    ("float64", SUM, f"1.0 * ({SUM})", Flaw.FLOAT64),
    (
        "whole numbers stored",
        "b[i] = a[left] + a[i] + a[right]",
        "b[i] = int(a[left] + a[i] + a[right])",
        Flaw.ROUNDED,
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
