"""Attention in a sliding window."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.kinds import Kind

BAD = (Kind.NOT_A_NUMBER, Kind.WRONG)
WRONG = [
    ("causal without a window", " and query - key0 - k < WINDOW", "", BAD),
    ("a window without causality", "key0 + k <= query and ", "", (*BAD, Kind.OUT_OF_BOUNDS)),
    ("one key too many", "k < WINDOW:", "k <= WINDOW:", BAD),
    ("one key too few", "k < WINDOW:", "k < WINDOW - 1:", BAD),
    ("not its own key", "key0 + k <= query", "key0 + k < query", BAD),
    ("starts at the block", "max(0, first - WINDOW + 1) // 32 * 32", "first", BAD),
    ("starts at the window of the last query", "max(0, first - WINDOW + 1) // 32 * 32", "max(0, first + 63 - WINDOW + 1) // 32 * 32", BAD),
    ("relative to the last score", "above = max(largest, score)", "above = score", BAD),
    ("starts one key late", "first - WINDOW + 1", "first - WINDOW + 2", BAD),
    ("ends one key early", "range(start, min(N, first + 64), 32)", "range(start, min(N, first + 64) - 1, 32)", (*BAD, Kind.ONLY_MULTIPLES)),
    ("loads every tile", "max(0, first - WINDOW + 1) // 32 * 32", "0", Kind.BUDGET),
    ("loads all tiles to the end", "min(N, first + 64)", "N", Kind.BUDGET),
    ("stops at the block's first query", "min(N, first + 64)", "min(N, first + 1)", BAD),
    ("the largest is not kept", "                largest = above\n", "", BAD),
    ("acc does not rescale", "acc[d] * rescale + weight", "acc[d] + weight", BAD),
    ("the sum does not rescale", "total = total * rescale", "total = total", BAD),
    ("no barrier after the loads", "if row < N else float32(0)\n        cuda.syncthreads()", "if row < N else float32(0)", Kind.MISSING_BARRIER),
    ("no barrier after the use", "                largest = above\n        cuda.syncthreads()", "                largest = above", Kind.MISSING_BARRIER),
    ("no guard on the tiles", " if row < N else float32(0)", "", (Kind.MISSING_GUARD, Kind.OUT_OF_BOUNDS)),
    ("half a tile is loaded", "range(t, 32 * D, 64)", "range(t, 16 * D, 64)", (Kind.UNINITIALISED, *BAD)),
    ("the mask forgets the tile", "if key0 + k <= query and query - key0 - k", "if k <= query and query - k", BAD),
    ("float64", "score = float32(0)", "score = 0.0", Kind.FLOAT64),
]  # fmt: skip
RIGHT = [
    ("the test turned round", "key0 + k <= query and query - key0 - k < WINDOW", "0 <= query - key0 - k < WINDOW"),
    ("from the exact start", "max(0, first - WINDOW + 1) // 32 * 32", "max(0, first - WINDOW + 1)"),
    ("a key's number", "            if key0 + k <= query and query - key0 - k < WINDOW:", "            key = key0 + k\n            if key <= query and key > query - WINDOW:"),
]  # fmt: skip
