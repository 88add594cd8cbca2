"""The recorded speeds of the chapter's kernels, as tables."""

from __future__ import annotations

from typing import Any

from kernels import records
from kernels.basics.units import percent
from kernels.host.rung import ENGINE_TITLES
from kernels.rungs.order import LADDER

__all__ = ["NONE", "ablation", "speeds", "timed"]

COLUMNS = {
    "fp16 4096³": ("float16", 4096),
    "fp16 8192³": ("float16", 8192),
    "bf16 8192³": ("bfloat16", 8192),
}
NONE = "Not in this record yet: `make record` on such a GPU measures it."


def timed(record: records.Record, rung: str, dtype: str, size: int, **engine: str) -> Any:
    """The fastest recorded version of a rung at size³, in one language or in any, or None."""
    cube = {"M": size, "N": size, "K": size}
    rows = record.rows("timings", rung=rung, dtype=dtype, **cube, **engine)
    return max(rows, key=lambda row: row.gflops, default=None)


def speeds(record: records.Record, *rungs: str) -> records.Table:
    """Recorded TFLOP/s of some rungs in each language, with the share of cuBLAS in the same run.

    The gain is over the rung above in the same language.
    """
    lines, caption = [], NONE
    for place, rung in enumerate(rungs):
        for engine in reversed(LADDER[rung].engines):  # C++ first: it has every rung
            rows = [timed(record, rung, *c, engine=engine) for c in COLUMNS.values()]
            if not any(rows):
                continue
            line = [row and f"{row.gflops / 1000:.0f} ({percent(row.share)})" for row in rows]
            above = rungs[place - 1] if place else rung
            before = timed(record, above, "float16", 4096, engine=engine)
            gain = (
                f"{rows[0].gflops / before.gflops:.2f}×" if place and rows[0] and before else None
            )
            lines.append((LADDER[rung].title, ENGINE_TITLES[engine], *line, gain))
            caption = next((record.caption(row) for row in rows if row), caption)
    return records.Table(
        lines,
        ("kernel", "written in", *COLUMNS, "gain"),
        caption="TFLOP/s in bursts with rests between; in brackets the share of cuBLAS; gain over "
        "the kernel above, in the same language, at 4096³. " + caption,
    )


def ablation() -> records.Table:
    """Recorded TFLOP/s of the steps from `mma` to `persistent`, and what each gains."""
    record = records.holding("ablation")
    rows = [row for row in record.tables.get("ablation", ()) if row.dtype == "bfloat16"]
    if not rows:
        return records.ablation(rows, NONE)
    text = f"TFLOP/s in bf16; each line has all that stands above it. {record.caption(rows[0])}"
    return records.ablation(rows, text)
