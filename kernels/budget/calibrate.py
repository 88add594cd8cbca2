"""Measure the three numbers that a budget needs of a GPU: a launch, a latency, a bandwidth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernels.backend import on_gpu, why_cpu
from kernels.backend.device import device
from kernels.budget import here
from kernels.measure import probes
from kernels.measure.bench import vectors

__all__ = ["calibrate"]

#: Elements of a vector addition that takes a launch's time, and bytes of rings to chase: in L2, and
#: far beyond it.
SMALL, BEYOND = 1024, 2**29
#: Elements of a copy: 256 MiB there, and as many back.
COPIED = 2**26


def calibrate(provenance: Mapping[str, Any]) -> here.Measured:
    """Measure this GPU, in seconds.

    Parameters
    ----------
    provenance : mapping
        Who measures, with what, when.

    Raises
    ------
    RuntimeError
        Without a GPU.
    """
    if not on_gpu:
        raise RuntimeError(f"calibrating needs an NVIDIA GPU, but {why_cpu}")
    rows = probes.latency(BEYOND)
    chased = {row["bytes"]: row["cycles"] for row in rows if row["space"] == "global"}
    in_l2 = max((size for size in chased if size <= device().l2_bytes / 3), default=min(chased))
    small = [
        vectors.vector_row("cpp", SMALL, 256, cache)["seconds"]["median"]
        for cache in ("cold", "warm")
    ]
    return here.Measured(
        gpu=device().name,
        launch=min(small),
        latency=chased[max(chased)] + chased[in_l2],
        bandwidth=probes.copy_bandwidth(COPIED)["bytes_per_second"],
        provenance=dict(provenance),
    )
