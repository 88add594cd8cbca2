"""NCCL's collectives by size, and what overlap in chunks leaves of an all-reduce."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from kernels.distributed.collectives import Rank, Ranks
from kernels.distributed.layers import chunked
from kernels.distributed.nccl_ranks import Nccl
from kernels.engine import cupy
from kernels.measure import probes

__all__ = ["measure"]

KINDS = ("all_reduce", "reduce_scatter", "all_gather", "all_to_all", "exchange")
#: Bytes of the whole array: from where latency rules to where bandwidth does.
SIZES = tuple(2**power for power in range(12, 30, 3)) + (2**29,)
#: Tokens, hidden columns of one rank of two, and outputs of the row-parallel product; its chunks.
TOKENS, HIDDEN, OUT = 8192, 14_336, 8192
CHUNKS = (1, 2, 4, 8)
REPEATS = 12


def measure(gpus: int) -> dict[str, list[dict[str, Any]]]:
    """Tables ``collectives`` (a row for each kind and size) and ``chunked`` (for each number)."""
    group = Nccl(gpus)
    try:
        return {
            "collectives": [alone(group, kind, size) for kind in KINDS for size in SIZES],
            "chunked": in_chunks(group),
        }
    finally:
        group.close()


def alone(group: Nccl, kind: str, size: int) -> dict[str, Any]:
    """One collective again and again, each behind the last."""
    calls = []
    for rank in range(group.ranks):
        with group.on(rank):
            part = size // group.ranks if kind == "all_gather" else size
            x = cupy.zeros((part // 128, 32), np.float32)
            begin = getattr(Rank(group, rank), kind)
            calls.append(begin(x, rank + 1) if kind == "exchange" else begin(x))
    for rank, call in enumerate(calls):
        calls[call.to].source = rank
    batch = min(50, max(1, 2**29 // size))
    seconds = timed(group, lambda: group.meet(calls), batch)
    return {"what": kind, "gpus": group.ranks, "bytes": size, "seconds": seconds}


def in_chunks(group: Nccl) -> list[dict[str, Any]]:
    """A row-parallel product with its all-reduce, and the product without it."""
    hidden, W2 = [], []
    for rank in range(group.ranks):
        with group.on(rank):
            hidden.append(cupy.random.random((TOKENS, HIDDEN), "float32").astype("float16"))
            W2.append(cupy.random.random((HIDDEN, OUT), "float32").astype("float16"))
    group.synchronize()
    rows = []
    for chunks in CHUNKS:
        programs = {"product": _products, "both": chunked}
        run = partial(Ranks.run, group)
        each = hidden, W2, [chunks] * group.ranks
        found = {
            name: timed(group, partial(run, program, *each), 4)
            for name, program in programs.items()
        }
        rows.append(
            {"what": "row-parallel", "options": {"chunks": chunks}, "gpus": group.ranks,
             "dtype": "float16", "M": TOKENS, "N": OUT, "K": HIDDEN,
             "seconds": found["both"], "product_seconds": found["product"]}
        )  # fmt: skip
    return rows


async def _products(gpu: Any, hidden: Any, W2: Any, chunks: int) -> Any:
    """What `chunked` multiplies, without a collective."""
    return np.concatenate([rows @ W2 for rows in np.array_split(hidden, chunks)])


def timed(group: Nccl, run: Callable[[], object], batch: int) -> dict[str, Any]:
    """Wall-clock seconds of a run: medians of means of `batch` runs, the first left out."""

    def once() -> float:
        group.synchronize()
        start = perf_counter()
        for _ in range(batch):
            run()
        group.synchronize()
        return (perf_counter() - start) / batch

    once()
    return probes.spread([once() for _ in range(REPEATS)])
