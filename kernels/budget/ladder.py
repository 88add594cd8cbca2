"""The ladder on one GPU: what each rung takes of an SM, and how much of it its ceilings explain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from kernels import records
from kernels.backend.device import Device
from kernels.basics import data_sheets
from kernels.budget import counts, here, limits, versions
from kernels.budget.ceilings import Budget
from kernels.rungs.order import LADDER

__all__ = ["Standing", "gpu_of", "standings"]


@dataclass(frozen=True)
class Standing:
    """A rung in one language with its default options, on one GPU.

    Attributes
    ----------
    rung, engine : str
    budget : Budget
        Of the rung's counts and the GPU's limits.
    measured : float
        Cycles of one SM per FMA.
    row : mapping
        The profile, or the timing, that this is from.
    """

    rung: str
    engine: str
    budget: Budget
    measured: float
    row: records.Row

    @property
    def reached(self) -> float:
        """The share of the measured cycles that the highest ceiling explains."""
        return self.budget.reached(self.measured)


def standings(
    record: records.Record,
    names: Sequence[str] | None = None,
    size: int = 2048,
    counted: records.Record | None = None,
) -> list[Standing]:
    """What is known of the rungs on the GPU of a record, at M = N = K.

    Where the record profiled a rung, its own counts and cycles are taken. Where it only timed it,
    cycles are seconds times the clock beside them, and counts are those of `counted`.

    Parameters
    ----------
    record : Record
    names : sequence of str, optional
        Rungs in this order; by default the whole ladder.
    size : int
    counted : Record, optional
        One with profiles, for a record without.
    """
    found = []
    for name in names or LADDER:
        for engine in LADDER[name].engines:
            for profiles, timed in ((record, None), (counted, record)):
                one = profiles and _standing(name, engine, size, profiles, timed)
                if one:
                    found.append(one)
                    break
    return found


def _standing(
    name: str, engine: str, size: int, profiles: records.Record, timed: records.Record | None
) -> Standing | None:
    options = LADDER[name].default(engine)
    row, same = versions.profile_of(profiles, name, engine, options, size**3)
    if row is None or not same or row["M"] != size:
        return None
    warps, bounds = versions.bounds(profiles, row["dtype"])
    own = counts.of_profile(row, warps)
    if timed is None:
        return Standing(name, engine, Budget(own, bounds), counts.measured(row), row)
    where = {"rung": name, "engine": engine, "options": options, "dtype": row["dtype"]}
    rows = timed.rows("timings", **where, M=size, N=size, K=size, correct=True)
    clocked = [timing for timing in rows if timing.get("clock")]
    if not clocked:
        return None
    timing, gpu = clocked[0], gpu_of(timed)
    shared = [r.bytes_per_second for r in timed.tables.get("levels", ()) if r.level == "shared"]
    bounds = limits.of_gpu(gpu, row["dtype"], shared=shared[0] if shared else 0.0)
    cycles = timing.median * timing.clock * gpu.sms / counts.fmas(size, size, size)
    if gpu.name != gpu_of(profiles).name:
        own = counts.elsewhere(own, bounds.tensor)
    return Standing(name, engine, Budget(own, bounds), cycles, timing)


def gpu_of(record: records.Record) -> data_sheets.Gpu:
    """The GPU of a record: its data sheet, or what its driver told."""
    try:
        return data_sheets.gpu(record.provenance.get("gpu", record.name))
    except LookupError:
        known: dict[str, Any] = {field.name for field in fields(Device)} & record.device.keys()
        limits = {name: record.device[name] for name in known}
        for name in ("compute_capability", "hardware"):
            limits[name] = tuple(limits[name]) if limits.get(name) else None
        return here.sheet_of(Device(**limits))
