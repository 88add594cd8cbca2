"""Cycles per tile, who waits, and what the stages take of shared memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kernels.basics.units import percent
from kernels.lab.widgets.pipeline import TILES, cycles_per_tile, schedule
from kernels.lab.widgets.stills import Table


def still(state: dict[str, Any]) -> Iterable[Table]:
    stages, load, compute = (state[name] for name in ("stages", "load", "compute"))
    settings = stages, load, compute, state["producer"]
    per_tile = cycles_per_tile(*settings)
    yield Table(
        f"A block with {stages} {'stage' if stages == 1 else 'stages'} in shared memory: a load "
        f"takes {load} cycles, the multiply-adds {compute}.",
        ("quantity", "value"),
        [
            ("cycles per tile, once the pipeline runs", int(per_tile + 0.5)),
            ("cycles per tile in turn", load + compute),
            ("cycles per tile that the multiply-adds wait", int(per_tile - compute + 0.5)),
            ("share of the time with multiply-adds", percent(compute / per_tile)),
            (f"cycles for {TILES} tiles", schedule(*settings)[-1].done),
            ("bytes of shared memory per stage", state["stage_bytes"]),
            ("bytes of shared memory, all stages", stages * state["stage_bytes"]),
        ],
    )
