"""The budget in words: what a kernel was waiting for, and what the rest of its cycles went to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernels import records
from kernels.basics.units import percent
from kernels.budget import counts as sources
from kernels.budget import versions
from kernels.budget.ceilings import UNITS, Budget
from kernels.host.rung import ENGINE_TITLES
from kernels.records.counters import STALL_WORDS
from kernels.rungs.order import LADDER

__all__ = ["about", "sentence", "waiting"]

#: What a kernel needs of each unit, for one FMA of a warp.
NEEDS = {
    "issue": "{0.instructions:.3g} instructions",
    "wavefronts": "{0.wavefronts:.3g} wavefronts of L1 and shared memory",
    "fp32": "{0.fp32:.3g} FMAs on the FP32 lanes",
    "tensor": "{0.tensor:.3g} cycles of the tensor cores",
    "l2": "{0.l2_bytes:.3g} bytes from L2",
    "dram": "{0.dram_bytes:.3g} bytes from DRAM",
    "latency": "{0.wait:.3g} cycles of a warp's own waiting, shared by {0.warps:.3g} warps",
}


def sentence(budget: Budget, measured: float | None = None, rest: str = "") -> str:
    """What a kernel waits for, and how much of its time that explains.

    Parameters
    ----------
    budget : Budget
    measured : float, optional
        Cycles of one SM per FMA.
    rest : str
        The stall that most of the remaining time goes to, a key of `STALL_WORDS`.
    """
    need = NEEDS[budget.verdict].format(budget.counts)
    told = f"For each FMA it needs {need}: {budget.cycles:.3g} cycles of an SM"
    if measured is None:
        return f"{told}, and no other limit is higher."
    told += f", {percent(budget.reached(measured))} of the {measured:.3g} measured."
    if rest and budget.reached(measured) < 0.95:
        told += f" Beside that, its warps wait most for {STALL_WORDS[rest]}."
    return told


def about(row: Mapping[str, Any], warps_per_sm: int, limits: Any) -> tuple[Budget, str]:
    """The budget of a profile, and its sentence."""
    budget = Budget(sources.of_profile(row, warps_per_sm), limits)
    return budget, sentence(budget, sources.measured(row), sources.rest(row, budget.verdict))


def waiting(rung: str, record: records.Record | None = None, size: int = 2048) -> str:
    """What a rung was waiting for in each language, as the record's profile of it has it.

    Parameters
    ----------
    rung : str
    record : Record, optional
        By default the one of the GPU here, or the course's.
    size : int
        M = N = K of the profile.

    Raises
    ------
    LookupError
        Without a profile of this rung at this size.
    """
    record = record if record is not None else records.load()
    lines = []
    for engine in LADDER[rung].engines:
        options = LADDER[rung].default(engine)
        row, same = versions.profile_of(record, rung, engine, options, size**3)
        if row is None or not same or row["M"] != size:
            continue
        budget, told = about(row, *versions.bounds(record, row.get("dtype", "float32")))
        lines.append(f"{ENGINE_TITLES[engine]} waits for {UNITS[budget.verdict]}. {told}")
    if not lines:
        raise LookupError(
            f"no profile of {rung} at {size}³ on the {record.name}: profile it on that GPU, with "
            f"`python -m kernels profile {rung} --size {size}`"
        )
    return "\n".join(lines)
