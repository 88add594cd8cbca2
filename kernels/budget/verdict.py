"""The budget in words: what a kernel was waiting for, and what the rest of its cycles went to."""

from __future__ import annotations

from textwrap import fill

from kernels import records
from kernels.basics.units import percent
from kernels.budget import counts as sources
from kernels.budget import versions
from kernels.budget.ceilings import UNITS, Budget
from kernels.host.rung import ENGINE_TITLES
from kernels.records.counters import STALL_WORDS
from kernels.rungs.order import LADDER

__all__ = ["UNITS", "lines", "sentence", "waiting"]

WIDTH = 78  #: of a line on a page
#: A kernel waits for its highest ceiling from this share of its cycles on; below, for more.
FULL = 0.9

#: What a kernel waits for, and what it needs of it for one FMA of a warp.
NEEDS = {
    "issue": "issue slots: {0.instructions:.3g} instructions per FMA take",
    "wavefronts": "L1 and shared memory: {0.wavefronts:.3g} wavefronts per FMA take",
    "fp32": "the FP32 lanes: {0.fp32:.3g} FMAs for each that the product needs take",
    "tensor": "the tensor cores: an FMA takes",
    "port": "the port to L2: {0.l2_bytes:.3g} bytes per FMA take",
    "l2": "L2: an FMA takes",
    "dram": "DRAM: {0.dram_bytes:.3g} bytes per FMA take",
    "latency": "latency: each warp waits {0.wait:.3g} cycles per FMA; {0.warps:.3g} warps overlap, "
    "so an FMA takes",
}


#: What one FMA needs of each unit, and what an SM has of it in a cycle: counts and limits by name.
COUNTED = {
    "issue": ("instructions", "instructions", "issue"),
    "wavefronts": ("wavefronts", "wavefronts", "wavefronts"),
    "fp32": ("fp32", "FMA", "fp32"),
    "tensor": ("tensor", "cycles", None),
    "port": ("l2_bytes", "bytes", "port"),
    "l2": ("l2", "cycles", None),
    "dram": ("dram_bytes", "bytes", "dram"),
    "latency": ("wait", "cycles of a warp", None),
}


def lines(budget: Budget) -> list[tuple[str, str, str, str]]:
    """Each ceiling, the highest first: its unit, what one FMA needs, what an SM has, cycles."""
    found = []
    for name, cycles in sorted(budget.ceilings.items(), key=lambda item: -item[1]):
        count, unit, limit = COUNTED[name]
        has = getattr(budget.limits, limit) if limit else (
            budget.counts.warps if name == "latency" else 1
        )  # fmt: skip
        of = " warps" if name == "latency" else ""
        needs = f"{getattr(budget.counts, count):.3g} {unit}"
        found.append((UNITS[name], needs, f"{has:.3g}{of}", f"{cycles:.3g}"))
    return found


def sentence(budget: Budget, measured: float | None = None, rest: str = "", who: str = "It") -> str:
    """A kernel's highest ceiling, how much of its time that explains, and whether it waits for it.

    Parameters
    ----------
    budget : Budget
    measured : float, optional
        Cycles of one SM per FMA.
    rest : str
        The stall that most of the remaining time goes to, a key of `STALL_WORDS`.
    who : str
        What the kernel is called.
    """
    reached = None if measured is None else budget.reached(measured)
    full = reached is not None and reached >= FULL
    text = (
        f"{who} {'waits for' if full else 'has its highest ceiling in'} "
        f"{NEEDS[budget.verdict].format(budget.counts)} {budget.cycles:.3g} cycles"
    )
    if measured is None:
        return f"{text} of an SM at least."
    text += f" of the {measured:.3g} that an SM spends on it ({percent(reached)})."
    if rest and not full:
        text += f" For the rest, its warps wait most for {STALL_WORDS[rest]}."
    return text


def waiting(
    rung: str, record: records.Record | None = None, size: int = 2048, **options: int
) -> str:
    """What a rung was waiting for in each language, as the record's profile of it has it.

    Parameters
    ----------
    rung : str
    record : Record, optional
        By default the one of the GPU here, or the course's.
    size : int
        M = N = K of the profile.
    **options : int
        Those left out have the default of each language.

    Returns
    -------
    str
        A paragraph per language, for a page. Where nothing is profiled, it says how to.
    """
    record = record if record is not None else records.load()
    sentences = []
    for engine in LADDER[rung].engines:
        chosen = LADDER[rung].default(engine) | options
        row, same = versions.profile_of(record, rung, engine, chosen, size**3)
        if row is None or not same or row["M"] != size:
            continue
        warps, limits = versions.bounds(record, row.get("dtype", "float32"))
        budget = Budget(sources.of_profile(row, warps), limits)
        rest = sources.rest(row, budget.verdict)
        found = sentence(budget, sources.measured(row), rest, ENGINE_TITLES[engine])
        sentences.append(fill(found, WIDTH))
    if sentences:
        return "\n".join(sentences)
    return fill(
        f"No profile of {rung} at {size}³ is recorded here: on a GPU, `python -m kernels explain "
        f"{rung}` reckons without one.", WIDTH,
    )  # fmt: skip
