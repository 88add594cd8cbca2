"""``info``: the GPU and the records."""

from __future__ import annotations

import click

from kernels import lab, records
from kernels.backend import on_gpu, why_cpu
from kernels.basics import data_sheets
from kernels.basics.units import quantity
from kernels.cli.console import facts, out
from kernels.measure.bench.provenance import driver_version, versions


@click.command()
def info() -> None:
    """Say what the kernels run on here, and which GPUs are recorded."""
    device = lab.device()
    out.print(f"{device.name}", style="bold", markup=False)
    rows = {"backend": "gpu" if on_gpu else f"cpu ({why_cpu})"}
    if on_gpu:
        major, minor = device.compute_capability
        rows |= {
            "compute": f"capability {major}.{minor}, {device.sms} SMs, "
            f"{quantity(device.fp32_peak, 'FLOP/s')} in fp32 at {quantity(device.clock, 'Hz')}",
            "memory": f"{quantity(device.memory_bytes, 'B')}, at most "
            f"{quantity(device.bandwidth_peak, 'B/s')}; L2 {quantity(device.l2_bytes, 'B')}",
            "driver": driver_version(),
        }
    rows["limits"] = (
        f"{device.max_threads_per_block} threads and {device.shared_per_block} bytes of shared "
        f"memory per block, warps of {device.warp_size}"
    )
    try:
        rows["data sheet"] = data_sheets.gpu(device.name).source
    except LookupError:
        pass
    rows["versions"] = ", ".join(f"{k} {v}" for k, v in versions().items())
    rows["recorded"] = ", ".join(records.names()) or "nothing yet"
    facts(rows)
