"""The GPUs of this machine and the links between them, as the driver describes them."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from kernels.backend import cupy, on_gpu, why_cpu
from kernels.distributed.grid import Grid
from kernels.distributed.schedule import Schedule

__all__ = ["Link", "check_gpus", "check_memory", "check_sums", "count", "free_memory", "links"]


@dataclass(frozen=True)
class Link:
    """How GPU `a` reaches GPU `b`.

    Attributes
    ----------
    a, b : int
    path : str
        As ``nvidia-smi topo -m`` says it: ``"NV18"`` is 18 NVLinks, ``"PHB"`` the PCIe host bridge,
        ``"SYS"`` the link between two sockets; empty if it was not said.
    peer : bool
        Whether one reads the other's memory without the host.
    """

    a: int
    b: int
    path: str
    peer: bool


def count() -> int:
    """How many GPUs there are; none on the interpreter."""
    return cupy.cuda.runtime.getDeviceCount() if on_gpu else 0


def links() -> list[Link]:
    """The links between all pairs of GPUs, both ways."""
    paths, reaches = topology(_topology_text()), cupy.cuda.runtime.deviceCanAccessPeer
    return [
        Link(a, b, paths.get((a, b), ""), bool(reaches(a, b)))
        for a, b in permutations(range(count()), 2)
    ]


def _topology_text() -> str:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ""
    try:
        command = [tool, "topo", "-m"]
        return subprocess.run(command, capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def topology(text: str) -> dict[tuple[int, int], str]:
    """The paths between GPUs in what ``nvidia-smi topo -m`` prints."""
    found = {}
    lines = [
        line.split() for line in text.replace("\x1b[4m", "").replace("\x1b[0m", "").splitlines()
    ]
    heads = next((line for line in lines if line[:1] == ["GPU0"] and "X" not in line), [])
    for line in lines:
        if line[:1] and line[0] in heads and line is not heads:
            for head, path in zip(heads, line[1:], strict=False):
                if head.startswith("GPU") and path != "X":
                    found[int(line[0][3:]), int(head[3:])] = path
    return found


def check_gpus(grid: Grid) -> None:
    """RuntimeError, in one line, unless the machine has a GPU for each rank."""
    have, told = count(), f"{grid} needs {grid.size} GPUs, and this machine has"
    if not have:
        raise RuntimeError(f"{told} none ({why_cpu}): `run --gpus` simulates them")
    if have < grid.size:
        way = f"use {have}" if have > 1 else "use another machine"
        raise RuntimeError(f"{told} {have}: {way}, or set KERNELS_BACKEND=cpu to simulate them")


def check_sums(schedule: Schedule, out_dtype: str) -> None:
    """TypeError, in one line, if C would lose digits each time that something is added to it."""
    if schedule.accumulates and out_dtype != "float32":
        raise TypeError(
            f"{schedule.algorithm} adds to C step by step, which {out_dtype} would round each time:"
            " use a C of float32, or rows"
        )


def check_memory(schedule: Schedule, itemsize: int, out_itemsize: int, *ranks: int) -> None:
    """MemoryError, in one line, unless what each rank (or these) needs is free on its GPU."""
    for rank in ranks or range(schedule.grid.size):
        needed, free = schedule.memory(rank, itemsize, out_itemsize), free_bytes(rank)
        if needed > free:
            raise MemoryError(
                f"rank {rank} needs {needed / 1e9:.2f} GB for {schedule.algorithm}; its GPU has"
                f" {free / 1e9:.2f} GB free: use smaller sizes, or more GPUs"
            )


def free_bytes(gpu: int) -> int:
    """Bytes of memory that a GPU has free, what CuPy keeps for reuse there included."""
    with cupy.cuda.Device(gpu) as device:
        return device.mem_info[0] + cupy.get_default_memory_pool().free_bytes()


def used_bytes(gpu: int) -> int:
    """Bytes of memory that anyone uses on a GPU."""
    with cupy.cuda.Device(gpu) as device:
        free, total = device.mem_info
        return total - free


def free_memory() -> None:
    """Give back what CuPy keeps for reuse, on every GPU."""
    for gpu in range(count()):
        with cupy.cuda.Device(gpu):
            cupy.get_default_memory_pool().free_all_blocks()


def stored(dtype: str) -> Any:
    """The NumPy dtype of a number format: bfloat16 is kept as its bits."""
    return np.dtype("uint16" if dtype == "bfloat16" else dtype)


def nan(dtype: Any) -> Any:
    """What an array of a dtype is filled with so that an element nobody writes is seen."""
    return 0x7FC0 if dtype == np.uint16 else np.nan
