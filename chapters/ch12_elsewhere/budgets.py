"""What a kernel of this chapter waits for: the ceilings of `kernels.budget`, per 32 numbers.

A sum has no multiply-adds to divide by, so the counts are of what one warp takes at a time: 32
numbers of the vector, of the matrix, of the row.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, prod
from typing import Any

from kernels.basics.units import percent
from kernels.budget import versions
from kernels.budget.ceilings import UNITS, Budget, Counts
from kernels.records import Record, Table

__all__ = ["budget", "measured", "table"]

WARP = 32  #: numbers of a unit


def budget(
    seen: Any,
    numbers: int,
    record: Record,
    loads: int = 1,
    ahead: int = 1,
    instructions: float | None = None,
) -> Budget:
    """Return the ceilings of a traced launch, in cycles of an SM per 32 numbers.

    DRAM moves every byte once that the launch touches. A warp waits for its loads, and for
    shared memory once per barrier.

    Parameters
    ----------
    seen : microscope.trace.Trace
        Of the whole launch.
    numbers : int
        That the launch takes.
    record : Record
        Whose GPU it is, with the latencies of its memories.
    loads, ahead : int
        Loads of a thread, and how many of them it issues before it needs the first.
    instructions : float, optional
        Of warps per 32 numbers, as the profiler counted them: a trace knows none.
    """
    warps, limits = versions.bounds(record)
    units, blocks = numbers / WARP, prod(seen.grid)
    wavefronts = sum(
        site.wavefronts if site.space == "shared" else site.lines
        for site in seen.sites
        if site.space in ("shared", "global")
    )
    waits = latency(record, "global") * ceil(loads / ahead)
    waits += latency(record, "shared") * sum(seen.barriers.values()) / blocks
    counts = Counts(
        instructions=instructions,
        wavefronts=wavefronts / units,
        dram_bytes=seen.work.bytes_unique / units,
        # Of one warp, over the units that it takes.
        wait=waits * blocks * seen.warps_per_block / units,
        warps=warps,
    )
    return Budget(counts, limits)


def latency(record: Record, space: str) -> float:
    """Cycles from a load to its number, in the largest table that was measured."""
    found = [row for row in record.tables.get("latency", ()) if row.space == space]
    if not found:
        raise LookupError(f"record {record.name!r} holds no latency of {space} memory: measure it")
    return max(found, key=lambda row: row.bytes).cycles


def measured(record: Record, table: str, what: str) -> tuple[float | None, float | None]:
    """What the record's largest Numba row says per 32 numbers: cycles of an SM, instructions.

    None for what it does not hold.
    """
    rows = [r for r in record.tables.get(table, ()) if r.what == what and r.engine == "numba"]
    if not rows:
        return None, None
    row = max(rows, key=lambda row: row.bytes)
    units = (row.n if "n" in row else row.N * row.K) / WARP
    known, issued = record.device, row.get("instructions")
    return row.median * known["clock"] * known["sms"] / units, issued and issued / units


def table(rows: Iterable[tuple[str, Budget, float | None]], caption: str) -> Table:
    """A table of budgets: each ceiling, the highest, and what the record's GPU took.

    Parameters
    ----------
    rows : iterable of (str, Budget, float or None)
        A name, its ceilings, and the measured cycles where there are any.
    caption : str
    """
    lines = []
    for name, one, took in rows:
        each = (f"{one.ceilings[key]:.2g}" if key in one.ceilings else "–"
                for key in ("issue", "wavefronts", "dram", "latency"))  # fmt: skip
        reached = "" if took is None else f"{took:.3g}"
        share = "" if took is None else percent(one.reached(took))
        lines.append((name, *each, UNITS[one.verdict], reached, share))
    heads = ("kernel", "issue slots", "L1, shared", "DRAM", "latency", "highest", "measured",
             "explained")  # fmt: skip
    return Table(lines, heads, caption=caption)
