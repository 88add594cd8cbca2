"""What the hardware counts in each version of a rung, by Nsight Compute."""

from __future__ import annotations

import warnings

from kernels.measure import ncu, profiler
from kernels.measure.bench.step import Step, Tables


def steps() -> list[Step]:
    """One step: the hardware's counters."""
    return [Step("hardware counters", profiles)]


def profiles() -> Tables:
    """What the hardware counts in each version; no rows, and a word why, where it may not."""
    try:
        return profiler.tables(profiler.profiles())
    except ncu.ProfilerError as error:
        warnings.warn(f"no hardware counters: {error}", stacklevel=2)
        return {}
