"""What a record of several GPUs says of the machine, for predictions: its links and its GPUs."""

from __future__ import annotations

from dataclasses import replace

from kernels.distributed.cost import Machine
from kernels.records.record import DEFAULT_GPU, SEVERAL, Record, Row, folder, names, read

__all__ = ["load_gpus", "machine", "recorded", "ring", "speed_up"]


def recorded(kind: str = DEFAULT_GPU) -> list[int]:
    """For how many GPUs of a kind there is a record, such as ``[2, 4]``."""
    found = (SEVERAL.fullmatch(path.stem) for path in folder().glob(f"{kind}x*.json"))
    return sorted(int(name[2]) for name in found if name and name[1] == kind)


def load_gpus(gpus: int, table: str = "") -> Record:
    """The record of so many GPUs of the default kind; empty, and false, if there is none.

    With a `table`, that of another kind if only it has rows of this table.
    """
    kinds = [DEFAULT_GPU, *(name for name in names() if name != DEFAULT_GPU)]
    held = [read(folder() / f"{kind}x{gpus}.json") for kind in kinds if gpus in recorded(kind)]
    own = next((record for record in held if record.name.startswith(DEFAULT_GPU)), Record(""))
    return next((record for record in held if record.tables.get(table)), own)


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


def ring(record: Record, dtype: str = "bfloat16") -> Machine:
    """The same with steps of NCCL's ring in place of copies, fitted to its recorded collectives.

    In a CUDA graph, so no launch by the host is in them. The shortest all-reduce has p - 1 steps
    more than the shortest reduce-scatter: that gives a step's latency, and what is left is the
    start. The longest gives the bandwidth. Without such records it's `machine`.
    """
    about = machine(record, dtype)
    rows = sorted(record.tables.get("collectives", ()), key=lambda row: row.bytes)
    ours = [row for row in rows if row.choice == "Ring"]
    if not ours:
        return about
    half = next(row for row in rows if row.what == "reduce_scatter")
    short, long, steps = ours[0], ours[-1], ours[0].gpus - 1
    latency = (short.median - half.median) / steps
    start = half.median - steps * latency
    moving = (long.median - start) / (2 * steps) - latency
    return replace(about, latency=latency, bandwidth=long.bytes / long.gpus / moving, start=start)


def speed_up(record: Record, row: Row) -> float:
    """How many times as fast as cuBLAS on one GPU, which gave a C of the same format.

    Where one GPU was timed in turn with the row, that time counts; else that of one GPU alone.
    """
    if "cublas_gflops" in row:
        return row.share
    same = {name: row[name] for name in ("dtype", "out_dtype", "M", "N", "K")}
    return record.row("timings", rung="cublas", gpus=1, **same).median / row.median
