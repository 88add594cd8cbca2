"""What the chapter on several GPUs calls: schedules, predictions, simulations, and their record."""

from __future__ import annotations

from typing import Any

from kernels.basics.units import quantity
from kernels.distributed.algorithms import ALGORITHMS, schedule
from kernels.distributed.choose import choose_algorithm as choose
from kernels.distributed.collectives import Mismatch, Ranks, Simulated
from kernels.distributed.cost import Machine, broadcast, collective, overlapped, predict
from kernels.distributed.grid import Grid
from kernels.distributed.machine import count
from kernels.distributed.machine import links as links_here
from kernels.distributed.schedule import Schedule
from kernels.distributed.simulation import simulate
from kernels.records.distributed import load_gpus, machine, ring, speed_up
from kernels.records.record import Record, Row

__all__ = [
    "ALGORITHMS", "Grid", "Machine", "Mismatch", "best", "broadcast", "choose", "collective",
    "count", "group", "links", "load_gpus", "machine", "overlapped", "predict", "ring",
    "schedule", "simulate", "speed_up", "describe",
]  # fmt: skip


def group(ranks: int, **options: Any) -> Ranks:
    """So many ranks: on this machine's GPUs over NCCL if it has as many, else simulated.

    `options` are those of `kernels.distributed.nccl_ranks.Nccl`.
    """
    if count() < ranks:
        return Simulated(ranks)
    from kernels.distributed.nccl_ranks import Nccl

    return Nccl(ranks, **options)


def links(record: Record) -> dict[tuple[int, int], str]:
    """What joins each pair of GPUs: of this machine, or of the recorded one without two GPUs."""
    if count() > 1:
        return {(link.a, link.b): link.path for link in links_here()}
    return {(row.a, row.b): row.path for row in record.rows("links")}


def best(record: Record, **where: object) -> Row | None:
    """The fastest right row of the timings that equals `where`; None if there is none."""
    rows = [row for row in record.rows("timings", **where) if row.correct]
    return min(rows, key=lambda row: row.median, default=None)


def describe(plan: Schedule, itemsize: int = 4) -> list[str]:
    """Each step of a schedule in a line: what moves, and what rank 0 multiplies."""
    lines = []
    for number, step in enumerate(plan.steps):
        moves = ", ".join(f"{m.tile} {m.source}→{m.to}" for m in (*step.fetches, *step.sums))
        own = next(product for product in step.products if product.rank == 0)
        lines.append(f"step {number}: {moves or 'nothing moves'}; rank 0: {own.a} · {own.b}")
    return [*lines, f"in all {quantity(plan.traffic(itemsize), 'B')}"]
