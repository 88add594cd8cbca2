"""Two GPUs side by side, in what they have in common; and predicted times beside measured ones."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from kernels import records
from kernels.basics.units import percent, quantity
from kernels.budget import ladder, product, versions
from kernels.budget.ceilings import UNITS
from kernels.host.rung import ENGINE_TITLES
from kernels.rungs.order import LADDER

__all__ = ["by_shape", "lines", "predictions"]

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


#: How far a predicted time may be off, either way.
OFF = 0.2
#: Since then rows are copied by `kernels.host.rows`: an older time with copies is of slower ones.
COPIES = "2026-11-26"


def predictions(
    timed: records.Record, counted: records.Record | None = None
) -> Iterator[tuple[records.Row, product.Time]]:
    """Every time of a rung in a record, and what the budget predicts for it.

    Times with copies of rows that the course no longer makes are left out; see `COPIES`.

    Parameters
    ----------
    timed : Record
    counted : Record, optional
        The one whose profiles counts come from, by default the same. With another one, nothing
        that is predicted was seen: of the timed GPU, three microbenchmarks are used alone.
    """
    machine = versions.machine(timed)
    for row in timed.rows("timings"):
        if row.rung not in LADDER:
            continue
        rung, shape = LADDER[row.rung], (row.M, row.N, row.K)
        if _older(row):
            continue
        try:
            known = versions.version(
                rung, row.engine, row.options, counted or timed, shape, row.dtype, machine,
                others=() if counted else None,
            )  # fmt: skip
        except LookupError:  # never profiled there
            continue
        yield (
            row,
            product.time(
                rung.Options(**row.options), known.pace, machine, known.resident, shape, row.dtype,
                rung.copies(*shape, row.dtype),
            ),
        )  # fmt: skip


def _older(row: records.Row) -> bool:
    """Whether a row timed copies that the course no longer makes."""
    known = row.rung in LADDER and LADDER[row.rung].copies(row.M, row.N, row.K, row.dtype)
    return known and row.date < COPIES


def by_shape(timed: records.Record, counted: records.Record | None = None) -> list[str]:
    """How near predicted times come to those of a record, a line per shape; see `predictions`."""
    found: dict[str, list[tuple[float, bool]]] = {}
    for row, predicted in predictions(timed, counted):
        shape = "×".join(map(str, (row.M, row.N, row.K)))
        entry = predicted.seconds / row.median, predicted.low < row.median < predicted.high
        for name in (shape, "all"):
            found.setdefault(name, []).append(entry)
    if not found:
        return [f"no profile of a rung that was timed on the {timed.name}"]
    heads = "", "times", f"within {percent(OFF)}", "in their range", "predicted / recorded"
    rows = [heads]
    for name in [*(name for name in found if name != "all"), "all"]:
        ratios = sorted(ratio for ratio, _ in found[name])
        rows.append((
            name,
            str(len(ratios)),
            percent(sum(1 - OFF <= ratio <= 1 + OFF for ratio in ratios) / len(ratios)),
            percent(sum(inside for _, inside in found[name]) / len(ratios)),
            f"{ratios[0]:.2f} to {ratios[-1]:.2f}, median {median(ratios):.2f}",
        ))  # fmt: skip
    widths = [max(len(row[i]) for row in rows) for i in range(len(heads))]
    source = "" if counted is None else f", by the profiles of the {counted.name} alone"
    if older := sum(map(_older, timed.rows("timings"))):
        source += f"; left out: {older} times with copies that are no longer made"
    return [
        f"Predicted beside recorded on the {timed.name}{source}",
        *(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ),
    ]
