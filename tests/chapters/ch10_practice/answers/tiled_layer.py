"""A fused layer."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

GUARD = "if row < M and col < N:"
STORE = "C[row, col] = max(acc + bias[col], float32(0))"
WRONG = [
    ("no bias", "acc + bias[col]", "acc", Flaw.WRONG),
    ("no maximum", "max(acc + bias[col], float32(0))", "acc + bias[col]", Flaw.WRONG),
    (
        "bias of the row",
        "bias[col]",
        "bias[row]",
        (Flaw.SWAPPED, Flaw.ONLY_SQUARE, Flaw.OUT_OF_BOUNDS),
    ),
    (
        "bias without a guard",
        GUARD + "\n        C",
        "z = bias[col]\n    " + GUARD + "\n        C",
        Flaw.MISSING_GUARD,
    ),
    ("sizes exchanged", GUARD, "if row < N and col < M:", Flaw.ONLY_SQUARE),
    ("stored transposed", "C[row, col] =", "C[col, row] =", Flaw.TRANSPOSED),
    ("float64 maximum", STORE, "C[row, col] = max(acc + 1.0 * bias[col], 0.0)", Flaw.FLOAT64),
    (
        "bias in every step",
        "        cuda.syncthreads()\n        for k in range(T):",
        "        cuda.syncthreads()\n        if col < N:\n            acc += bias[col]\n        for k in range(T):",
        (Flaw.WRONG, Flaw.ONLY_MULTIPLES),
    ),
    ("sums in C", STORE, "C[row, col] += max(acc + bias[col], float32(0))", Flaw.READS_OUTPUT),
    (
        "stores into the bias",
        STORE,
        "bias[col] = max(acc + bias[col], float32(0))",
        (Flaw.RACE, Flaw.INPUT_CHANGED),
    ),
    (
        "first barrier missing",
        "        cuda.syncthreads()\n        for k",
        "        for k",
        Flaw.MISSING_BARRIER,
    ),
    (
        "whole numbers stored",
        "C[row, col] = max(acc + bias[col], float32(0))",
        "C[row, col] = int(max(acc + bias[col], float32(0)))",
        Flaw.ROUNDED,
    ),
    (
        "half precision stored",
        "C[row, col] = max(acc + bias[col], float32(0))",
        "C[row, col] = float16(max(acc + bias[col], float32(0)))",
        (Flaw.ROUNDED, Flaw.WRONG),
    ),
]
RIGHT = [
    ("a condition", STORE, "z = acc + bias[col]\n        C[row, col] = z if z > 0 else float32(0)"),
    ("the maximum first", "max(acc + bias[col], float32(0))", "max(float32(0), bias[col] + acc)"),
]
