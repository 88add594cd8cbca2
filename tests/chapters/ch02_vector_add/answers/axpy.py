"""Scale and add."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.kinds import Kind

WRONG = [
    ("no guard", "if i < y.size:", "if True:", Kind.MISSING_GUARD),
    ("guard with <=", "i < y.size", "i <= y.size", Kind.MISSING_GUARD),
    ("guard too early", "i < y.size", "i < y.size - 1", (Kind.UNWRITTEN, Kind.WRONG)),
    ("guard turned round", "i < y.size", "i >= y.size", Kind.OUT_OF_BOUNDS),
    ("place in the block only", "cuda.grid(1)", "cuda.threadIdx.x", Kind.RACE),
    ("block only", "cuda.grid(1)", "cuda.blockIdx.x", Kind.RACE),
    ("alpha forgotten", "alpha * x[i]", "x[i]", Kind.WRONG),
    ("alpha on the wrong vector", "alpha * x[i] + y[i]", "x[i] + alpha * y[i]", Kind.SWAPPED),
    ("stores into x", "y[i] =", "x[i] =", Kind.INPUT_CHANGED),
    ("float64 literal", "alpha * x[i]", "alpha * x[i] * 1.0", Kind.FLOAT64),
    ("loads x twice", "alpha * x[i]", "(alpha - float32(1)) * x[i] + x[i]", Kind.BUDGET),
    ("endless", "if i <", "while i <", Kind.ENDLESS),
    (
        "whole numbers stored",
        "y[i] = alpha * x[i] + y[i]",
        "y[i] = int(alpha * x[i] + y[i])",
        Kind.ROUNDED,
    ),
]
RIGHT = [
    ("the long index", "cuda.grid(1)", "cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x"),
    ("in place", "y[i] = alpha * x[i] + y[i]", "y[i] += alpha * x[i]"),
]
