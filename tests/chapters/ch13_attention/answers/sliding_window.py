"""Attention in a sliding window."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

BAD = (Flaw.NOT_A_NUMBER, Flaw.WRONG)
WRONG = [
    ("causal without a window", " and query - key0 - k < WINDOW", "", BAD),
    ("a window without causality", "key0 + k <= query and ", "", (*BAD, Flaw.OUT_OF_BOUNDS)),
    ("one key too many", "k < WINDOW:", "k <= WINDOW:", BAD),
    ("one key too few", "k < WINDOW:", "k < WINDOW - 1:", BAD),
    ("not its own key", "key0 + k <= query", "key0 + k < query", BAD),
    ("ends one key early", "range(start, min(N, first + 64), 32)", "range(start, min(N, first + 64) - 1, 32)", (*BAD, Flaw.ONLY_MULTIPLES)),
    ("loads every tile", "max(0, first - WINDOW + 1) // 32 * 32", "0", Flaw.BUDGET),
    ("loads all tiles to the end", "min(N, first + 64)", "N", Flaw.BUDGET),
    ("no barrier after the loads", "if row < N else float32(0)\n        cuda.syncthreads()", "if row < N else float32(0)", Flaw.MISSING_BARRIER),
    ("no barrier after the use", "                largest = above\n        cuda.syncthreads()", "                largest = above", Flaw.MISSING_BARRIER),
    ("no guard on the tiles", " if row < N else float32(0)", "", (Flaw.MISSING_GUARD, Flaw.OUT_OF_BOUNDS)),
    ("half a tile is loaded", "range(t, 32 * D, 64)", "range(t, 16 * D, 64)", (Flaw.UNINITIALISED, *BAD)),
    ("float64", "score = float32(0)", "score = 0.0", Flaw.FLOAT64),
]  # fmt: skip
RIGHT = [
    ("the test turned round", "key0 + k <= query and query - key0 - k < WINDOW", "0 <= query - key0 - k < WINDOW"),
    ("from the exact start", "max(0, first - WINDOW + 1) // 32 * 32", "max(0, first - WINDOW + 1)"),
]  # fmt: skip
