"""Two GPUs side by side, in what they have in common: cycles per FMA, and shares of a ceiling."""

from __future__ import annotations

from kernels import records
from kernels.basics.units import percent, quantity
from kernels.budget import ladder
from kernels.budget.ceilings import UNITS
from kernels.host.rung import ENGINE_TITLES
from kernels.rungs.order import LADDER

__all__ = ["lines"]

HEADS = ("", "", "speed", "of cuBLAS", "cycles per FMA", "of its ceiling", "ceiling")


def lines(own: records.Record, other: records.Record | None = None, size: int = 2048) -> list[str]:
    """The ladder of a GPU beside another's, a line per rung and language.

    Parameters
    ----------
    own : Record
        What `python -m kernels bench --short` measured, or a whole record.
    other : Record, optional
        One with profiles, by default the course's.
    size : int
        M = N = K.
    """
    other = other if other is not None else records.load(records.DEFAULT_GPU)
    theirs = {(one.rung, one.engine): one for one in ladder.standings(other, size=size)}
    here, there = (ladder.gpu_of(record).name for record in (own, other))
    rows = []
    for one in ladder.standings(own, size=size, counted=other):
        beside = theirs[one.rung, one.engine]
        timing = own.row("timings", rung=one.rung, engine=one.engine,
                         options=LADDER[one.rung].default(one.engine), M=size, N=size, K=size,
                         dtype=one.row["dtype"])  # fmt: skip
        rows.append((
            LADDER[one.rung].title,
            ENGINE_TITLES[one.engine],
            quantity(1e9 * timing.gflops, "FLOP/s"),
            percent(timing.share) if timing.get("cublas_gflops") else "–",
            f"{one.measured:.3g} | {beside.measured:.3g}",
            f"{percent(one.reached)} | {percent(beside.reached)}",
            UNITS[one.budget.verdict]
            + ("" if one.budget.verdict == beside.budget.verdict
               else f" | {UNITS[beside.budget.verdict]}"),
        ))  # fmt: skip
    if not rows:
        return [f"{own.name} holds no rung at {size}³ in its default options"]
    widths = [max(len(row[i]) for row in (HEADS, *rows)) for i in range(len(HEADS))]
    return [
        f"{own.provenance.get('gpu', here)} | {there}: {size}³, default options",
        *(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in (HEADS, *rows)
        ),
    ]
