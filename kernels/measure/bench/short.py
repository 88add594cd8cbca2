"""The short benchmark: the ladder at one size, in minutes, so that two GPUs can be compared."""

from __future__ import annotations

from functools import lru_cache

from kernels.measure import levels
from kernels.measure.bench import ladder
from kernels.measure.bench.case import Case
from kernels.measure.bench.case_of_bytes import case_of
from kernels.measure.bench.step import Step, Tables
from kernels.rungs.order import LADDER, Rung

#: M = N = K: the size of the recorded profiles.
SIZE = 2048


def steps() -> list[Step]:
    """What an SM reads per second, and each rung that runs here, in both languages."""
    return [
        Step("bandwidth of each level", lambda: {"levels": levels.levels()}),
        *(
            Step(f"{rung.title}, {SIZE}³", lambda rung=rung: timings(rung))
            for rung in LADDER.values()
            if not rung.missing()
        ),
    ]


def timings(rung: Rung, size: int = SIZE) -> Tables:
    """A rung with the default options of each language, in its first number format."""
    defaults = [(engine, rung.default(engine)) for engine in rung.engines]
    return {"timings": ladder.versions_of(rung, _case(size, rung.dtypes[0]), defaults)}


@lru_cache(maxsize=1)
def _case(size: int, dtype: str) -> Case:
    """Operands and their product, which takes the host a while: kept from rung to rung."""
    return case_of(size, size, size, dtype)
