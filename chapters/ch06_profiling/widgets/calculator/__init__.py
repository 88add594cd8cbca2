"""A calculator of budgets: what a rung waits for, and how long it takes, at any tile and size.

Python works out every state that the sliders reach; the script looks them up.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product as every
from typing import Any

import traitlets

from kernels import records
from kernels.budget import product, verdict, versions
from kernels.host.options import Options
from kernels.host.rung import ENGINE_TITLES, Values
from kernels.lab.widgets.base import Widget, plain
from kernels.rungs.order import LADDER

#: Values of M, N and K: those of the record.
SIZES = (128, 1024, 2048, 4096, 8192)
#: The rungs to choose from, with tiles beside their defaults.
TILES: dict[str, tuple[Values, ...]] = {
    "swapped": ({"block": 8}, {"block": 16}, {"block": 32}),
    "naive": ({"block": 8}, {"block": 16}, {"block": 32}),
    "tiled": ({"tile": 8}, {"tile": 16}, {"tile": 32}),
    "thread_tiled_1d": ({}, {"TM": 16}),
    "thread_tiled": ({"BM": 64, "BN": 64, "TM": 4, "TN": 4}, {}),
    "vectorized": ({"BM": 64, "BN": 64, "TM": 4, "TN": 4}, {}),
    "warp_tiled": ({},),
    "serpentine": ({},),
    "async_tiled": ({},),
    "mma": ({},),
    "wgmma": ({},),
    "persistent": ({},),
}


class Calculator(Widget):
    """The budget of a rung.

    Parameters
    ----------
    rung : str
    engine : {"numba", "cpp"}
    tile : int
        Which of the rung's tiles, counted from 0.
    shape : list of int
        M, N and K, each one of `SIZES`.

    Attributes
    ----------
    versions : list of dict
        A rung in one language with one set of options each: its ceilings, its sentence, and for
        every M, N and K (K's values next to each other) the predicted microseconds, cycles per FMA,
        TFLOP/s and rounds of blocks; what was recorded, by the same numbers.
    gpu, source : str
        What all that is of.
    """

    shown = ("rung", "engine", "tile", "shape")

    rung = traitlets.Enum(tuple(TILES), "naive").tag(sync=True)
    engine = traitlets.Enum(tuple(ENGINE_TITLES), "numba").tag(sync=True)
    tile = traitlets.Int(2, min=0).tag(sync=True)
    shape = traitlets.List(traitlets.Enum(SIZES), [2048] * 3, 3, 3).tag(sync=True)
    sizes = traitlets.List(list(SIZES)).tag(sync=True)
    versions = traitlets.List().tag(sync=True)
    gpu = traitlets.Unicode().tag(sync=True)
    source = traitlets.Unicode().tag(sync=True)

    def __init__(self, **settings: Any) -> None:
        super().__init__(**self.of_records() | settings)

    @classmethod
    def of_records(cls) -> dict[str, Any]:
        if not records.names():
            return {"versions": [], "gpu": "", "source": ""}
        record = records.load()
        found = _known(record.name, str(record.provenance), str(records.folder()))
        return {"versions": found, "gpu": record.sheet, "source": record.caption()}


@lru_cache(maxsize=4)
def _known(name: str, *_: str) -> list[dict[str, Any]]:
    """All versions on the GPU of a record."""
    record, found = records.load(name), []
    for rung, sets in TILES.items():
        for engine in LADDER[rung].engines:
            default = LADDER[rung].default(engine)
            for chosen in sets:
                try:
                    found.append(_version(record, rung, engine, default | chosen))
                except (LookupError, ValueError):  # never profiled there, or too large for C++
                    continue
    return plain(found)


def _version(record: records.Record, name: str, engine: str, options: Values) -> dict[str, Any]:
    rung = LADDER[name]
    # A product on tensor cores is over at 2048³ before they are filled: there, it waits for data.
    shape = (4096,) * 3 if rung.dtypes[0] == "float32" else (8192,) * 3
    known = versions.version(rung, engine, options, record, shape)
    machine, chosen, dtype = versions.machine(record), rung.Options(**options), rung.dtypes[0]
    states: dict[str, list[float]] = {part: [] for part in ("us", "cycles", "tflops", "rounds")}
    recorded = {}
    for number, (M, N, K) in enumerate(every(SIZES, repeat=3)):
        predicted = product.time(chosen, known.pace, machine, known.resident, (M, N, K), dtype)
        figures = product.figures(predicted.seconds, (M, N, K), machine, dtype)
        for part, value in zip(
            states, (1e6 * predicted.seconds, *figures, predicted.rounds), strict=True
        ):
            states[part].append(_three(value))
        for row in record.rows("timings", rung=name, engine=engine, options=options, dtype=dtype,
                               M=M, N=N, K=K):  # fmt: skip
            figures = product.figures(row.median, (M, N, K), machine, dtype)
            recorded[str(number)] = [_three(value) for value in (1e6 * row.median, *figures)]
    return {
        "rung": name, "title": rung.title, "engine": engine, "tile": _tile(chosen, options),
        "ceilings": verdict.lines(known.budget),
        "say": verdict.sentence(known.budget), "counts": known.pace.source,
        "low": known.pace.low, "high": known.pace.high, "recorded": recorded, **states,
    }  # fmt: skip


def _tile(chosen: Options, options: Values) -> str:
    """The tiles among some options, as a slider shows them."""
    block = "{} × {}".format(*chosen.block_tile)
    return (
        f"{block}, {options['TM']} × {options.get('TN', 1)} per thread"
        if "TM" in options
        else block
    )


def _three(value: float) -> float:
    """Three figures."""
    return float(f"{value:.3g}")
