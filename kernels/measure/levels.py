"""Measure how many bytes per second each level of memory delivers, for the roofs of the roofline.

The probes need a GPU; each returns a row as a record's table ``levels`` holds it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernels.backend import cupy
from kernels.backend.device import device
from kernels.host import cpp
from kernels.measure import probes
from kernels.measure.timing import time as time_launch

__all__ = ["levels", "peak"]

THREADS = 512  # a block, of which an SM holds two or more
QUARTER = 16  # bytes of a float4
ROUNDS = 2048


def levels() -> list[dict[str, Any]]:
    """Bytes per second that all SMs together read from shared memory, L1 and L2."""
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
        _row("shared", whole, lambda: from_shared(grid, block, (np.int32(ROUNDS), sums))),
        _row("L1", whole, lambda: from_l1(grid, block, (small, np.int32(ROUNDS), sums))),
        _row("L2", count * QUARTER * rounds, lambda: from_l2(
            grid, block, (large, np.int32(count), np.int32(rounds), sums))),
    ]  # fmt: skip


def _row(level: str, moved: int, launch: Callable[[], object]) -> dict[str, Any]:
    found = time_launch(launch, flush_l2=False, limit=0.5)
    return {
        "level": level, "bytes": moved, "seconds": probes.timing(found),
        "bytes_per_second": float(f"{moved / found.median:.6g}"),
    }  # fmt: skip


def peak(sms: int, clock: float) -> float:
    """Bytes per second that L1 and shared memory can deliver: 128 per clock on every SM.

    Parameters
    ----------
    sms : int
    clock : float
        Of the SMs, in Hz.
    """
    return 128 * sms * clock
