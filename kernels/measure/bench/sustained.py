"""A burst, and launches without a break: a GPU at its power limit lowers its clock."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from math import ceil
from typing import Any

import numpy as np

from kernels.backend import cupy
from kernels.host import half
from kernels.measure.bench.case import LIMIT
from kernels.measure.bench.case_of_bytes import case_of
from kernels.measure.bench.step import Step
from kernels.rungs.order import LADDER

SIZES = (4096, 8192)
#: By number format: the rungs that are compared with the library.
RUNGS = {
    "float32": ("async_tiled",),
    "bfloat16": ("wgmma", "specialized", "persistent"),
    half.E4M3: ("fp8",),
}
BATCH = 0.02  #: seconds of launches between two events
SETTLED, BATCHES = 50, 70  #: batches until the clock falls no further, and all of them
ROUNDS = 2


def steps() -> list[Step]:
    """Each number format at each size."""
    return [
        Step(
            f"sustained {n}³, {dtype}",
            lambda n=n, dtype=dtype: {"sustained": measured(n, dtype)},
        )
        for dtype, names in RUNGS.items()
        if not LADDER[names[-1]].missing(dtype)
        for n in SIZES
    ]


def measured(n: int, dtype: str) -> list[dict[str, Any]]:
    """A row for the library, and one for each rung in each language, at n³.

    Each is timed in a burst, with rests between, and then without a break, in turn with the others.
    """
    case = case_of(n, n, n, dtype)
    whats = [("cublas", "library", {})] + [
        (name, engine, LADDER[name].default(engine))
        for name in RUNGS[dtype]
        for engine in LADDER[name].engines
    ]
    launches = [
        case.library() if engine == "library" else case.launch(LADDER[name], engine, options)
        for name, engine, options in whats
    ]
    bursts = case.measure_in_turn(launches, LIMIT * len(launches) / 2)
    with case.timed():
        rounds = [
            [
                without_rest(launch, burst["seconds"]["median"])
                for launch, burst in zip(launches, bursts, strict=True)
            ]
            for _ in range(ROUNDS)
        ]
    return [
        {
            "rung": name, "engine": engine, "options": options,
            **{key: burst[key] for key in ("dtype", "M", "N", "K", "gflops", "correct")},
            "sustained": middle(each, 2 * n**3),
        }
        for (name, engine, options), burst, each in zip(
            whats, bursts, zip(*rounds, strict=True), strict=True
        )
    ]  # fmt: skip


def middle(rounds: Sequence[dict[str, float]], flop: int) -> dict[str, float]:
    """The median of each figure of several rounds, and the speed of `flop` operations."""
    found = {key: float(np.median([one[key] for one in rounds])) for key in rounds[0]}
    return {"gflops": float(f"{flop / found.pop('seconds') / 1e9:.5g}"), **found}


def without_rest(launch: Callable[[], object], seconds: float) -> dict[str, float]:
    """Launch for more than a second without a break: time and power at the end.

    Parameters
    ----------
    launch : callable
    seconds : float
        Of one launch, about.

    Returns
    -------
    dict
        ``seconds`` of a launch, and, where nvidia-smi tells them, ``watts`` and ``limit``.
    """
    batch = ceil(BATCH / seconds)
    events = [cupy.cuda.Event() for _ in range(BATCHES + 1)]
    smi = None
    events[0].record()
    for number, event in enumerate(events[1:], 1):
        for _ in range(batch):
            launch()
        event.record()
        if number > 1:  # one batch is queued, so the GPU never waits for the host
            events[number - 1].synchronize()
        if number == SETTLED:
            smi = asked_for_power()
    events[-1].synchronize()
    times = [
        cupy.cuda.get_elapsed_time(a, b) * 1e-3 / batch
        for a, b in zip(events[SETTLED:-1], events[SETTLED + 1 :], strict=True)
    ]
    return {"seconds": float(np.median(times)), **power(smi)}


def asked_for_power() -> subprocess.Popen | None:
    """nvidia-smi, started: what this GPU draws, over the last second, and what it may."""
    tool = shutil.which("nvidia-smi")
    if not tool:
        return None
    bus = cupy.cuda.Device().pci_bus_id
    query = ["--query-gpu=power.draw,enforced.power.limit", "--format=csv,noheader,nounits"]
    return subprocess.Popen([tool, "-i", bus, *query], stdout=subprocess.PIPE, text=True)


def power(smi: subprocess.Popen | None) -> dict[str, float]:
    """What nvidia-smi answered, in watts; nothing where it doesn't say."""
    try:
        drawn, limit = map(float, smi.communicate()[0].split(","))
    except (AttributeError, ValueError):
        return {}
    return {"watts": drawn, "limit": limit}
