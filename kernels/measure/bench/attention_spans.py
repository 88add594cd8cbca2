"""Where the two consumers of Hopper's attention kernel spend their cycles: the clock, stamped.

Thread 0 of each consumer notes the SM's clock four times per tile of keys. The notes take the place
of the logarithms that the kernel returns, so nothing else of it changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernels.backend import cupy
from kernels.backend.device import device
from kernels.measure import probes
from kernels.measure.bench.attention import SHAPES, given
from kernels.measure.bench.step import Step
from kernels.measure.changed import changed
from kernels.measure.timing import time as time_launch
from kernels.primitives import attention as fused
from kernels.primitives import attention_wgmma as hopper
from kernels.ptx.instruction import assembly
from kernels.ptx.operands import u32

FIRST, TILES = 8, 16  #: tiles of keys that are stamped, four times each
SPANS = ("scores", "softmax", "results", "between")  #: waits for scores, softmax, waits for results
WRAP = 1 << 24  #: cycles that a float32 counts exactly


@assembly("mov.u32 <0>, %clock;", gives=(u32,))
def clock32():
    """The lower half of the SM's cycle counter."""


def steps() -> list[Step]:
    """One step, on the GPUs that have the kernel."""
    able = hopper.runs_on(device().compute_capability)
    return [Step("attention, cycle by cycle", lambda: {"attention_spans": rows()})] if able else []


def rows(shape: tuple[int, int, int] = SHAPES[0]) -> list[dict[str, Any]]:
    """The steps of the kernel with their spans, and its products and its softmax alone, timed."""
    turns = {"overlap": False, "pingpong": False}
    found = []
    for name, options in (
        ("wgmma", turns), ("overlap", {"pingpong": False}), ("overlap, ping-pong", {})
    ):  # fmt: skip
        _, operands = timed(stamped(hopper.make_attention_wgmma), shape, options)
        notes = cupy.asnumpy(operands.lse).reshape(-1, 2, 64)[:, :, : 4 * TILES]
        found.append({"kernel": name, **spans(notes.astype(np.int64))})
    for name, make in (("products alone", products), ("softmax alone", powers)):
        timing, _ = timed(make(hopper.make_attention_wgmma), shape, turns)
        found.append({"kernel": name, "seconds": probes.timing(timing)})
    heads, N, D = shape
    return [{**row, "heads": heads, "N": N, "D": D, "dtype": "bfloat16"} for row in found]


def timed(make: Callable[..., Any], shape: tuple[int, int, int], options: dict[str, bool]) -> Any:
    """Time a changed kernel; its timing and the operands that hold what it left."""
    arrays = given(*shape, "bfloat16")
    operands = fused.Heads(*arrays, cupy.zeros_like(arrays[0]))
    original, hopper.make_attention_wgmma = hopper.make_attention_wgmma, make
    try:
        return time_launch(hopper.launcher(operands, False, **options)), operands
    finally:
        hopper.make_attention_wgmma = original


def stamped(make: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel with notes in place of its logarithms: before it starts products, and after."""
    hopper.clock32 = clock32  # a name that the changed text uses
    loop, end = " " * 20, "ptx.settle(s, SCORES)\n"
    release = f"if lane == 0:\n{loop}    ptx.mbarrier_arrive(empty_V + 8 * before)"
    start = f"start_scores(s, queries, sK + slot * TILE)\n{loop}ptx.mbarrier_wait_parity(full_V"
    ready = f"ptx.wgmma_wait_group(PENDING, s, SCORES)\n{loop}"

    def note(k: int) -> str:
        return (
            f"if tid == 0 and n >= {FIRST} and n < {FIRST + TILES}:\n{loop}    "
            f"lse[head * M + first + upper + 4 * (n - {FIRST}) + {k}] = "
            f"float32(clock32() & uint32({WRAP - 1}))\n{loop}"
        )

    make = changed(make, start, note(0) + start)
    make = changed(make, ready + "if", ready + note(1) + "if")
    make = changed(make, end, f"{end}{loop}{note(2)}\n")
    make = changed(make, release, note(3) + release)
    return changed(
        make, "lse[row + 8 * r] = (largest[r] * scale) * LN2 + math.log(total[r])", "pass"
    )


def products(make: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel without its softmax: scores become weights as they are."""
    softmax, loop = "softmax(s, largest, total, rescale, scale)", " " * 20
    make = changed(make, f"{softmax}\n{loop}ptx.settle", "ptx.settle")
    rows = "ptx.mbarrier_arrive(empty_V + 8 * before)"
    return changed(make, f"{rows}\n                    multiply_rows(o, rescale)", rows)


def powers(make: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel without its products: the softmax of whatever the registers hold."""
    first = "multiply_keys(s, q, k, d)  # the first wgmma overwrites the scores (scale-d = 0)"
    make = changed(make, first, "pass")
    return changed(make, "multiply_values(o, p[key // 16], v, 1)", "pass")


def spans(notes: np.ndarray) -> dict[str, Any]:
    """Median cycles of each span, and the share of a softmax during which the other has its own.

    Parameters
    ----------
    notes : array of int, shape (blocks, 2, 4 · tiles)
        What each block's two consumers noted, modulo `WRAP`.
    """
    times = notes - notes[:, :1, :1]
    times = np.where(times < -WRAP // 2, times + WRAP, times)
    times = times[(np.diff(times, axis=2) >= 0).all(axis=(1, 2))]
    each = {name: times[:, :, k::4] for k, name in enumerate(SPANS)}
    lasting = np.diff(times, axis=2)
    cycles = {name: float(np.median(lasting[:, :, k::4])) for k, name in enumerate(SPANS)}
    begin, end = each["softmax"], each["results"]
    shared = np.minimum(end[:, 0, :, None], end[:, 1, None]) - np.maximum(
        begin[:, 0, :, None], begin[:, 1, None]
    )
    both = shared.clip(0).sum() / ((end - begin).sum() / 2)
    tile = float(np.median(np.diff(each["scores"], axis=2)))
    return {"cycles": cycles | {"tile": tile}, "both": round(float(both), 3)}
