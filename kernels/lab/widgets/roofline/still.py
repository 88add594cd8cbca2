"""The roofs of a GPU, and what was recorded under them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kernels.basics.units import percent, quantity
from kernels.lab.widgets.stills import ENGINES, StillTable
from kernels.records.roofline import Roof


def still(state: dict[str, Any]) -> Iterable[StillTable]:
    shown = state["gpus"][state["gpu"]]
    roofs = [Roof(**roof) for roof in shown["roofs"]]
    yield StillTable(
        f"The roofs of the {shown['name']}; they meet at the ridge, in FLOP/byte.",
        ("roof", "bandwidth", "arithmetic", "ridge"),
        [
            (
                roof.name,
                quantity(roof.bandwidth, "B/s"),
                quantity(roof.compute, "FLOP/s"),
                roof.ridge,
            )
            for roof in roofs
        ],
    )
    counted = state["counted"]
    points = [point for point in shown["points"] if point[counted] is not None]
    if points:
        yield StillTable(
            f"Recorded products; bytes: {counted}. {shown['source']}",
            ("kernel", "FLOP/byte", "speed", "of the roof"),
            [
                (
                    f"{point['label']}, {ENGINES[point['engine']]}",
                    point[counted],
                    quantity(point["flops"], "FLOP/s"),
                    percent(point["flops"] / roofs[-1].attainable(point[counted])),
                )
                for point in points
            ],
        )
