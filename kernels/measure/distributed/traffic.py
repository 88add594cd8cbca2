"""Bytes that the NVLinks count while a product runs, beside those that its schedule moves."""

from __future__ import annotations

from typing import Any

from kernels.distributed.algorithms import schedule
from kernels.distributed.copies import Copies
from kernels.distributed.grid import Grid
from kernels.measure import oracle
from kernels.measure.distributed import links

__all__ = ["measure"]

SIZE, TIMES = 8192, 8


def measure(gpus: int) -> dict[str, list[dict[str, Any]]]:
    """Table ``traffic``: for each algorithm what each GPU received in one product.

    Empty where the driver does not say what its links carry.
    """
    if not links.carried():
        return {"traffic": []}
    A, B = oracle.inputs(SIZE, SIZE, SIZE)
    rows = []
    for name in ("replicated", "rows", "ring", "summa", "split_k"):
        plan = schedule(name, SIZE, SIZE, SIZE, Grid(gpus))
        run = Copies(plan, A, B)
        try:
            before = links.carried()
            for _ in range(TIMES):
                run.run()
            run.synchronize()
            after = links.carried()
        finally:
            run.close()
        counted = [(after[gpu][1] - before[gpu][1]) // TIMES for gpu in range(gpus)]
        scheduled = [plan.received(rank, A.itemsize) for rank in range(gpus)]
        rows.append({"algorithm": name, "grid": str(plan.grid), "dtype": "float32", "M": SIZE,
                     "N": SIZE, "K": SIZE, "received": scheduled, "counted": counted})  # fmt: skip
    return {"traffic": rows}
