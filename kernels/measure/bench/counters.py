"""What the hardware counts in each version of a rung, by Nsight Compute."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from kernels.measure import ncu, profiler
from kernels.measure.bench.step import Step, Tables


def steps() -> list[Step]:
    """Where L2 holds A and B, where it does not, and where rows begin on no 16-byte boundary."""
    return [
        Step("hardware counters", profiles),
        Step(f"hardware counters, {profiler.BEYOND_L2}³", beyond_l2),
        Step(f"hardware counters, {profiler.UNALIGNED}³", unaligned),
    ]


def profiles() -> Tables:
    """What the hardware counts in each version; no rows, and a word why, where it may not."""
    return profiler.tables(rows) if (rows := counted(profiler.jobs())) else {}


def beyond_l2() -> Tables:
    """The same of larger matrices, and fewer versions."""
    return {"beyond_l2": rows} if (rows := counted(profiler.jobs_beyond_l2())) else {}


def unaligned() -> Tables:
    """The same of rows that begin on no 16-byte boundary."""
    return {"unaligned": rows} if (rows := counted(profiler.jobs_unaligned())) else {}


def counted(todo: Iterable[profiler.Job]) -> list[dict[str, Any]]:
    """The rows of some products: none, and a warning that says why, where nothing can be read."""
    try:
        return profiler.profiles(todo)
    except ncu.ProfilerError as error:
        warnings.warn(f"no hardware counters: {error}", stacklevel=2)
        return []
