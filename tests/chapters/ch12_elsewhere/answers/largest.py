"""Where the largest number of each row stands."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

SHUFFLES = "        other = cuda.shfl_down_sync(ALL, best, step)\n        place = cuda.shfl_down_sync(ALL, col, step)\n"
OOB = (Flaw.MISSING_GUARD, Flaw.OUT_OF_BOUNDS)
WRONG = [
    ("no guard for short rows", "min(lane, N - 1)", "lane", OOB),
    ("begins with zero", "best = A[row, col]", "best = float32(0)", Flaw.WRONG),
    ("only one column per lane", "range(lane + 32, N, 32)", "range(lane + 32, lane + 32, 32)", (Flaw.DROPPED_TILE, Flaw.WRONG)),
    ("remainder dropped", "range(lane + 32, N, 32)", "range(lane + 32, N // 32 * 32, 32)", (Flaw.DROPPED_TILE, Flaw.WRONG, Flaw.ONLY_MULTIPLES)),
    ("one too many", "range(lane + 32, N, 32)", "range(lane + 32, N + 1, 32)", OOB),
    ("no comparison of lanes", "step = 16", "step = 0", Flaw.WRONG),
    ("starts too low", "step = 16", "step = 8", Flaw.WRONG),
    ("stops too early", "while step > 0", "while step > 1", Flaw.WRONG),
    ("never stops", "step //= 2", "step //= 1", Flaw.ENDLESS),
    ("rows by columns", "A[row, k]", "A[k, row]", (Flaw.SWAPPED, Flaw.OUT_OF_BOUNDS, Flaw.ONLY_SQUARE)),
    ("not coalesced", "for k in range(lane + 32, N, 32):", "for k in range(lane * ((N + 31) // 32), min(N, (lane + 1) * ((N + 31) // 32))):", (Flaw.BUDGET, Flaw.WRONG)),
    ("everything loaded by everyone", "for k in range(lane + 32, N, 32):", "for k in range(N):", (Flaw.BUDGET, Flaw.WRONG)),
    ("a barrier for one warp", SHUFFLES, SHUFFLES + "        cuda.syncthreads()\n", Flaw.BUDGET),
]  # fmt: skip
RIGHT = [
    ("exchanges across", "shfl_down_sync", "shfl_xor_sync"),
    (
        "the condition the other way round",
        "if other > best or (other == best and place < col):\n            best, col = other, place",
        "if not (other < best or (other == best and place >= col)):\n            best, col = other, place",
    ),
]  # fmt: skip
