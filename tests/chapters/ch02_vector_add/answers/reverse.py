"""A vector back to front."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

WRONG = [
    ("no guard", "if i < out.size:", "if True:", Flaw.MISSING_GUARD),
    ("guard too early", "i < out.size", "i < out.size - 1", Flaw.UNWRITTEN),
    ("one too far", "v.size - 1 - i", "v.size - i", Flaw.OUT_OF_BOUNDS),
    ("one too near", "v.size - 1 - i", "v.size - 2 - i", Flaw.NEGATIVE_INDEX),
    ("as it was", "v[v.size - 1 - i]", "v[i]", Flaw.WRONG),
    (
        "each block for itself",
        "v[v.size - 1 - i]",
        "v[min(v.size, (cuda.blockIdx.x + 1) * cuda.blockDim.x) - 1 - cuda.threadIdx.x]",
        (Flaw.WRONG, Flaw.ONLY_MULTIPLES),
    ),
    ("place in the block only", "cuda.grid(1)", "cuda.threadIdx.x", Flaw.RACE),
    ("in place", "out[i] = v", "v[i] = v", (Flaw.INPUT_CHANGED, Flaw.RACE)),
    (
        "size of the launch",
        "v.size - 1 - i",
        "cuda.gridsize(1) - 1 - i",
        (Flaw.MISSING_GUARD, Flaw.OUT_OF_BOUNDS),
    ),
    ("loads twice", "= v[v.size - 1 - i]", "= v[i] - v[i] + v[v.size - 1 - i]", Flaw.BUDGET),
    ("float64", "= v[v.size - 1 - i]", "= 1.0 * v[v.size - 1 - i]", Flaw.FLOAT64),
    ("endless", "if i <", "while i <", Flaw.ENDLESS),
    (
        "whole numbers stored",
        "out[i] = v[v.size - 1 - i]",
        "out[i] = int(v[v.size - 1 - i])",
        Flaw.ROUNDED,
    ),
]
RIGHT = [
    ("the store turned round", "out[i] = v[v.size - 1 - i]", "out[out.size - 1 - i] = v[i]"),
    ("the long index", "cuda.grid(1)", "cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x"),
]
