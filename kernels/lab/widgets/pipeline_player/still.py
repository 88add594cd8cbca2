"""How often each role waits, each stage is filled and each phase ends, and what is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kernels.lab.widgets.stills import StillTable


def still(state: dict[str, Any]) -> Iterable[StillTable]:
    steps = state["steps"]
    yield StillTable(
        f"{state['kernel']}, one block in {steps} steps.",
        ("who and what", "how often"),
        [(name, number) for name, number in state["numbers"]],
    )
    if state["notes"][state["at"]]:
        yield StillTable(
            f"Step {state['at'] + 1} of {steps}.",
            ("who", "what"),
            [(who, what) for who, what in state["notes"][state["at"]]],
        )
