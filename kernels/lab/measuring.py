"""How fast a kernel is: timed on a GPU; elsewhere, the recorded speed of the rung it matches."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape
from typing import Any
from urllib.parse import urlencode

import numpy as np

from kernels.backend import cuda, on_gpu
from kernels.backend.device import where
from kernels.basics.units import quantity
from kernels.measure import oracle, timing
from kernels.records import RecordError, load
from kernels.rungs.order import LADDER
from microscope import Trace, trace

__all__ = ["PageLink", "measure"]

#: Sides of the matrices that are timed, and of those whose speeds are recorded.
SIDE, RECORDED = 2048, 4096
#: The section of the page on the reader's GPU that runs one rung.
PLACE = "../your-gpu.html?{}#choose-options-or-take-something-away"


class PageLink:
    """A link to the page that runs a rung on the reader's own GPU.

    Parameters
    ----------
    rung : str
    options : dict of str to int
    """

    def __init__(self, rung: str, options: dict[str, int]) -> None:
        self.title = LADDER[rung].title
        self.address = PLACE.format(urlencode({"rung": rung, **options}))

    def __repr__(self) -> str:
        return f"On your own GPU: choose {self.title!r} on the page Your GPU."

    def _repr_html_(self) -> str:
        title = escape(f"{self.title}, on your own GPU")
        return f'<p>Race this idea: <a href="{escape(self.address)}">{title}</a>.</p>'


def measure(
    kernel: Any,
    grid: Sequence[int],
    block: Sequence[int],
    arrays: tuple[Any, Any, Any],
    like: str,
    **options: int,
) -> PageLink | None:
    """Print how fast a kernel of a matrix product is.

    On a GPU it's timed at 2048³. Elsewhere it's traced with `arrays`, and so is the rung that it
    should be: where both make as many requests per FMA, that rung's recorded speed is printed.

    Parameters
    ----------
    kernel : kernel of ``cuda.jit``
        Takes A, B and C, and needs no guards at 2048³.
    grid, block : pairs of int
        The launch for `arrays`, x first.
    arrays : A (M×K), B (K×N) and C (M×N), float32
    like : str
        A rung of the ladder.
    **options : int
        The rung's, such as ``tile=16``.

    Returns
    -------
    PageLink or None
        Without a GPU, where to race this rung; a cell shows it.
    """
    M, N = arrays[2].shape
    if on_gpu:
        A, B = oracle.inputs(SIDE, SIDE, SIDE)
        held = [cuda.to_device(each) for each in (A, B, np.zeros_like(A))]
        large = grid[0] * SIDE // N, grid[1] * SIDE // M
        spent = timing.time(lambda: kernel[large, block](*held)).median
        print(f"Measured on {where()}, {SIDE}³: {quantity(2 * SIDE**3 / spent, 'FLOP/s')}")
        return None
    text = " ".join(_without_a_gpu(trace(kernel, grid, block, *arrays), arrays, like, options))
    print(textwrap.fill(text, 78))
    return PageLink(like, options)


def _without_a_gpu(
    mine: Trace, arrays: tuple[Any, Any, Any], like: str, options: dict[str, int]
) -> list[str]:
    """What is said of a traced kernel: whether it is the rung, and what is recorded of that."""
    rung, record = LADDER[like], load()
    named = ", ".join([rung.title, *(f"{name} {value}" for name, value in options.items())])
    M, N = arrays[2].shape
    if not mine.outputs:
        return [f"No GPU here, and the kernel did not run: {mine.problems[0].message}."]
    try:
        oracle.check(list(mine.outputs.values())[-1], *arrays[:2])
    except AssertionError:
        return ["No GPU here, and C is wrong: mend the kernel before you ask how fast it is."]
    if mine.problems:
        return ["No GPU here, and the tracer has a complaint about this kernel: mend that first."]
    try:
        theirs = trace(rung.kernel(**options), *rung.launch(M, N, **options), *arrays)
        row = record.timing(like, M=RECORDED, **options)
    except (ValueError, RecordError):
        return [f"No GPU here, and no speed of {named!r} is recorded."]
    recorded = f"{row.speed} at {RECORDED}³ on {record.provenance['gpu']}"
    loads = [_requests(each) for each in (mine, theirs)]
    if loads[0] == loads[1]:
        return [
            f"No GPU here. Per FMA, this kernel makes {loads[0][0]:.3g} load requests to global "
            f"memory and {loads[0][1]:.3g} to shared memory, as the rung {named!r} does.",
            f"Recorded for that: {recorded}.",
        ]
    return [
        f"No GPU here. Per FMA, this kernel makes {loads[0][0]:.3g} load requests to global memory "
        f"and {loads[0][1]:.3g} to shared memory; the rung {named!r} makes {loads[1][0]:.3g} and "
        f"{loads[1][1]:.3g}.",
        f"So they're two kernels. Recorded for the rung: {recorded}.",
    ]


def _requests(seen: Trace) -> tuple[float, float]:
    """Load requests per FMA of a warp: from global memory, and from shared memory."""
    steps = max(seen.work.total_flops / 64, 1)
    found = (seen.count(space=space, op="load")["requests"] for space in ("global", "shared"))
    return tuple(round(requests / steps, 6) for requests in found)
