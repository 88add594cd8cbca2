"""NCCL's collectives by size, in a CUDA graph and called one by one, and overlap in chunks."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from kernels.backend import cupy
from kernels.distributed import nccl, processes
from kernels.distributed.collectives import Collective, Ranks
from kernels.distributed.layers import chunked
from kernels.distributed.nccl_ranks import Nccl, queue
from kernels.distributed.processes import Team
from kernels.measure import probes

__all__ = ["measure"]

KINDS = ("all_reduce", "reduce_scatter", "all_gather", "all_to_all", "exchange")
#: Bytes of the whole array: from where latency rules to where bandwidth does.
SIZES = tuple(2**power for power in range(12, 30, 2)) + (2**29,)
#: Algorithms of NCCL's all-reduce: its own choice, and the ring that the formula describes.
CHOICES = ("", "Ring")
#: Tokens, hidden columns of all ranks, and outputs of the row-parallel product; its chunks.
TOKENS, HIDDEN, OUT = 8192, 28_672, 8192
CHUNKS = (1, 2, 4, 8, 16)
REPEATS = 12
#: Seconds that the processes of one choice may take.
PATIENCE = 60.0


def measure(gpus: int) -> dict[str, list[dict[str, Any]]]:
    """Tables ``collectives`` (a row for each kind and size) and ``chunked`` (for each number).

    A row of the first holds the ``seconds`` of one collective in a CUDA graph of many, and
    ``called_seconds`` where the host calls NCCL for each; the slowest rank's.
    """
    found = [processes.together(_alone, gpus, of, seconds=PATIENCE) for of in CHOICES]
    rows = [max(ranks, key=lambda row: row["seconds"]["median"])
            for of in found for ranks in zip(*of, strict=True)]  # fmt: skip
    group = Nccl(gpus)
    try:
        return {"collectives": rows, "chunked": in_chunks(group)}
    finally:
        group.close()


def _alone(team: Team, choice: str) -> list[dict[str, Any]]:
    """One rank's times of collectives, each again and again behind the last."""
    if choice:
        os.environ["NCCL_ALGO"] = choice
    group = nccl.Nccl(team)
    kinds = KINDS[:1] if choice else KINDS
    try:
        return [_rank(group, kind, size, choice) for kind in kinds for size in SIZES]
    finally:
        group.close()


def _rank(group: nccl.Nccl, kind: str, size: int, choice: str) -> dict[str, Any]:
    rank, ranks, stream = group.team.rank, group.team.ranks, group.link
    part = cupy.zeros(size // ranks // 4, np.float32)
    whole = cupy.zeros(size // 4, np.float32)
    array = part if kind == "all_gather" else whole
    result = part if kind == "reduce_scatter" else cupy.empty_like(whole)
    to, source = (rank + 1) % ranks, (rank - 1) % ranks
    call = Collective(kind, array, result, ranks, to, source)
    batch = min(50, max(4, 2**28 // size))

    def calls() -> None:
        for _ in range(batch):
            group.nccl.groupStart()
            queue(group.nccl, group.communicator, call, stream.ptr)
            group.nccl.groupEnd()

    calls()
    stream.synchronize()
    with stream:
        stream.begin_capture()
        calls()
        graph = stream.end_capture()
    found = {}
    for name, launch in ("seconds", lambda: graph.launch(stream)), ("called_seconds", calls):
        times = []
        for _ in range(1 + REPEATS):
            group.barrier()
            begin, end = cupy.cuda.Event(), cupy.cuda.Event()
            begin.record(stream)
            launch()
            end.record(stream)
            end.synchronize()
            times.append(1e-3 * cupy.cuda.get_elapsed_time(begin, end) / batch)
        found[name] = probes.spread(times[1:])
    return {"what": kind, "choice": choice, "gpus": ranks, "bytes": size, **found}


def in_chunks(group: Nccl) -> list[dict[str, Any]]:
    """A row-parallel product with its all-reduce, and the product without it."""
    hidden, W2 = [], []
    for rank in range(group.ranks):
        with group.on(rank):
            own = HIDDEN // group.ranks
            hidden.append(cupy.random.random((TOKENS, own), "float32").astype("float16"))
            W2.append(cupy.random.random((own, OUT), "float32").astype("float16"))
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
             "dtype": "float16", "M": TOKENS, "N": OUT, "K": HIDDEN // group.ranks,
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
