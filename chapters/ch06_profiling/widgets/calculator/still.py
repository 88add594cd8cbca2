"""The budget of the rung that the calculator begins with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kernels.basics.units import quantity
from kernels.lab.widgets.stills import ENGINES, StillTable


def still(state: dict[str, Any]) -> Iterable[StillTable]:
    of_rung = [version for version in state["versions"] if version["rung"] == state["rung"]]
    own = [version for version in of_rung if version["engine"] == state["engine"]] or of_rung
    if not own:
        return
    shown = own[min(state["tile"], len(own) - 1)]
    sizes, number = state["sizes"], 0
    for size in state["shape"]:
        number = len(sizes) * number + sizes.index(size)
    named = f"{shown['title']}, {ENGINES[shown['engine']]}, {shown['tile']}"
    rows = [tuple(row) for row in shown["ceilings"]]
    rows.append(("predicted", "", "", shown["cycles"][number]))
    if str(number) in shown["recorded"]:
        rows.append(("recorded", "", "", shown["recorded"][str(number)][1]))
    shape = "×".join(map(str, state["shape"]))
    seconds = quantity(1e-6 * shown["us"][number], "s")
    yield StillTable(
        f"{named}: {shape} takes {seconds}, as predicted. {shown['say']} {state['source']}",
        ("ceiling", "one FMA needs", "an SM has per cycle", "cycles"),
        rows,
    )
