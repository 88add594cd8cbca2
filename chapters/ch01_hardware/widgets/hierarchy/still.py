"""A launch on a GPU: blocks, waves, lanes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kernels.basics.data_sheets import gpu as data_sheet
from kernels.basics.units import percent
from kernels.host import cdiv
from kernels.host.model import WARP
from kernels.lab.widgets.stills import StillTable
from kernels.measure.occupancy import occupancy


def still(state: dict[str, Any]) -> Iterable[StillTable]:
    sheet = data_sheet(state["gpu"])
    (x, y), (width, height) = state["grid"], state["block"]
    blocks, threads = x * y, width * height
    resident = occupancy(threads, gpu=sheet)
    at_once = sheet.sms * resident.blocks
    waves = cdiv(blocks, at_once)
    last = blocks - (waves - 1) * at_once
    caption = (
        f"A grid of {x} × {y} blocks of {width} × {height} threads on the {sheet.name}: "
        f"{sheet.sms} SMs by its data sheet. Registers and shared memory are left out of account."
    )
    yield StillTable(
        caption,
        ("quantity", "value"),
        [
            ("blocks in the grid", blocks),
            ("threads per block", threads),
            ("warps per block", cdiv(threads, WARP)),
            ("lanes without a thread, per block", -threads % WARP),
            (f"blocks on an SM at once (limit: places for {resident.limiter})", resident.blocks),
            (
                "occupancy: places for warps taken on a full SM",
                percent(resident.fraction),
            ),
            ("blocks on the GPU at once", at_once),
            ("waves", waves),
            ("blocks in the last wave", last),
            ("places the last wave fills", percent(last / at_once)),
            ("places filled, all waves together", percent(blocks / (waves * at_once))),
        ],
    )
