"""The largest element and the sum of a row, in one pass."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

BAD = (Flaw.NOT_A_NUMBER, Flaw.WRONG)
WRONG = [
    ("the sum does not rescale", "acc = acc * math.exp(largest - above) + math.exp(x - above)", "acc = acc + math.exp(x - above)", BAD),
    ("rescales the wrong way", "acc * math.exp(largest - above) + math.exp(x", "acc * math.exp(above - largest) + math.exp(x", BAD),
    ("a merged sum does not rescale", "more * math.exp(other - above)", "more", BAD),
    ("its own sum does not rescale in a merge", "acc = acc * math.exp(largest - above) + more", "acc = acc + more", BAD),
    ("relative to nothing", "math.exp(x - above)", "math.exp(x)", BAD),
    ("the smallest", "above = max(largest, x)", "above = min(largest, x)", BAD),
    ("past the end", "range(lane, N, 32)", "range(lane, N + 1, 32)", (Flaw.MISSING_GUARD, Flaw.OUT_OF_BOUNDS)),
    ("leaves out what is no whole step", "range(lane, N, 32)", "range(lane, N // 32 * 32, 32)", (*BAD, Flaw.ONLY_MULTIPLES)),
    ("of the columns", "A[row, col]", "A[col, row]", (Flaw.OUT_OF_BOUNDS, Flaw.WRONG, Flaw.ONLY_SQUARE)),
    ("two passes", "    for offset in", "    for col in range(lane, N, 32):\n        largest = max(largest, A[row, col])\n    for offset in", Flaw.BUDGET),
    ("float64", "acc = acc * math.exp(largest - above) + math.exp(x - above)", "acc = acc * math.exp(largest - above) + math.exp(x - above) * 1.0", Flaw.FLOAT64),
    ("sum in half precision", "        largest = above\n    for", "        acc = float16(acc)\n        largest = above\n    for", Flaw.ROUNDED),
    ("not coalesced", "for col in range(lane, N, 32):", "for col in range(lane * ((N + 31) // 32), min(N, (lane + 1) * ((N + 31) // 32))):", Flaw.BUDGET),
]  # fmt: skip
RIGHT = [
    ("offsets from the small one", "(16, 8, 4, 2, 1)", "(1, 2, 4, 8, 16)"),
    ("only where the maximum grows", "        above = max(largest, x)\n        acc = acc * math.exp(largest - above) + math.exp(x - above)\n        largest = above", "        if x > largest:\n            acc = acc * math.exp(largest - x)\n            largest = x\n        acc += math.exp(x - largest)"),
]  # fmt: skip
