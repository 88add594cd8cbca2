"""The counts of the two kernels, whole launch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kernels.host.model import Access
from kernels.lab.widgets.stills import Table
from kernels.rungs.order import LADDER


def still(state: dict[str, Any]) -> Iterable[Table]:
    M, N, K, side = (state[name] for name in ("M", "N", "K", "side"))
    models = [LADDER[name].model(M, N, K, block=side) for name in ("naive", "swapped")]

    def row(what: str, matrix: str, count: Callable[[Access], Any]) -> tuple[Any, ...]:
        return (f"{what} {matrix}", *(count((m.reads | m.writes)[matrix]) for m in models))

    yield Table(
        f"Two kernels, C = A·B with M, N, K = {M}, {N}, {K}, in blocks of {side} × {side} threads.",
        ("quantity", "naive", "swapped"),
        [
            *(
                row("requests, whole launch,", name, lambda access: access.requests)
                for name in "ABC"
            ),
            *(row("sectors, whole launch,", name, lambda access: access.sectors) for name in "ABC"),
            *(
                row("sectors per request, whole launch,", name, lambda a: a.sectors / a.requests)
                for name in "AB"
            ),
            *(
                (f"loads of {name}, whole launch", *(m.loads[name] for m in models))
                for name in "AB"
            ),
        ],
    )
