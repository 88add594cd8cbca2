"""What a launch costs from PyTorch, and what a CUDA graph saves of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kernels.backend import cupy
from kernels.measure.bench.step import Step, Tables
from kernels.measure.probes import repeat, spread
from kernels.rungs.order import LADDER

SIZES = (64, 256, 1024)
RUNGS = ("tiled", "warp_tiled")
#: Products in a row: one by one, or recorded in a graph and launched at once.
CALLS = 50


def steps() -> list[Step]:
    """One step; nothing where PyTorch is not installed."""
    return [Step("PyTorch", operators)]


def operators() -> Tables:
    """Each way to call each product, at each size."""
    try:
        import torch
    except ImportError:
        return {}
    return {"operators": [row for size in SIZES for row in measured(torch, size)]}


def measured(torch: Any, size: int) -> Iterator[dict[str, Any]]:
    """Seconds per product from the first call to the last result, and whether it was right."""
    matmul = torch.ops.tile_by_tile.matmul  # which the command line registers
    generator = torch.Generator("cuda").manual_seed(1)
    # Eighths up to one: every sum is exact in float32, in any order.
    A, B = (
        torch.randint(-8, 9, (size, size), generator=generator, device="cuda").float() / 8
        for _ in "AB"
    )
    right = (A.double() @ B.double()).float()

    calls: dict[tuple[str, str], Callable[[], Any]] = {
        ("torch.mm", "operator"): lambda: torch.mm(A, B)
    }
    for name in RUNGS:
        C = torch.empty_like(A)
        arrays = [cupy.from_dlpack(tensor) for tensor in (A, B, C)]
        launch = LADDER[name].prepare(*arrays, engine="cpp")
        calls[name, "kernel"] = lambda launch=launch, C=C: (launch(), C)[1]
        calls[name, "operator"] = lambda name=name: matmul(A, B, name)
    for (product, how), call in calls.items():
        yield row(
            torch, product, how, size, lambda call=call: [call() for _ in range(CALLS)], right
        )
        if how == "operator":
            whole = graph(torch, call)
            yield row(torch, product, "graph", size, whole, right)


def graph(torch: Any, call: Callable[[], Any]) -> Callable[[], list[Any]]:
    """Record `CALLS` calls in a CUDA graph; the function returned launches them all at once."""
    call()  # whatever is compiled or allocated on a first call must not be recorded
    torch.cuda.synchronize()
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded):
        results = [call() for _ in range(CALLS)]

    def launch() -> list[Any]:
        recorded.replay()
        return results

    return launch


def row(
    torch: Any, product: str, how: str, size: int, launch: Callable[[], list[Any]], right: Any
) -> dict[str, Any]:
    """Time `CALLS` products until the GPU is done; a row of a record."""

    def whole() -> None:
        launch()
        torch.cuda.synchronize()

    seconds = spread([time / CALLS for time in repeat(whole)])
    correct = all(torch.equal(result, right) for result in launch())
    torch.cuda.synchronize()
    return {
        "product": product, "how": how, "M": size, "N": size, "K": size, "calls": CALLS,
        "seconds": seconds, "correct": correct, "torch": torch.__version__,
    }  # fmt: skip
