"""Where the counts of a budget come from: the hardware, the microscope, a compiled loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kernels.budget.ceilings import Counts

__all__ = [
    "OF_A_STEP",
    "WARP",
    "alone",
    "elsewhere",
    "fmas",
    "joined",
    "measured",
    "of_loop",
    "of_profile",
    "of_trace",
    "rest",
    "stored",
]

WARP = 32  #: threads
SECTOR = 32  #: bytes
#: Waits that others cause: a full queue, a busy unit, another warp's turn.
OF_OTHERS = ("not_selected", "math_pipe_throttle", "mio_throttle", "lg_throttle", "gmma")
#: Waits that come with each pair of tiles, however many FMAs it is good for.
OF_A_STEP = ("long_scoreboard", "barrier")
#: Of all waits, those that say the unit of a ceiling is busy; the others say why it is not reached.
OF_CEILING = {
    "issue": ("not_selected",),
    "wavefronts": ("mio_throttle", "lg_throttle", "short_scoreboard"),
    "fp32": ("math_pipe_throttle",),
    "tensor": ("math_pipe_throttle", "gmma", "warpgroup_arrive"),
    "port": ("long_scoreboard",),
    "l2": ("long_scoreboard",),
    "dram": ("long_scoreboard",),
    "latency": (),
}
#: A warp that waits for these is not waiting.
IDLE = ("selected", "not_selected")


def fmas(M: int, N: int, K: int) -> float:
    """FMAs of warps in a product, 32 multiply-adds each."""
    return M * N * K / WARP


def measured(row: Mapping[str, Any]) -> float:
    """Cycles of one SM per FMA, as a profile has them: instructions over instructions per cycle."""
    return row["instructions"] / row["ipc"] / fmas(row["M"], row["N"], row["K"])


def of_profile(row: Mapping[str, Any], warps_per_sm: int = 64) -> Counts:
    """Counts of the hardware.

    Parameters
    ----------
    row : mapping
        A row of a record's table ``profiles``.
    warps_per_sm : int
        Warps that an SM of that GPU can hold.
    """
    number = fmas(row["M"], row["N"], row["K"])
    instructions = row["instructions"] / number
    counts = Counts(
        instructions=instructions,
        wavefronts=row["l1_wavefronts"] / number,
        fp32=row["ffma"] / WARP / number,
        # In float32 the counter sees a trickle of other things.
        tensor=row["tensor_unit"] * measured(row) if row.get("dtype") != "float32" else None,
        l2_bytes=(row["l2_read_bytes"] + row["l2_write_bytes"]) / number,
        dram_bytes=(row["dram_read_bytes"] + row["dram_write_bytes"]) / number,
        l2=row["l2_throughput"] * measured(row) if "l2_throughput" in row else None,
        wait=instructions * _spent(row, (*OF_OTHERS, "barrier")) or None,
        warps=warps_per_sm * row["occupancy_achieved"],
    )
    return _from("profile", counts)


def alone(row: Mapping[str, Any], waits: tuple[str, ...] = ()) -> float | None:
    """Cycles that a warp of a profile spends on each FMA, barriers included, besides issuing.

    Without other blocks beside it, a block has nothing to do meanwhile.

    Parameters
    ----------
    row : mapping
    waits : tuple of str
        Only those for these stalls, such as `OF_A_STEP`.
    """
    stalls = row.get("stalls")
    if not stalls:
        return None
    instructions = row["instructions"] / fmas(row["M"], row["N"], row["K"])
    chosen = sum(stalls.get(name, 0.0) for name in waits)
    return instructions * (chosen if waits else _spent(row, OF_OTHERS) - 1)


def stored(row: Mapping[str, Any]) -> float:
    """Sectors that the stores of a profile touch, over those that C fills: 1, or more.

    Bytes that the TMA unit stores are not among them. Of a product in several launches (`products`)
    C's sectors are not told from others.
    """
    if "products" in row["options"]:
        return 1.0
    return max(1.0, row["store_sectors"] * SECTOR / (4 * row["M"] * row["N"]))


def of_trace(trace: Any) -> Counts:
    """Counts of the microscope: wavefronts, and the least bytes that have to come.

    They are of the source as written: a compiler merges loads of neighbours. For a request to
    global memory, L1 takes one wavefront per 128-byte line.

    Parameters
    ----------
    trace : microscope.trace.Trace
        Of a whole launch, or of blocks like all others.

    Raises
    ------
    ValueError
        If the kernel does no multiply-add.
    """
    number = trace.work.flops.get("float32", 0) / 2 / WARP
    if not number:
        raise ValueError(
            f"{trace.kernel} did no float32 multiply-add: the budget counts by these; check its "
            "sizes, grid and block"
        )
    wavefronts = sum(
        site.wavefronts if site.space == "shared" else site.lines
        for site in trace.sites
        if site.space != "local"
    )
    counts = Counts(
        wavefronts=wavefronts / number,
        fp32=1.0,
        l2_bytes=trace.work.bytes_unique / number,
    )
    return _from("trace", counts)


def of_loop(loop: Mapping[str, Any], source: str) -> Counts:
    """Counts of the innermost loop as a compiler left it.

    Parameters
    ----------
    loop : mapping
        ``instructions`` of one turn, and the ``multiply_adds`` among them, as `Loop.counts` of
        `kernels.measure.sass` has them.
    source : str
        Such as ``"SASS"`` or ``"PTX"``.
    """
    counts = Counts(instructions=loop["instructions"] / loop["multiply_adds"], fp32=1.0)
    return _from(source, counts)


def joined(*several: Counts) -> Counts:
    """Counts of several sources; of two that both have one, the first's."""
    first, *others = several
    for other in others:
        new = [name for name in other.sources if name not in first.sources]
        lacking = {name: getattr(other, name) for name in new}
        first = replace(first, **lacking, sources={**other.sources, **first.sources})
    return first


def elsewhere(known: Counts, tensor: float | None) -> Counts:
    """The counts of a kernel on another GPU: what it does is the same, what it waits for is not.

    Parameters
    ----------
    known : Counts
    tensor : float or None
        Multiply-adds of an SM's tensor cores per cycle there.
    """
    own = dict.fromkeys(("l2", "wait", "warps"))
    sources = {name: source for name, source in known.sources.items() if name not in own}
    busy = WARP / tensor if tensor and known.tensor else None
    return replace(known, **own, tensor=busy, sources=sources)


def rest(row: Mapping[str, Any], verdict: str) -> str:
    """What else a profile's warps waited for most: the name of a stall, or nothing."""
    others = {
        name: cycles
        for name, cycles in row.get("stalls", {}).items()
        if name not in (*IDLE, *OF_CEILING[verdict])
    }
    return max(others, key=others.__getitem__) if others else ""


def _spent(row: Mapping[str, Any], others: tuple[str, ...]) -> float:
    """Cycles per instruction of a warp, but for the waits that are named."""
    return sum(cycles for name, cycles in row.get("stalls", {}).items() if name not in others)


def _from(source: str, counts: Counts) -> Counts:
    names = [
        name for name in vars(counts) if name != "sources" and getattr(counts, name) is not None
    ]
    return replace(counts, sources=dict.fromkeys(names, source))
