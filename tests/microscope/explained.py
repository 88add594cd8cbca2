"""Where the hardware's counters differ from the source as written, why, and by exactly how much."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Explanation:
    """Why a case's counters differ, and what they must then be.

    Attributes
    ----------
    reason : str
        What the compiled code does.
    hardware : callable
        Takes the trace and its counts by name; returns the counters that differ, derived from them.
    """

    reason: str
    hardware: Callable[..., dict[str, int]]


def merged_rows(seen, mine):
    """Four loads along a row of sA become one of 16 bytes, which takes two wavefronts."""
    along, across = seen.count(space="shared", op="load", array="sA"), seen.count(
        space="shared", op="load", array="sB")
    wide = along["requests"] // 4
    return {"shared_load_instructions": wide + across["requests"],
            "shared_load_wavefronts": 2 * wide + across["wavefronts"]}


MERGED = "the loop over k is unrolled, and four loads of sA[ty, k] merge into one LDS.128"

EXPLAINED = {
    "tiled16": Explanation(MERGED, merged_rows),
    "tiled32": Explanation(MERGED, merged_rows),
}
