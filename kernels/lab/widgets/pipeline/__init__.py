"""Loading and computing tiles over time: in turn with one stage, overlapped with more."""

from __future__ import annotations

from typing import NamedTuple

import traitlets

from kernels.lab.widgets.base import Widget, within

TILES = 8  #: of the picture
LIMITS = {"stages": (1, 4), "load": (50, 1600), "compute": (50, 1600), "stage_bytes": (1, 232_448)}


class Pipeline(Widget):
    """A block's tiles over time.

    Parameters
    ----------
    stages : int
        Pairs of tiles that shared memory holds, 1 to 4: 1 is in turn, 2 is a double buffer.
    load : int
        Cycles from the request for a pair of tiles until it has come, 50 to 1600.
    compute : int
        Cycles that its multiply-adds take, 50 to 1600.
    producer : bool
        Whether a producer warp loads, which fills a stage as soon as it is free. The threads that
        also multiply ask for the next pair when they begin with one.
    stage_bytes : int
        Shared memory of a stage, in bytes: (BM + BN)·BK·4 in fp32; 1 to 232,448.

    Examples
    --------
    >>> Pipeline(stages=3, load=800)
    Pipeline(stages=3, load=800, compute=400, producer=False)
    """

    shown = ("stages", "load", "compute", "producer")

    stages = traitlets.Int(2).tag(sync=True)
    load = traitlets.Int(600).tag(sync=True)
    compute = traitlets.Int(400).tag(sync=True)
    producer = traitlets.Bool(False).tag(sync=True)
    stage_bytes = traitlets.Int((128 + 128) * 8 * 4).tag(sync=True)

    _allowed = within(**LIMITS)


class Times(NamedTuple):
    """When a pair of tiles is asked for, has come, is multiplied, and is done with, in cycles."""

    asked: int
    come: int
    begun: int
    done: int


def schedule(
    stages: int, load: int, compute: int, producer: bool, tiles: int = TILES
) -> list[Times]:
    """The times of the first `tiles` pairs of tiles; parameters as of `Pipeline`."""
    times: list[Times] = []
    for tile in range(tiles):
        if producer or stages == 1:
            asked = times[tile - stages].done if tile >= stages else 0
        else:
            asked = times[tile - stages + 1].begun if tile >= stages - 1 else 0
        begun = max(asked + load, times[-1].done if times else 0)
        times.append(Times(asked, asked + load, begun, begun + compute))
    return times


def cycles_per_tile(stages: int, load: int, compute: int, producer: bool) -> float:
    """Cycles from one pair of tiles to the next, once the pipeline runs; as of `Pipeline`."""
    if producer or stages == 1:
        return max(compute, (load + compute) / stages)
    return max(compute, load / (stages - 1))
