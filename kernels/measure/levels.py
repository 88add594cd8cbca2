"""Measure how many bytes per second each level of memory delivers, for the roofs of the roofline.

The probes need a GPU. Nsight Compute runs this module as a program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernels.backend import cupy
from kernels.backend.device import device
from kernels.host import cpp
from kernels.measure import ncu, probes
from kernels.measure.timing import time as time_launch

__all__ = ["levels", "peak"]

THREADS = 512  # a block, of which an SM holds two or more
QUARTER = 16  # bytes of a float4
ROUNDS = 2048
MODULE = "kernels.measure.levels"


def levels() -> list[dict[str, Any]]:
    """Rows of a record's table ``levels``: what all SMs together read of each level, and how busy
    that keeps L2.
    """
    rows = [
        {
            "level": level, "engine": "cpp", "bytes": moved, "seconds": probes.timing(found),
            "bytes_per_second": float(f"{moved / found.median:.6g}"),
        }
        for level, moved, launch in launches()
        for found in [time_launch(launch, flush_l2=False, limit=0.5)]
    ]  # fmt: skip
    ncu.add_counts(rows, MODULE, "levels", ("l2_throughput",), engines=("cpp",))
    return [{name: value for name, value in row.items() if name != "engine"} for row in rows]


def launches() -> list[tuple[str, int, Callable[[], object]]]:
    """A level, the bytes that are read, and what reads them from there."""
    blocks = 2 * device().sms
    sums = cupy.empty(blocks * THREADS, np.float32)
    small = cupy.zeros(16 * 1024 // 4, np.float32)
    # A third of L2 is surely there; all SMs read it once a round.
    count = device().l2_bytes // 3 // QUARTER // (blocks * THREADS) * (blocks * THREADS)
    large = cupy.zeros(max(count, blocks * THREADS) * 4, np.float32)
    count, rounds = large.size // 4, 32
    grid, block = (blocks,), (THREADS,)
    from_shared, from_l1, from_l2 = (
        cpp.load("levels", name) for name in ("read_shared", "read_l1", "read_l2")
    )
    whole = blocks * THREADS * 8 * ROUNDS * QUARTER
    return [
        ("shared", whole, lambda: from_shared(grid, block, (np.int32(ROUNDS), sums))),
        ("L1", whole, lambda: from_l1(grid, block, (small, np.int32(ROUNDS), sums))),
        ("L2", count * QUARTER * rounds, lambda: from_l2(
            grid, block, (large, np.int32(count), np.int32(rounds), sums))),
    ]  # fmt: skip


def peak(sms: int, clock: float) -> float:
    """Bytes per second that L1 and shared memory can deliver: 128 per clock on every SM.

    Parameters
    ----------
    sms : int
    clock : float
        Of the SMs, in Hz.
    """
    return 128 * sms * clock


if __name__ == "__main__":
    ncu.launch_marked(launch for _, _, launch in launches())
