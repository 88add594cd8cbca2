"""What one launch costs, how long a load takes, and what each level of memory gives."""

from __future__ import annotations

from kernels.measure import levels, memory_probes, overlap, probes
from kernels.measure.bench.step import Step


def steps() -> list[Step]:
    """Launches, latency, the patterns of access, the levels, and copies beside kernels."""
    return [
        Step("launch", lambda: {
            "launch": probes.launch_overhead(), "prepared": probes.prepared_launches(),
        }),
        Step("latency", lambda: {"latency": probes.latency()}),
        *(
            Step(f"memory access, {table}", lambda table=table: memory_probes.recorded(table))
            for table in memory_probes.TABLES
        ),
        Step("bandwidth of each level", lambda: {"levels": levels.levels()}),
        Step("copies beside kernels", lambda: overlap.measure()),
    ]  # fmt: skip
