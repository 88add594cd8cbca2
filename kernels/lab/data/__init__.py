"""Figures that others published: data sheets of GPUs, and what the course's sources claim.

Nothing here was measured on a GPU by this course; such figures are in `kernels.lab.records`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


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
        """Bytes a second between the GPU and its memory."""
        return self.bandwidth_gbs * 1e9

    @property
    def fp32_peak(self) -> float:
        """FLOP a second: every core finishes one fused multiply-add (2 FLOP) a clock."""
        return self.sms * self.cores_per_sm * 2 * self.boost_mhz * 1e6

    @property
    def threads(self) -> int:
        """Threads that can be resident on the whole GPU at once."""
        return self.sms * self.threads_per_sm

    @property
    def pcie_bandwidth(self) -> float:
        """Bytes a second in one direction over 16 PCIe lanes, before protocol overhead."""
        return pcie(self.pcie_generation)


@dataclass(frozen=True)
class Claim:
    """What one of the sources says, in our words.

    ``judged_by`` says what decides it (``"arithmetic"``, ``"data sheet"``, ``"record"``,
    ``"trace"`` or ``"definition"``); ``fact`` is the correction where it needs no measurement.
    A claim that only a measurement can judge has none: print the record beside it. ``where`` is the
    page of ``chapters/``, with the heading, under which it is tried.
    """

    id: str
    source: str
    chapter: int
    topic: str
    claim: str
    verdict: str
    judged_by: str
    where: str
    fact: str = ""
    low: float | None = None
    high: float | None = None
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.source}: {self.claim}"


@cache
def _read(name: str) -> dict[str, Any]:
    return json.loads((_FOLDER / name).read_text(encoding="utf-8"))


@cache
def gpus() -> dict[str, Gpu]:
    """All data sheets, by short name: ``gpus()["h200"].bandwidth``."""
    return {
        name: Gpu(
            **{figure: value for figure, value in sheet.items() if figure != "documents"},
            source="; ".join(sheet["documents"]),
        )
        for name, sheet in _read("gpus.json")["gpus"].items()
    }


def documents(name: str) -> dict[str, str]:
    """The vendor's document that each figure of a data sheet is from, by short name of the GPU."""
    return {
        figure: document
        for document, figures in _read("gpus.json")["gpus"][name]["documents"].items()
        for figure in figures
    }


def gpu(name: str) -> Gpu:
    """One data sheet, by short name or by the name a driver gives (``"NVIDIA H200"``).

    Raises
    ------
    LookupError
        When there is no data sheet of that name here.
    """
    if name in gpus():
        return gpus()[name]
    words = set(re.findall(r"[a-z0-9]+", name.lower()))
    # A Ti, a Super or a PCIe board is another product than its namesake.
    if not words & {"ti", "super", "d", "pcie", "nvl", "max", "laptop"}:
        for key, sheet in gpus().items():
            if set(key.split("-")) <= words:
                return sheet
    raise LookupError(f"no data sheet of {name!r}; there are {', '.join(gpus())}")


def pcie(generation: int) -> float:
    """Bytes a second in one direction over 16 lanes of a PCIe generation."""
    return _read("gpus.json")["pcie_x16_gbs"][str(generation)] * 1e9


def traced() -> list[dict[str, Any]]:
    """What the microscope counts in every Numba rung; ``python -m kernels.traced`` writes it."""
    return _read("traced.json")["rows"]


def sources() -> dict[str, str]:
    """Titles of the sources: ``{"S0": "…"}``."""
    return _read("claims.json")["sources"]


def claims(
    chapter: int | None = None, topic: str | None = None, source: str | None = None
) -> list[Claim]:
    """What the sources claim, in the order of the chapters; narrowed by what is given."""
    wanted = {"chapter": chapter, "topic": topic, "source": source}
    return [
        claim
        for claim in (Claim(**entry) for entry in _read("claims.json")["claims"])
        if all(value in (None, getattr(claim, name)) for name, value in wanted.items())
    ]


def claim(id: str) -> Claim:
    """One claim by its id, such as ``"s2-vector-add-guard"``."""
    for found in claims():
        if found.id == id:
            return found
    raise LookupError(f"no claim {id!r}; there are {', '.join(c.id for c in claims())}")
