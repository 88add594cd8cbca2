"""Vector add."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

INDEX = "cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x"
WRONG = [
    ("no guard", "if i < c.size:", "if True:", Flaw.MISSING_GUARD),
    ("guard too early", "i < c.size", "i < c.size - 1", Flaw.UNWRITTEN),
    ("guard turned round", "i < c.size", "i >= c.size", Flaw.OUT_OF_BOUNDS),
    ("place in the block only", INDEX, "cuda.threadIdx.x", Flaw.RACE),
    (
        "block and thread exchanged",
        INDEX,
        "cuda.threadIdx.x * cuda.blockDim.x + cuda.blockIdx.x",
        (Flaw.UNWRITTEN, Flaw.MISSING_GUARD),
    ),
    ("grid instead of block", "cuda.blockDim.x", "cuda.gridDim.x", (Flaw.RACE, Flaw.UNWRITTEN)),
    ("shifted source", "b[i]", "b[i - 1]", Flaw.NEGATIVE_INDEX),
    ("difference", "a[i] + b[i]", "a[i] - b[i]", Flaw.WRONG),
    ("stores into a", "c[i] =", "a[i] =", Flaw.INPUT_CHANGED),
    ("adds to what is there", "c[i] = a[i]", "c[i] += a[i]", Flaw.READS_OUTPUT),
    ("float64 literal", "a[i] + b[i]", "1.0 * a[i] + b[i]", Flaw.FLOAT64),
    (
        "loads b twice",
        "a[i] + b[i]",
        "a[i] + (b[i] + b[i]) / float32(2)",
        (Flaw.BUDGET, Flaw.FLOAT64),
    ),
    ("unfinished loop", "if i < c.size:", "while i < c.size:", Flaw.ENDLESS),
]
RIGHT = [
    ("cuda.grid", INDEX, "cuda.grid(1)"),
    ("early return", "if i < c.size:\n        c[i]", "if i >= c.size:\n        return\n    c[i]"),
]
