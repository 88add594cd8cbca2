"""Where the hardware's counters differ from the source as written, why, and by exactly how much.

The reasons were read off the compiled code, whose memory instructions stand beside the counters
(``compiled`` in the record).
"""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.microscope.cases import dims


@dataclass(frozen=True)
class Explanation:
    """Why a case's counters differ, and what they must then be.

    Attributes
    ----------
    reason : str
        What the compiled code does.
    hardware : callable
        Takes the case, its trace and the trace's counts by name; returns the counters that
        differ, derived from them.
    """

    reason: str
    hardware: Callable[..., dict[str, int]]


def warps(seen) -> int:
    """Warps of the whole grid."""
    return seen.blocks * seen.warps_per_block


# ------------------------------------------------------------------------------- merged loads
def merged_rows(case, seen, mine):
    """A quarter of the loads along rows of sA, two wavefronts each; those of sB as they are."""
    along, across = (seen.count(space="shared", op="load", array=name) for name in ("sA", "sB"))
    wide = along["requests"] // 4
    return {
        "shared_load_instructions": wide + across["requests"],
        "shared_load_wavefronts": 2 * wide + across["wavefronts"],
    }


def loaded_once(case, seen, mine):
    """One of the two loads of a[i]."""
    return {key: mine[key] // 2 for key in ("global_load_requests", "global_load_sectors")}


# ------------------------------------------------------------------------------- lanes that part
def unrolled(case, seen, mine):
    """Requests of a grid-stride loop whose iterations go by fours, the rest one by one.

    Lanes with a different number of fours part, and each party makes its own requests. Here the
    parties lie in different sectors, so that the sectors stay.
    """
    n = max(a.size for a in case.make())
    threads = dims(case.grid)[0] * dims(case.block)[0]
    trips = -(-(n - np.arange(threads)) // threads)
    per_warp = trips.reshape(-1, 32)
    each = int((4 * (per_warp // 4).max(1) + (per_warp % 4).max(1)).sum())
    loads = sum(s.space == "global" and s.op == "load" for s in seen.sites)
    stores = sum(s.space == "global" and s.op == "store" for s in seen.sites)
    return {"global_load_requests": loads * each, "global_store_requests": stores * each}


def dot(case, seen, mine):
    """As `unrolled`; and the last of five additions after a shuffle is made by lane 0 alone."""
    threads = dims(case.grid)[0] * dims(case.block)[0]
    elements = case.make()[0].size
    return unrolled(case, seen, mine) | {"flops_float32": 2 * elements + 4 * threads + warps(seen)}


# ------------------------------------------------------------------------------- switched-off lanes
def predicated(key: str, expr: str, times: int):
    """Every warp issues the guarded access `times` times, also where its lanes are all off."""

    def hardware(case, seen, mine):
        (guarded,) = (s for s in seen.sites if s.expr == expr and s.op in key)
        return {key: mine[key] - guarded.requests + times * warps(seen)}

    return hardware


# ------------------------------------------------------------------------------- atomics
def red_sectors(words: np.ndarray) -> int:
    """Sectors of reductions, warp by warp: a sector once for each lane at its busiest word."""
    total = 0
    for start in range(0, words.size, 32):
        sectors = defaultdict(int)
        for word, lanes in Counter(words[start : start + 32].tolist()).items():
            sectors[word // 8] = max(sectors[word // 8], lanes)
        total += sum(sectors.values())
    return total


def histogram_global(case, seen, mine):
    """Lanes that meet in one bin go one after another."""
    return {"global_atomic_sectors": red_sectors(case.make()[0])}


def row_maximum(case, seen, mine):
    """All lanes of a warp meet in one element: one sector a lane."""
    return {"global_atomic_sectors": seen.count(op="atomic")["lanes"]}


# ------------------------------------------------------------------------------- narrowed types
def narrowed(case, seen, mine):
    """All float64 operations done as float32."""
    return {"flops_float32": mine["flops_float64"], "flops_float64": 0}


MERGED = Explanation(
    "the loop over k is unrolled, and four loads of sA[ty, k] merge into one LDS.128, which takes "
    "two wavefronts",
    merged_rows,
)
UNROLLED = (
    "the loop is unrolled by four; in a warp where some threads have four elements and others "
    "three, these run the loop for the rest, one request at a time"
)
OFF = (
    "the guarded access is predicated, not branched over: warps whose lanes are all off issue "
    "it too, without a wavefront"
)
NARROWED = Explanation(
    "an int and a float32 make a float64 in Numba; the result is rounded to float32 at once, so "
    "the compiler may compute it in float32, and does",
    narrowed,
)

EXPLAINED = {
    **{
        f"rung_tiled_{tile}_{size}": MERGED
        for tile in (8, 16, 32)
        for size in ("64x64x64", "37x53x41")
    },
    "widen_int8": Explanation("a[i] * a[i] loads a[i] once", loaded_once),
    "rung_vector_add_grid_stride": Explanation(UNROLLED, unrolled),
    "dot_grid_stride": Explanation(
        UNROLLED + "; only lane 0 needs the last sum, and the atomic adds in the L2 cache", dot
    ),
    "scan_block": Explanation(OFF, predicated("shared_load_instructions", "s[tx - step]", 8)),
    "histogram_shared": Explanation(OFF, predicated("shared_store_instructions", "s[tx]", 1)),
    "broadcast": Explanation(OFF, predicated("shared_store_instructions", "s[tx]", 1)),
    "histogram_global": Explanation(
        "a reduction counts a sector once for each lane at its busiest word", histogram_global
    ),
    "row_maximum": Explanation(
        "a reduction counts a sector once for each lane at its busiest word", row_maximum
    ),
    "partial_warp": NARROWED,
}
