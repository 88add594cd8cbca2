"""How fast GPUs send to each other, and what their links say they have carried."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import asdict
from time import perf_counter
from typing import Any

import numpy as np

from kernels.backend import cupy
from kernels.distributed import copies, machine
from kernels.measure import probes

__all__ = ["carried", "measure", "parsed"]

LARGE = 2**29  #: bytes: what a product of 16384 moves, about
SMALL = 2**12
REPEATS = 12


def measure(gpus: int) -> dict[str, list[dict[str, Any]]]:
    """Tables ``links`` (a row a pair) and ``peer_copies`` (a row for each pattern and size)."""
    copies.connect(gpus)
    links = [asdict(link) for link in machine.links() if max(link.a, link.b) < gpus]
    ways = {
        "one way": [(0, 1)],
        "both ways": [(0, 1), (1, 0)],
        "ring": [(rank, (rank + 1) % gpus) for rank in range(gpus)],
    }
    if gpus == 2:
        del ways["ring"]  # the same as both ways
    rows = [_timed(name, pairs, size) for name, pairs in ways.items() for size in (SMALL, LARGE)]
    return {"links": links, "peer_copies": rows}


def _timed(name: str, pairs: list[tuple[int, int]], size: int) -> dict[str, Any]:
    """Copies from each first to each second GPU of the pairs, at the same time."""
    moves = []
    for source, to in pairs:
        with cupy.cuda.Device(source):
            here = cupy.zeros(size, np.uint8)
        with cupy.cuda.Device(to):
            moves.append(
                (here, source, cupy.empty(size, np.uint8), to, cupy.cuda.Stream(non_blocking=True))
            )
    batch = max(1, LARGE // size // 2**13)

    def once() -> float:
        _wait(moves)
        start = perf_counter()
        for _ in range(batch):
            for here, source, there, to, stream in moves:
                cupy.cuda.runtime.memcpyPeerAsync(
                    there.data.ptr, to, here.data.ptr, source, size, stream.ptr
                )
        _wait(moves)
        return (perf_counter() - start) / batch

    once()
    seconds = probes.spread([once() for _ in range(REPEATS)])
    return {"what": name, "bytes": size, "seconds": seconds,
            "bytes_per_second": float(f"{size / seconds['median']:.5g}")}  # fmt: skip


def _wait(moves: list[tuple[Any, ...]]) -> None:
    for *_, stream in moves:
        stream.synchronize()


def carried() -> dict[int, tuple[int, int]]:
    """Bytes that the NVLinks of each GPU have sent and received so far; empty if nobody says."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return {}
    command = [tool, "nvlink", "-gt", "d"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return parsed(said.stdout)


def parsed(text: str) -> dict[int, tuple[int, int]]:
    """Bytes by GPU in what ``nvidia-smi nvlink -gt d`` prints."""
    found: dict[int, list[int]] = {}
    totals: list[int] = []
    for line in text.splitlines():
        if gpu := re.match(r"GPU (\d+):", line):
            totals = found.setdefault(int(gpu[1]), [0, 0])
        elif data := re.search(r"Data (Tx|Rx): (\d+) KiB", line):
            totals[data[1] == "Rx"] += 1024 * int(data[2])
    return {gpu: (sent, received) for gpu, (sent, received) in found.items()}
