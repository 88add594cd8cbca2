"""The roofline: how fast a kernel may run, given how many FLOPs it does for each byte it moves.

Pure arithmetic; `kernels.lab.plots.roofline` draws it.
"""

from __future__ import annotations

from dataclasses import dataclass

from kernels.basics.data_sheets import Gpu
from kernels.records import Record


def product_flops(M: int, N: int, K: int) -> int:
    """FLOPs of C = A·B for A (M×K) and B (K×N): a multiplication and an addition each step."""
    return 2 * M * N * K


def compulsory_bytes(M: int, N: int, K: int, itemsize: int = 4) -> int:
    """Bytes that must move at least: A and B read once, C written once."""
    return itemsize * (M * K + K * N + M * N)


@dataclass(frozen=True)
class Roof:
    """The two ceilings of a machine.

    Attributes
    ----------
    name : str
        What the ceilings are of, and whether data sheet or measured.
    bandwidth : float
        Bytes per second.
    compute : float
        FLOP per second.
    """

    name: str
    bandwidth: float
    compute: float

    @property
    def ridge(self) -> float:
        """Intensity (FLOP/byte) from which arithmetic, no longer memory, is the limit."""
        return self.compute / self.bandwidth

    def attainable(self, intensity: float) -> float:
        """The most FLOP per second that a kernel of this intensity (FLOP/byte) can reach."""
        return min(self.compute, intensity * self.bandwidth)

    def limit(self, intensity: float) -> str:
        """``"memory"`` left of the ridge, ``"compute"`` at it and beyond."""
        return "memory" if intensity < self.ridge else "compute"


@dataclass(frozen=True)
class Point:
    """A kernel on the roofline: intensity in FLOP/byte, speed in FLOP/s.

    ``intensity`` means the bytes one chose to count (asked for, moved, or compulsory): say which in
    ``name``.
    """

    name: str
    intensity: float
    flops: float
    engine: str = "numba"


def data_sheet(gpu: Gpu) -> Roof:
    """The ceilings that a data sheet promises."""
    return Roof(f"{gpu.name}, data sheet", gpu.bandwidth, gpu.fp32_peak)


def recorded(record: Record) -> Roof:
    """Measured copy bandwidth under the compute peak that follows from the recorded device.

    Raises
    ------
    RecordError
        When the record holds no copy bandwidth.
    """
    copy = record.row("bandwidth", what="copy")
    return Roof(f"{record.provenance['gpu']}, recorded", copy.bytes_per_second, peak(record))


def peak(record: Record) -> float:
    """FP32 FLOP/s of the recorded device at its recorded clock."""
    return record.device["fp32_peak"]
