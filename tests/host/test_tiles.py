"""Tiles that cannot be: one line that names the value, the limit and the way out."""

import pytest

from kernels import LADDER

BAD = {
    "thread_tiled_1d": {
        "BM=100 is not a multiple of TM=8: use BM=96": {"BM": 100},
        "these tiles need 2048 threads per block; this GPU allows 1024": {"BM": 128, "BN": 128},
        "these tiles need 80 threads per block, which are not whole warps": {"BM": 8, "BN": 80},
        "BK must be at least 1, got 0: use 8, 16 or 32": {"BK": 0},
        "TM must be a whole number, got 2.5": {"TM": 2.5},
    },
    "thread_tiled": {
        "need 81920 bytes of shared memory per block; the limit is 49152: use a smaller BK":
            {"BK": 80},
        "need 288 registers per thread and 24 for addresses; a thread has 255: use a smaller TM":
            {"TM": 16, "TN": 16},
    },
    "vectorized": {
        "TM=6 is not a multiple of 4, the elements of a 16-byte load: use TM=4":
            {"TM": 6, "BM": 96},
        "is not a multiple of the 1024 elements that 256 threads load at once: use a larger BK":
            {"BK": 4},
    },
    "warp_tiled": {
        "a warp tile of 64×64 has 64 thread tiles of 8×8; a warp has 32 threads":
            {"WM": 64, "WN": 64, "TM": 8, "TN": 8},
        "BM=128 is not a multiple of WM=96: use BM=96": {"WM": 96, "TM": 24},
    },
    "swizzled": {
        "group must be at least 1, got 0: use 4, 8 or 16": {"group": 0},
        "group must be at most 32, got 33: use 1 to 32": {"group": 33},
    },
    "split_k": {
        "split must be a whole number, got 1.5: use 1, 2, 4 or 8": {"split": 1.5},
    },
}  # fmt: skip
CASES = [
    (rung, message, options) for rung, cases in BAD.items() for message, options in cases.items()
]


@pytest.mark.parametrize("rung, message, options", CASES)
def test_a_line_says_what_does_not_fit(rung, message, options):
    with pytest.raises((TypeError, ValueError)) as caught:
        LADDER[rung].kernel(**options)
    assert message in str(caught.value) and "\n" not in str(caught.value)
