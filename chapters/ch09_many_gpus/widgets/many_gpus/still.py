"""What readers without scripts see of the widget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chapters.ch09_many_gpus.widgets.many_gpus import planned, times
from kernels.basics.units import percent, quantity
from kernels.lab.widgets.stills import Table


def still(state: dict[str, Any]) -> Iterator[Table]:
    """The traffic and the times of the stored settings."""
    names = ("algorithm", "p", "q", "size", "pieces")
    settings = [state[name] for name in names]
    plan = planned(*settings)
    found = times(*settings, state["link"], state["flops"], state["itemsize"])
    ranks, itemsize = range(plan.grid.size), state["itemsize"]
    received = max(plan.received(rank, itemsize) for rank in ranks)
    one = plan.flop / (state["flops"] * 1e12)
    yield Table(
        f"{plan.algorithm}, {plan.grid.size} GPUs, {state['size']}³",
        ("quantity", "value"),
        [
            ("GPUs", f"{plan.grid.size}"),
            ("steps", f"{len(plan.steps)}"),
            ("received by one GPU", quantity(received, "B")),
            ("time of the arithmetic", quantity(found.arithmetic, "s")),
            ("time of the traffic", quantity(found.traffic, "s")),
            ("time of both, overlapped", quantity(found.seconds, "s")),
            ("speed-up over one GPU", f"{one / found.seconds:.2f}"),
            ("efficiency", percent(one / found.seconds / plan.grid.size)),
        ],
    )
