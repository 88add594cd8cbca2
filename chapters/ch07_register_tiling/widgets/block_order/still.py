"""The strips of A and B that the running blocks need, in both orders."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from chapters.ch07_register_tiling.widgets.block_order import needed
from kernels.basics.units import quantity
from kernels.lab.widgets.stills import Table

SETTINGS = ("across", "down", "group", "running", "wave", "BM", "BN", "K")


def still(state: dict[str, Any]) -> Iterable[Table]:
    settings = {name: state[name] for name in SETTINGS}
    both = needed(**settings | {"group": 1}), needed(**settings)
    yield Table(
        f"{state['running']} blocks that run at the same time, of a grid of {state['across']} × "
        f"{state['down']} tiles of C, {state['BM']} × {state['BN']} each; K is {state['K']}.",
        ("quantity", "row order", f"{state['group']} rows at a time"),
        [
            ("strips of A, rows of tiles", *(strips.A for strips in both)),
            ("strips of B, columns of tiles", *(strips.B for strips in both)),
            ("strips in all", *(strips.A + strips.B for strips in both)),
            ("bytes of the strips", *(quantity(strips.bytes, "B") for strips in both)),
            ("FLOP per byte of the strips", *(strips.intensity for strips in both)),
        ],
    )
