"""Other libraries that multiply on several GPUs, measured beside the algorithms of the course."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from kernels.backend import cupy
from kernels.distributed import lock, processes
from kernels.distributed.grid import cut
from kernels.distributed.processes import Team
from kernels.measure.distributed.problem import Problem

__all__ = ["CUBLASMP_NCCL", "cublasmp_missing", "cupy_rows", "dtensor", "nccl_version"]

#: The least NCCL that cuBLASMp 0.10 works with.
CUBLASMP_NCCL = "2.29.2"
#: Seconds for each way of PyTorch, its start included.
LIMIT = 75.0


def cupy_rows(
    problem: Problem, gpus: int, repeats: int, batch: int
) -> tuple[np.ndarray, list[float]]:
    """``cupyx.distributed.array``: rows of A on each GPU, all of B on every one; C and seconds."""
    from cupyx.distributed.array import distributed_array

    spans = cut(problem.M, gpus, "M")
    A = distributed_array(problem.A, {g: [(span.slice,)] for g, span in enumerate(spans)})
    B = distributed_array(problem.B, {g: [(slice(None),)] for g in range(gpus)})
    return (A @ B).get(), timed(lambda: A @ B, lambda: wait(gpus), repeats, batch)


def wait(gpus: int) -> None:
    """Wait for all GPUs."""
    for gpu in range(gpus):
        with cupy.cuda.Device(gpu):
            cupy.cuda.runtime.deviceSynchronize()


def timed(
    run: Callable[[], object], end: Callable[[], None], repeats: int, batch: int
) -> list[float]:
    """Wall-clock seconds of a run: means of `batch` runs, the first of which is left out."""
    seconds = []
    for _ in range(1 + repeats):
        end()
        start = perf_counter()
        for _ in range(batch):
            run()
        end()
        seconds.append((perf_counter() - start) / batch)
    return seconds[1:]


def dtensor(
    folder: Path, gpus: int, dtype: str, repeats: int, batch: int
) -> dict[str, list[float]]:
    """PyTorch's DTensor on the A and B of a folder; by name of the way, the slowest rank's seconds.

    Each rank leaves its rows of C there, as ``DTensor, B gathered-0.npy``.

    Raises
    ------
    RuntimeError
        Without PyTorch.
    """
    if find_spec("torch") is None:
        raise RuntimeError("PyTorch is missing: pip install torch")
    with lock.alone():
        found = processes.together(
            _dtensor, gpus, str(folder), dtype, repeats, batch, seconds=LIMIT
        )
    return {name: np.max([each[name] for each in found], axis=0).tolist() for name in found[0]}


def _dtensor(
    team: Team, folder: str, dtype: str, repeats: int, batch: int
) -> dict[str, list[float]]:
    """One rank of it: A by rows; B on every rank, or by rows and gathered for each product."""
    import os

    os.environ["NCCL_NVLS_ENABLE"] = "0"
    os.environ["TORCH_SYMM_MEM_DISABLE_MULTICAST"] = "1"
    import torch
    from torch import distributed
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Replicate, Shard

    torch.cuda.set_device(team.rank)
    meeting = f"file://{team.folder}/torch"
    distributed.init_process_group(
        "nccl", init_method=meeting, rank=team.rank, world_size=team.ranks
    )
    mesh = init_device_mesh("cuda", (team.ranks,))

    def part(name: str, whole: bool = False) -> Any:
        matrix = np.load(Path(folder) / f"{name}.npy", mmap_mode="r")
        rows = slice(None) if whole else cut(len(matrix), team.ranks, name)[team.rank].slice
        here = np.array(matrix[rows])
        if dtype == "bfloat16":
            return torch.from_numpy(here.view(np.int16)).cuda().view(torch.bfloat16)
        return torch.from_numpy(here).cuda()

    def end() -> None:
        torch.cuda.synchronize()
        distributed.barrier()
        torch.cuda.synchronize()

    try:
        A = DTensor.from_local(part("A"), mesh, [Shard(0)])
        parts = DTensor.from_local(part("B"), mesh, [Shard(0)])
        whole = DTensor.from_local(part("B", whole=True), mesh, [Replicate()])
        ways = {
            "DTensor, B replicated": lambda: A @ whole,
            "DTensor, B gathered": lambda: A @ parts.redistribute(mesh, [Replicate()]),
        }
        found = {}
        for name, way in ways.items():
            C = way().to_local()
            bits = C.view(torch.int16).cpu().numpy().view(np.uint16) if C.itemsize == 2 else C.cpu()
            np.save(Path(folder) / f"{name}-{team.rank}.npy", bits)
            found[name] = timed(way, end, repeats, batch)
        return found
    finally:
        distributed.destroy_process_group()


def nccl_version() -> str:
    """The version of NCCL that CuPy finds here, such as ``"2.28.9"``; empty without one."""
    try:
        from cupy.cuda import nccl

        version = nccl.get_version()
    except (ImportError, AttributeError, RuntimeError):
        return ""
    return f"{version // 10000}.{version % 10000 // 100}.{version % 100}"


def cublasmp_missing() -> str:
    """What keeps cuBLASMp, through nvmath-python, from running here; empty if nothing does."""
    version = nccl_version()
    if not version:
        return "cuBLASMp needs NCCL, which is missing: pip install nvidia-nccl-cu13"
    if tuple(map(int, version.split("."))) < tuple(map(int, CUBLASMP_NCCL.split("."))):
        return (
            f"cuBLASMp 0.10 needs NCCL {CUBLASMP_NCCL}, this machine has {version}:"
            " pip install -U nvidia-nccl-cu13"
        )
    if find_spec("nvmath") is None:
        return "cuBLASMp is missing: pip install nvmath-python[cu13-distributed]"
    return ""
