"""The recorded speeds of the chapter's kernels, as tables."""

from __future__ import annotations

from typing import Any

from kernels import records
from kernels.basics.units import percent
from kernels.rungs.order import LADDER

__all__ = ["NONE", "speeds", "timed"]

COLUMNS = {
    "fp16 4096³": ("float16", 4096),
    "fp16 8192³": ("float16", 8192),
    "bf16 8192³": ("bfloat16", 8192),
}
NONE = "Not in this record yet: `make record` on such a GPU measures it."


def timed(record: records.Record, rung: str, dtype: str, size: int) -> Any:
    """The fastest recorded version of a rung at size³, or None."""
    cube = {"M": size, "N": size, "K": size}
    rows = record.rows("timings", rung=rung, dtype=dtype, **cube)
    return max(rows, key=lambda row: row.gflops, default=None)


def speeds(record: records.Record, *rungs: str) -> records.Table:
    """Recorded TFLOP/s of some rungs, with the share of cuBLAS in the same run."""
    lines, caption = [], NONE
    for place, rung in enumerate(rungs):
        rows = [timed(record, rung, *column) for column in COLUMNS.values()]
        line = [row and f"{row.gflops / 1000:.0f} ({percent(row.share)})" for row in rows]
        before = timed(record, rungs[place - 1], "float16", 4096) if place else None
        gain = f"{rows[0].gflops / before.gflops:.2f}×" if rows[0] and before else None
        lines.append((LADDER[rung].title, *line, gain))
        caption = next((record.caption(row) for row in rows if row), caption)
    return records.Table(
        lines,
        ("kernel", *COLUMNS, "gain"),
        caption="TFLOP/s; in brackets the share of cuBLAS; gain over the line above, at 4096³. "
        + caption,
    )
