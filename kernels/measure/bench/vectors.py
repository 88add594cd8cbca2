"""Vector add, by length and by block, beside a copy on the device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernels.backend import cuda, cupy
from kernels.backend.device import device
from kernels.host import cpp
from kernels.measure import probes
from kernels.measure.bench.step import Step, Tables
from kernels.measure.timing import time as time_launch
from kernels.patterns import vector_add

LENGTHS = [2**power for power in range(10, 29, 2)]
BLOCKS = (32, 33, 48, 64, 128, 256, 512, 1000, 1024)


def lengths() -> list[int]:
    """The lengths of vectors whose three arrays take up to a third of this GPU's memory."""
    return [n for n in LENGTHS if 12 * n < device().memory_bytes // 3]


def steps() -> list[Step]:
    """Three steps: the bandwidth of a copy and of a read, the lengths, the blocks."""
    fit = lengths()
    return [
        Step("bandwidth", lambda: bandwidth(fit[-1])),
        Step("vector add by length", lambda: vector_lengths(fit)),
        Step("vector add by block", lambda: vector_blocks(min(2**26, fit[-1]))),
    ]


def adder(engine: str, n: int, block: int) -> tuple[Callable[[], object], Callable[[], bool]]:
    """A launch of vector_add, and whether its result is right."""
    a = cupy.arange(n, dtype=np.float32)
    b = cupy.full(n, 0.5, np.float32)
    c = cupy.full(n, np.nan, np.float32)
    grid, threads = vector_add.launch(n, block)
    if engine == "numba":
        launch = vector_add.vector_add[grid, threads]
        arrays = tuple(cuda.as_cuda_array(array) for array in (a, b, c))
        return lambda: launch(*arrays), lambda: bool((c == a + b).all())
    kernel = cpp.load("vector_add")
    arguments = (a, b, c, np.int32(n))
    return lambda: kernel(grid, threads, arguments), lambda: bool((c == a + b).all())


def vector_row(engine: str, n: int, block: int, cache: str) -> dict[str, Any]:
    """One measured vector add: ``cache`` is "cold" (flushed) or "warm" (launched in batches)."""
    launch, right = adder(engine, n, block)
    found = time_launch(launch, flush_l2=cache == "cold", limit=0.5)
    return {
        "engine": engine, "n": n, "block": block, "cache": cache, "bytes": 12 * n,
        "seconds": probes.timing(found), "bytes_per_second": 12 * n / found.median,
        "correct": right(),
    }  # fmt: skip


def bandwidth(n: int) -> Tables:
    """A device copy; a read, and vector add, beside it."""
    copy, read = probes.copy_bandwidth(n), probes.read_bandwidth(n)
    rows = [
        {**row, "share_of_copy": round(row["bytes_per_second"] / copy["bytes_per_second"], 4)}
        for row in (copy, read)
    ]
    for engine in ("numba", "cpp"):
        row = vector_row(engine, n, 256, "cold")
        del row["cache"]
        share = row["bytes_per_second"] / copy["bytes_per_second"]
        rows.append({"what": "vector_add", **row, "share_of_copy": round(share, 4)})
    return {"bandwidth": rows}


def vector_lengths(lengths: list[int]) -> Tables:
    """Vector add over the length, cold and warm."""
    return {
        "vector_add": [
            vector_row(engine, n, 256, cache)
            for engine in ("numba", "cpp")
            for n in lengths
            for cache in ("cold", "warm")
        ]
    }


def vector_blocks(n: int) -> Tables:
    """Vector add over the size of a block."""
    return {
        "vector_add": [
            vector_row(engine, n, block, "cold") for engine in ("numba", "cpp") for block in BLOCKS
        ]
    }
