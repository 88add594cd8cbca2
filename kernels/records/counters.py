"""What the hardware counts of a launch: our names for the profiler's, and what follows.

A profile is a mapping of these names to figures: a row of a record's table ``profiles``. Counts are
whole numbers, sizes are bytes, times seconds, shares 0 to 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = [
    "METRICS", "NAMES", "SECTOR", "STALL_WORDS", "WAVEFRONT", "ProfiledLaunch", "bytes_at",
    "figures", "missing",
]  # fmt: skip

SECTOR = 32  #: bytes that L1, L2 and DRAM hand over at least
WAVEFRONT = 128  #: bytes that L1 and shared memory hand over at most, each clock of an SM


@dataclass(frozen=True)
class ProfiledLaunch:
    """One profiled launch: the kernel's compiled name, each metric that could be read, its grid."""

    kernel: str
    metrics: dict[str, float]
    grid: tuple[int, ...] = ()


#: Added up over the launches of one product.
COUNTS = {
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1_hits": "l1tex__t_sectors_lookup_hit.sum",
    "l1_misses": "l1tex__t_sectors_lookup_miss.sum",
    "l2_read_bytes": "l1tex__m_xbar2l1tex_read_bytes.sum",
    "l2_write_bytes": "l1tex__m_l1tex2xbar_write_bytes.sum",
    "l2_hits": "lts__t_sectors_srcunit_tex_lookup_hit.sum",
    "l2_misses": "lts__t_sectors_srcunit_tex_lookup_miss.sum",
    "shared_load_instructions": "smsp__inst_executed_op_shared_ld.sum",
    "shared_store_instructions": "smsp__inst_executed_op_shared_st.sum",
    "shared_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared_load_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared_store_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "l1_wavefronts": "l1tex__data_pipe_lsu_wavefronts.sum",
    "instructions": "smsp__inst_executed.sum",
    "ffma": "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "nanoseconds": "gpu__time_duration.sum",
}
#: Of the peak, in percent there and 0 to 1 here.
SHARES = {
    "sm_throughput": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "l1_throughput": "l1tex__throughput.avg.pct_of_peak_sustained_active",
    "l2_throughput": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "dram_throughput": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "issue_slots": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "load_store_unit": "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active",
    "fma_unit": "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
    "fma_heavy_unit": "sm__pipe_fmaheavy_cycles_active.avg.pct_of_peak_sustained_active",
    "alu_unit": "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active",
    "tensor_unit": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "occupancy_achieved": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "occupancy": "sm__maximum_warps_per_active_cycle_pct",
}
RATIOS = {"ipc": "sm__inst_executed.avg.per_cycle_active"}
#: The same in every launch of a kernel, or the most of several.
LARGEST = {
    "registers": "launch__registers_per_thread",
    "static_bytes": "launch__shared_mem_per_block_static",
    "dynamic_bytes": "launch__shared_mem_per_block_dynamic",
}
#: Why a warp that is there does not issue; cycles of waiting for each instruction issued. Those
#: that no product spends a tenth of a cycle on (drain, sleeping, …) are left out: each costs time.
STALL_WORDS = {
    "long_scoreboard": "data from L1, L2 or DRAM (long scoreboard)",
    "short_scoreboard": "data from shared memory (short scoreboard)",
    "mio_throttle": "room in the queue to shared memory (MIO throttle)",
    "lg_throttle": "room in the queue to global memory (LG throttle)",
    "barrier": "the other warps, at a barrier",
    "math_pipe_throttle": "a free arithmetic unit (math pipe throttle)",
    "wait": "the fixed latency of its last instruction (wait)",
    "not_selected": "its turn: another warp was chosen (not selected)",
    "selected": "nothing: it issues (selected)",
    "no_instruction": "its next instruction, to be fetched (no instruction)",
    "dispatch_stall": "the dispatcher (dispatch stall)",
    "gmma": "the tensor cores (GMMA)",
    "warpgroup_arrive": "the other warps of its group (warpgroup arrive)",
}
STALLS = {
    name: f"smsp__average_warps_issue_stalled_{name}_per_issue_active.ratio"
    for name in STALL_WORDS
}  # fmt: skip
METRICS = (*COUNTS.values(), *SHARES.values(), *RATIOS.values(), *LARGEST.values(),
           *STALLS.values())  # fmt: skip
#: Computed from counts of the same launch, hits and lookups alike.
DERIVED = ("duration", "l1_hit_rate", "l2_hit_rate", "shared_bytes", "stalls")
#: What those are computed from, and a profile does not hold.
STEPS = ("nanoseconds", "l1_hits", "l1_misses", "l2_hits", "l2_misses", "static_bytes",
         "dynamic_bytes")  # fmt: skip
#: The figures of a whole profile.
NAMES = tuple(name for name in (*COUNTS, *SHARES, *RATIOS, *LARGEST, *DERIVED) if name not in STEPS)


def figures(launches: Sequence[ProfiledLaunch]) -> dict[str, Any]:
    """What was counted in the launches of one product, under our names.

    Counts are added up; shares and ratios are averaged, each launch weighing as long as it took.
    What the profiler could not read is left out.
    """
    read = [launch.metrics for launch in launches]
    times = [metrics.get(COUNTS["nanoseconds"], 1) or 1 for metrics in read]

    def everywhere(name: str) -> bool:
        return bool(read) and all(name in metrics for metrics in read)

    def mean(name: str) -> float:
        weighed = sum(m[name] * time for m, time in zip(read, times, strict=True))
        return weighed / sum(times)

    found: dict[str, Any] = {}
    found |= {ours: sum(m[n] for m in read) for ours, n in COUNTS.items() if everywhere(n)}
    found |= {ours: round(mean(n) / 100, 4) for ours, n in SHARES.items() if everywhere(n)}
    found |= {ours: round(mean(n), 4) for ours, n in RATIOS.items() if everywhere(n)}
    found |= {ours: max(m[n] for m in read) for ours, n in LARGEST.items() if everywhere(n)}
    if "nanoseconds" in found:
        found["duration"] = float(f"{found.pop('nanoseconds') * 1e-9:.6g}")
    for level in ("l1", "l2"):
        # A rate of its own metric may come from two passes, whose lookups differ a little.
        if {f"{level}_hits", f"{level}_misses"} <= found.keys():
            hits, misses = found.pop(f"{level}_hits"), found.pop(f"{level}_misses")
            found[f"{level}_hit_rate"] = round(hits / (hits + misses), 4) if hits + misses else 0.0
    if {"static_bytes", "dynamic_bytes"} <= found.keys():
        found["shared_bytes"] = found.pop("static_bytes") + found.pop("dynamic_bytes")
    stalls = {name: round(mean(n), 3) for name, n in STALLS.items() if everywhere(n)}
    if stalls:
        found["stalls"] = stalls
    return found


def missing(row: Mapping[str, Any]) -> list[str]:
    """What a profile lacks: figures that its profiler, or its GPU, does not know."""
    return [name for name in NAMES if name not in row]


def bytes_at(row: Mapping[str, Any]) -> dict[str, int]:
    """Bytes that each level of memory handed over or took, from the nearest to the farthest.

    "L1 and shared" counts wavefronts, 128 bytes each: what the level was busy with, used or not.
    "L2" counts what went between it and the SMs, "DRAM" what was read and written there.
    """
    found = {}
    if "l1_wavefronts" in row:
        found["L1 and shared"] = WAVEFRONT * row["l1_wavefronts"]
    if {"l2_read_bytes", "l2_write_bytes"} <= set(row):
        found["L2"] = row["l2_read_bytes"] + row["l2_write_bytes"]
    if {"dram_read_bytes", "dram_write_bytes"} <= set(row):
        found["DRAM"] = row["dram_read_bytes"] + row["dram_write_bytes"]
    return found
