"""What the hardware counts while the rungs run: traffic, hit rates, how busy each unit is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kernels.lab import ncu, oracle
from kernels.lab.backend import cupy
from kernels.ladder import LADDER

SIZE = 2048
ROOT = Path(__file__).parents[1]
#: Our names for the profiler's, all of one launch. Shares are of the peak, 0 to 1.
COUNTS = {
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "shared_load_instructions": "smsp__inst_executed_op_shared_ld.sum",
    "shared_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
}
SHARES = {
    "l1_hit_rate": "l1tex__t_sector_hit_rate.pct",
    "l2_hit_rate": "lts__t_sector_hit_rate.pct",
    "sm_throughput": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "l1_throughput": "l1tex__throughput.avg.pct_of_peak_sustained_active",
    "l2_throughput": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "dram_throughput": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "load_store_unit": "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active",
    "fma_unit": "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
    "occupancy_achieved": "sm__warps_active.avg.pct_of_peak_sustained_active",
}


def versions() -> Iterator[tuple[str, str, dict[str, int]]]:
    """Rung, engine and options of every launch that is counted, in order."""
    for rung in LADDER.values():
        for engine, options in rung.versions():
            yield rung.name, engine, options


def profiles(size: int = SIZE) -> list[dict[str, Any]]:
    """Count one launch of every version of every rung, for square matrices.

    Returns
    -------
    list of dict
        Rows for a record's table ``profiles``: counts are whole numbers or bytes, shares 0 to 1.

    Raises
    ------
    kernels.lab.ncu.ProfilerError
        Without ncu, without permission, or if the launches are not those expected.
    """
    command = [sys.executable, "-m", "kernels.profiler", str(size)]
    metrics = [*COUNTS.values(), *SHARES.values()]
    launches = ncu.profile(command, metrics, "|".join(LADDER), folder=ROOT)
    expected = list(versions())
    if len(launches) != len(expected):
        raise ncu.ProfilerError(f"expected {len(expected)} launches, counted {len(launches)}")
    rows = []
    for (rung, engine, options), launch in zip(expected, launches, strict=True):
        if rung not in launch.kernel:
            raise ncu.ProfilerError(f"expected a launch of {rung}, counted {launch.kernel}")
        what = {"rung": rung, "engine": engine, "options": options, "dtype": "float32"}
        rows.append({**what, "M": size, "N": size, "K": size, **counters(launch.metrics)})
    return rows


def counters(metrics: dict[str, float]) -> dict[str, float]:
    """The profiler's figures under our names; those it could not read are left out."""
    counts = {ours: metrics[name] for ours, name in COUNTS.items() if name in metrics}
    shares = {ours: metrics[name] for ours, name in SHARES.items() if name in metrics}
    return {**counts, **{ours: round(value / 100, 4) for ours, value in shares.items()}}


def launch_all(size: int) -> None:
    """Launch every version once: what the profiler runs."""
    A, B = (cupy.asarray(matrix) for matrix in oracle.inputs(size, size, size))
    for rung, engine, options in versions():
        LADDER[rung].matmul(A, B, engine=engine, **options)
    cupy.cuda.Device().synchronize()


if __name__ == "__main__":
    launch_all(int(sys.argv[1]))
