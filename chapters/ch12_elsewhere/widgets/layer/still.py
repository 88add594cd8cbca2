"""What readers without scripts see of the widget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kernels.basics.data_sheets import gpus
from kernels.basics.layer import Layer
from kernels.basics.units import quantity
from kernels.lab.widgets.stills import Table


def still(state: dict[str, Any]) -> Iterator[Table]:
    """The three times of the stored settings, and what they come from."""
    names = ("M", "N", "K", "dtype", "gpu", "launch")
    one = Layer(**{name: state[name] for name in names})
    rows = [
        ("arithmetic to do", quantity(one.flop, "FLOP")),
        ("bytes to move", quantity(one.nbytes, "B")),
        ("FLOP per byte", f"{one.intensity:.3g}"),
        *((f"{what} takes", quantity(time, "s")) for what, time in one.times.items()),
        ("limited by", one.limit),
        ("M from which arithmetic exceeds memory", f"{one.turning_point or 'none'}"),
    ]
    yield Table(
        f"M, N, K = {one.M}, {one.N}, {one.K}; {one.dtype}; {gpus()[one.gpu].name}, data sheet",
        ("quantity", "value"),
        rows,
    )
