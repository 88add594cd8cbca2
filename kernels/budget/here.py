"""The GPU that is reckoned for: the one here, else the recorded one; and its calibration."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kernels import records
from kernels.backend import on_gpu
from kernels.backend.device import Device, device
from kernels.basics import data_sheets
from kernels.basics.files import replace_text, slug
from kernels.budget import versions
from kernels.budget.product import MeasuredGpu
from kernels.host import tuned

__all__ = ["CalibrationError", "Measured", "Setting", "calibrated", "gpu_here", "path", "setting",
           "sheet_of", "write"]  # fmt: skip

#: A GPU whose data sheet stands in where there is none.
STAND_IN = "h200"
#: What a GPU that nobody measured is taken to have: seconds of a launch, cycles to the first data
#: of a block, and the share of its memory's peak that a copy reaches.
LAUNCH, LATENCY, COPIED = 4e-6, 900.0, 0.88


class CalibrationError(ValueError):
    """A file that holds no calibration of this GPU; one line says why."""


@dataclass(frozen=True)
class Measured:
    """What `python -m kernels calibrate` measures of a GPU.

    Attributes
    ----------
    gpu : str
        Its name, as the driver has it.
    launch : float
        Seconds of a launch that does next to nothing.
    latency : float
        Cycles of a load from memory and of one from L2, added.
    bandwidth : float
        Bytes per second of a copy.
    provenance : dict
        Driver, versions and date.
    """

    gpu: str
    launch: float
    latency: float
    bandwidth: float
    provenance: Mapping[str, Any]


@dataclass(frozen=True)
class Setting:
    """What a budget is computed for.

    Attributes
    ----------
    record : Record
        The one whose profiles counts come from.
    machine : MeasuredGpu
    """

    record: records.Record
    machine: MeasuredGpu


def gpu_here(name: str = "") -> data_sheets.Gpu:
    """The limits of a GPU: those that the driver tells of the one here, else a data sheet's.

    Parameters
    ----------
    name : str
        Of a data sheet, such as ``"t4"``; empty for the GPU here, or `STAND_IN` without one.
    """
    if name or not on_gpu:
        return data_sheets.gpu(name or STAND_IN)
    return sheet_of(device())


def sheet_of(known: Device) -> data_sheets.Gpu:
    """What the driver tells of a GPU, as a data sheet has it."""
    major, minor = known.compute_capability
    units = (known.fp32_peak or 0) / (2 * known.sms * known.clock)
    try:
        tensor = data_sheets.gpu(known.name)
    except LookupError:
        tensor = None
    return data_sheets.Gpu(
        name=known.name,
        compute_capability=f"{major}.{minor}",
        sms=known.sms,
        cores_per_sm=round(units) or 128,
        boost_mhz=round(known.clock / 1e6),
        threads_per_sm=known.max_threads_per_sm,
        warps_per_sm=known.max_threads_per_sm // known.warp_size,
        blocks_per_sm=known.max_blocks_per_sm or 16,
        registers_per_sm=known.registers_per_sm,
        shared_per_sm=known.shared_per_sm,
        shared_per_block_optin=known.shared_per_block_optin or known.shared_per_block,
        l2_bytes=known.l2_bytes,
        memory_gb=round(known.memory_bytes / 1e9),
        bandwidth_gbs=(known.bandwidth_peak or 1e12) / 1e9,
        fp32_tflops=(known.fp32_peak or 0) / 1e12,
        fp16_tensor_tflops=tensor.fp16_tensor_tflops if tensor else None,
        bf16_tensor_tflops=tensor.bf16_tensor_tflops if tensor else None,
        pcie_generation=4,
        source="its driver",
    )


def setting() -> Setting:
    """The GPU here with its record, or its calibration; without a GPU, the recorded one.

    Raises
    ------
    LookupError
        Where nothing is recorded: there are no counts to start from.
    """
    names = records.names()
    if not names:
        raise LookupError(
            "nothing is recorded here, so there are no counts: restore chapters/records from git"
        )
    own = slug(device().name) if on_gpu else ""
    if own in names or not on_gpu:
        record = records.load(own if own in names else None)
        return Setting(record, versions.machine(record))
    record = records.load(records.DEFAULT_GPU if records.DEFAULT_GPU in names else names[0])
    return Setting(record, machine_here())


def machine_here() -> MeasuredGpu:
    """The GPU here: what its calibration measured, or what the driver says alone."""
    gpu, found = gpu_here(), calibrated()
    if found is None:
        source = "the driver; `python -m kernels calibrate` measures"
        return MeasuredGpu(gpu, LAUNCH, LATENCY, COPIED * gpu.bandwidth, source)
    return MeasuredGpu(gpu, found.launch, found.latency, found.bandwidth, "calibration of this GPU")


def path(gpu: str = "") -> Path:
    """The file of a calibration: beside the tuned options."""
    return tuned.folder() / f"{slug(gpu or device().name)}-calibration.json"


def calibrated(gpu: str = "") -> Measured | None:
    """What was measured of a GPU, by default of the one here; None if nothing was.

    Raises
    ------
    CalibrationError
        For half a file, or one of another GPU.
    """
    gpu = gpu or device().name
    file = path(gpu)
    if not file.exists():
        return None
    again = "measure again with `python -m kernels calibrate`"
    try:
        found = Measured(**json.loads(file.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise CalibrationError(f"{file.name} holds no calibration ({error}): {again}") from None
    if found.gpu != gpu:
        raise CalibrationError(f"{file.name} is of a {found.gpu}, this is a {gpu}: {again}")
    return found


def write(found: Measured) -> Path:
    """Store a calibration."""
    file = path(found.gpu)
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_text(file, json.dumps(asdict(found), indent=1) + "\n")
    return file
