"""What a record of several GPUs says of the machine, for predictions: its links and its GPUs."""

from __future__ import annotations

from kernels.distributed.cost import Machine
from kernels.records.record import DEFAULT_GPU, Record, load, names

__all__ = ["load_gpus", "machine", "recorded"]


def recorded() -> list[int]:
    """For how many GPUs of the default kind there is a record, such as ``[2, 4]``."""
    heads = [name.removeprefix(f"{DEFAULT_GPU}x") for name in names()]
    return sorted(int(head) for head in heads if head.isdigit())


def load_gpus(gpus: int) -> Record:
    """The record of so many GPUs; empty, and false, if there is none."""
    return load(f"{DEFAULT_GPU}x{gpus}") if gpus in recorded() else Record("")


def machine(record: Record, dtype: str = "float32") -> Machine:
    """The links and GPUs of a record, as predictions take them.

    The speed of one GPU is that of cuBLAS in the largest recorded product of the number format;
    bandwidth and latency are those of copies that cross in both directions.
    """
    alone = record.rows("timings", rung="cublas", dtype=dtype, gpus=1)
    largest = max(row.M * row.N * row.K for row in alone)
    flops = max(row["gflops"] for row in alone if row.M * row.N * row.K == largest) * 1e9
    copies = sorted(record.rows("peer_copies", what="both ways"), key=lambda row: row["bytes"])
    small, large = copies[0], copies[-1]
    return Machine(flops, large["bytes_per_second"], small.median)
