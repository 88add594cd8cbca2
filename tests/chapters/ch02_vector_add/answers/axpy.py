"""Scale and add."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

WRONG = [
    ("no guard", "if i < y.size:", "if True:", Flaw.MISSING_GUARD),
    ("guard with <=", "i < y.size", "i <= y.size", Flaw.MISSING_GUARD),
    ("guard too early", "i < y.size", "i < y.size - 1", (Flaw.UNWRITTEN, Flaw.WRONG)),
    ("guard turned round", "i < y.size", "i >= y.size", Flaw.OUT_OF_BOUNDS),
    ("place in the block only", "cuda.grid(1)", "cuda.threadIdx.x", Flaw.RACE),
    ("block only", "cuda.grid(1)", "cuda.blockIdx.x", Flaw.RACE),
    ("alpha forgotten", "alpha * x[i]", "x[i]", Flaw.WRONG),
    ("alpha on the wrong vector", "alpha * x[i] + y[i]", "x[i] + alpha * y[i]", Flaw.SWAPPED),
    ("stores into x", "y[i] =", "x[i] =", Flaw.INPUT_CHANGED),
    ("float64 literal", "alpha * x[i]", "alpha * x[i] * 1.0", Flaw.FLOAT64),
    ("loads x twice", "alpha * x[i]", "(alpha - float32(1)) * x[i] + x[i]", Flaw.BUDGET),
    ("endless", "if i <", "while i <", Flaw.ENDLESS),
    (
        "whole numbers stored",
        "y[i] = alpha * x[i] + y[i]",
        "y[i] = int(alpha * x[i] + y[i])",
        Flaw.ROUNDED,
    ),
]
RIGHT = [
    ("the long index", "cuda.grid(1)", "cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x"),
    ("in place", "y[i] = alpha * x[i] + y[i]", "y[i] += alpha * x[i]"),
]
