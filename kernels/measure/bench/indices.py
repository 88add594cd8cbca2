"""What indices of 64 bits cost a Numba kernel."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from kernels.host.follow import prepared
from kernels.measure.bench.case import Case
from kernels.measure.bench.step import Step, Tables
from kernels.rungs import thread_tiled
from kernels.rungs.order import LADDER


def steps() -> list[Step]:
    """One step: the thread-tiled kernel with each type of index."""
    return [Step("types of the indices", indices)]


def indices(size: int = 4096) -> Tables:
    """The thread-tiled Numba kernel with indices of 32 bits, and with Python's 64."""
    case, rows = Case(size, size, size), []
    rung = LADDER["thread_tiled"]
    options = rung.default("numba")
    grid, block = rung.launch(size, size, **options)
    for index in ("uint32", "int64"):
        kernel = reindexed(thread_tiled.make_thread_tiled, index)(*options.values())
        found = case.measure(prepared(kernel, grid, block, (case.A, case.B, case.C)))
        what = {"rung": rung.name, "engine": "numba", "index": index, "options": options}
        rows.append({**what, **found})
    return {"indices": rows}


def reindexed(maker: Callable[..., Any], index: str) -> Callable[..., Any]:
    """The same maker of kernels with another of Numba's types where it says ``uint32``."""
    from numba import types

    names = maker.__globals__ | {"uint32": getattr(types, index)}
    return FunctionType(maker.__code__, names, maker.__name__)
