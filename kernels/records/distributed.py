"""What a record of several GPUs says of the machine, for predictions: its links and its GPUs."""

from __future__ import annotations

from kernels.distributed.cost import Machine
from kernels.records.record import DEFAULT_GPU, SEVERAL, Record, Row, folder, read

__all__ = ["load_gpus", "machine", "recorded", "speed_up"]


def recorded() -> list[int]:
    """For how many GPUs of the default kind there is a record, such as ``[2, 4]``."""
    found = (SEVERAL.fullmatch(path.stem) for path in folder().glob(f"{DEFAULT_GPU}x*.json"))
    return sorted(int(name[2]) for name in found if name and name[1] == DEFAULT_GPU)


def load_gpus(gpus: int) -> Record:
    """The record of so many GPUs; empty, and false, if there is none."""
    if gpus not in recorded():
        return Record("")
    return read(folder() / f"{DEFAULT_GPU}x{gpus}.json")


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


def speed_up(record: Record, row: Row) -> float:
    """How many times as fast as cuBLAS on one GPU, which gave a C of the same format.

    Where one GPU was timed in turn with the row, that time counts; else that of one GPU alone.
    """
    if "cublas_gflops" in row:
        return row.share
    same = {name: row[name] for name in ("dtype", "out_dtype", "M", "N", "K")}
    return record.row("timings", rung="cublas", gpus=1, **same).median / row.median
