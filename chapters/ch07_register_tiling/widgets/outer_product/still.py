"""What a step reads, multiplies and keeps, and the sums so far."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from kernels.lab.widgets.stills import Table


def still(state: dict[str, Any]) -> Iterable[Table]:
    TM, TN, step = (state[name] for name in ("TM", "TN", "step"))
    A, B = np.array(state["A"])[:TM], np.array(state["B"])[:, :TN]
    yield Table(
        f"One thread with a thread tile of {TM} × {TN}, after {step} of {len(state['B'])} steps.",
        ("quantity", "value"),
        [
            ("elements of A read per step", TM),
            ("elements of B read per step", TN),
            ("multiply-adds per step", TM * TN),
            ("loads per multiply-add", (TM + TN) / (TM * TN)),
            ("FLOP per byte read", 2 * TM * TN / (4 * (TM + TN))),
            ("registers for the sums", TM * TN),
            ("registers for the elements of A and B", TM + TN),
        ],
    )
    sums = A[:, :step] @ B[:step]
    yield Table(
        "The sums, row by row.",
        ("row", "sums"),
        [(f"row {i} of the sums", " ".join(map(str, row))) for i, row in enumerate(sums.tolist())],
    )
