"""Figures that vendors publish of their GPUs, from ``gpus.json``.

Nothing here was measured on a GPU by this course; such figures are in `kernels.records`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("gpus.json")


@dataclass(frozen=True)
class Gpu:
    """Data-sheet figures of one GPU. Bytes are bytes; ``None`` means the GPU cannot do it.

    Tensor peaks are dense, with fp32 accumulation.
    """

    name: str
    compute_capability: str
    sms: int
    cores_per_sm: int
    boost_mhz: int
    threads_per_sm: int
    warps_per_sm: int
    blocks_per_sm: int
    registers_per_sm: int
    shared_per_sm: int
    shared_per_block_optin: int
    l2_bytes: int
    memory_gb: int
    bandwidth_gbs: float
    fp32_tflops: float
    fp16_tensor_tflops: float | None
    bf16_tensor_tflops: float | None
    pcie_generation: int
    source: str

    @property
    def cores(self) -> int:
        """FP32 cores of the whole GPU."""
        return self.sms * self.cores_per_sm

    @property
    def bandwidth(self) -> float:
        """Bytes per second between the GPU and its memory."""
        return self.bandwidth_gbs * 1e9

    @property
    def fp32_peak(self) -> float:
        """FLOP per second: every core finishes one fused multiply-add (2 FLOP) a clock."""
        return self.sms * self.cores_per_sm * 2 * self.boost_mhz * 1e6

    @property
    def threads(self) -> int:
        """Threads that can be resident on the whole GPU at once."""
        return self.sms * self.threads_per_sm

    @property
    def pcie_bandwidth(self) -> float:
        """Bytes per second in one direction over 16 PCIe lanes, before protocol overhead."""
        return pcie(self.pcie_generation)


@cache
def _read() -> dict[str, Any]:
    return json.loads(FILE.read_text(encoding="utf-8"))


@cache
def gpus() -> dict[str, Gpu]:
    """All data sheets, by short name: ``gpus()["h200"].bandwidth``."""
    return {
        name: Gpu(
            **{figure: value for figure, value in sheet.items() if figure != "documents"},
            source="; ".join(sheet["documents"]),
        )
        for name, sheet in _read()["gpus"].items()
    }


def documents(name: str) -> dict[str, str]:
    """The vendor's document that each figure of a data sheet is from, by short name of the GPU."""
    return {
        figure: document
        for document, figures in _read()["gpus"][name]["documents"].items()
        for figure in figures
    }


def gpu(name: str) -> Gpu:
    """One data sheet, by short name or by the name a driver gives (``"NVIDIA H200"``).

    Raises
    ------
    LookupError
        When there is no data sheet of that name here.
    """
    return gpus()[short_name(name)]


def short_name(name: str) -> str:
    """The short name of a driver's: ``"NVIDIA H100 80GB HBM3"`` is ``"h100"``.

    Raises
    ------
    LookupError
        When there is no data sheet of that name here.
    """
    if name in gpus():
        return name
    words = set(re.findall(r"[a-z0-9]+", name.lower()))
    # A Ti, a Super or a PCIe board is another product than its namesake.
    if not words & {"ti", "super", "d", "pcie", "nvl", "max", "laptop"}:
        for key in gpus():
            if set(key.split("-")) <= words:
                return key
    raise LookupError(f"no data sheet of {name!r}; there are {', '.join(gpus())}")


def pcie(generation: int) -> float:
    """Bytes per second in one direction over 16 lanes of a PCIe generation."""
    return _read()["pcie_x16_gbs"][str(generation)] * 1e9
