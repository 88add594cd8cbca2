"""What the compiler gave each version of a rung: registers, shared and local memory."""

from __future__ import annotations

import warnings
from math import prod
from typing import Any

from kernels.backend.device import device
from kernels.basics import data_sheets
from kernels.measure.bench.case import Case
from kernels.measure.bench.step import Step, Tables, one_line
from kernels.measure.occupancy import occupancy
from kernels.rungs.order import LADDER, Rung


def steps() -> list[Step]:
    """One step: the resources of every version, and the occupancy that follows."""
    return [Step("registers and occupancy", resources)]


def resources() -> Tables:
    """Registers, shared and local memory of every version, and the occupancy that follows."""
    rows = []
    for rung in LADDER.values():
        if rung.missing():
            continue
        case = Case(64, 64, 64, rung.dtypes[0], rung.out_dtype)
        for engine, options in rung.versions():
            _, block = rung.launch(64, 64, **options)
            try:
                case.launch(rung, engine, options)()  # Numba compiles when it is launched
                found, threads = used(rung, engine, options), prod(block)
            except (ValueError, RuntimeError) as error:  # the others are listed all the same
                what = f"{rung.name}, {engine}, {options}"
                warnings.warn(f"no resources of {what}: {one_line(error)}", stacklevel=2)
                continue
            rows.append({
                "rung": rung.name, "engine": engine, "options": options,
                "threads_per_block": threads, **found, **residency(threads, found),
            })  # fmt: skip
    return {"resources": rows}


def used(rung: Rung, engine: str, options: dict[str, int]) -> dict[str, int]:
    """What the compiler gave a version of a rung that was launched before."""
    if engine == "numba":
        return numba_resources(rung.kernel(**options))
    return cpp_resources(rung.cpp_kernel(**options), rung.dynamic_shared)


def numba_resources(kernel: Any) -> dict[str, int]:
    """What the compiler gave a Numba kernel that was launched before."""
    return {
        "registers": max(kernel.get_regs_per_thread().values()),
        "shared_bytes": max(kernel.get_shared_mem_per_block().values()),
        "local_bytes": max(kernel.get_local_mem_per_thread().values()),
    }


def cpp_resources(kernel: Any, dynamic_shared: bool = False) -> dict[str, int]:
    """The same of a CuPy kernel, with what its launches ask for beyond its own shared memory."""
    asked = kernel.max_dynamic_shared_size_bytes if dynamic_shared else 0
    return {
        "registers": kernel.num_regs,
        "shared_bytes": kernel.shared_size_bytes + asked,
        "local_bytes": kernel.local_size_bytes,
    }


def residency(threads: int, used: dict[str, int]) -> dict[str, Any]:
    """Blocks resident on an SM and occupancy, where this GPU's limits are known."""
    try:
        sheet = data_sheets.gpu(device().name)
    except LookupError:
        return {}
    found = occupancy(
        threads, registers=used["registers"], shared_bytes=used["shared_bytes"], gpu=sheet
    )
    return {"blocks_per_sm": found.blocks, "occupancy": round(found.fraction, 4)}
