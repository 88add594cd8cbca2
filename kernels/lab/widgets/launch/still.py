"""The threads of a vector add."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kernels.basics.units import percent
from kernels.host import cdiv
from kernels.host.model import WARP
from kernels.lab.widgets.stills import StillTable


def still(state: dict[str, Any]) -> Iterable[StillTable]:
    n, block = state["n"], state["block"]
    blocks = cdiv(n, block)
    warps = blocks * cdiv(block, WARP)
    yield StillTable(
        f"A vector add of {n} elements with {block} threads per block.",
        ("quantity", "value"),
        [
            ("blocks: cdiv(n, block)", blocks),
            ("threads started", blocks * block),
            ("threads with an element", n),
            (f"threads {'the guard stops' if state['guard'] else 'out of bounds'}", -n % block),
            ("warps", warps),
            ("lanes without a thread", warps * WARP - blocks * block),
            ("lanes at work, of all lanes", percent(n / (warps * WARP))),
        ],
    )
