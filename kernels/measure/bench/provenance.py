"""Who measures, with what, when."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from kernels.backend import cupy, on_gpu, why_cpu
from kernels.backend.device import device
from kernels.measure import probes

PACKAGES = (
    "numpy", "numba", "numba-cuda", "cupy", "matplotlib", "torch", "triton", "nvmath-python",
)  # fmt: skip


def provenance() -> dict[str, Any]:
    """Who measures, with what, when.

    Raises
    ------
    RuntimeError
        Without a GPU.
    """
    if not on_gpu:
        raise RuntimeError(f"recording needs an NVIDIA GPU, but {why_cpu}")
    runtime = cupy.cuda.runtime
    toolkit = runtime.runtimeGetVersion()
    here = device()
    return {
        "gpu": here.name,
        "driver": driver_version(),
        "cuda": f"{toolkit // 1000}.{toolkit % 1000 // 10}",
        "versions": {"python": platform.python_version(), **versions()},
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "clocks": {
            "sm_mhz": round(here.clock / 1e6) if here.clock else None,
            "memory_mhz": round(here.memory_clock / 1e6) if here.memory_clock else None,
        },
    }


def versions(packages: Sequence[str] = PACKAGES) -> dict[str, str]:
    """Versions of the packages that a figure depends on, as far as they are installed."""
    found = {}
    for name in packages:
        for package in (f"{name}-cuda13x", f"{name}-cuda12x") if name == "cupy" else (name,):
            try:
                found[name] = version(package)
            except PackageNotFoundError:
                continue
    return found


def driver_version() -> str:
    """The driver's own version (``580.95.05``), or the CUDA version that it supports."""
    try:
        text = Path("/proc/driver/nvidia/version").read_text(encoding="utf-8")
        return next(word for word in text.split() if word.count(".") >= 1 and word[0].isdigit())
    except (OSError, StopIteration):
        supported = cupy.cuda.runtime.driverGetVersion()
        return f"for CUDA {supported // 1000}.{supported % 1000 // 10}"


def device_facts() -> dict[str, Any]:
    """What the driver says of the device, with the peaks that follow."""
    here = device()
    return {
        **asdict(here), "fp32_peak": here.fp32_peak, "bandwidth_peak": here.bandwidth_peak,
        "cpu_cores": probes.cores(),
    }  # fmt: skip
