"""What a page shows of a widget where its script does not run: its numbers, or its questions.

The numbers are those of the stored settings, from the Python models that the scripts are tested
against.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from typing import Any, NamedTuple

import numpy as np

from kernels.basics.data_sheets import gpu as data_sheet
from kernels.basics.units import grouped, percent, quantity
from kernels.engine.microscope.requests import shared_cost
from kernels.engine.microscope.sites import BANKS
from kernels.host import cdiv
from kernels.host.model import WARP, Access
from kernels.lab.widgets.banks import words
from kernels.measure.occupancy import occupancy
from kernels.records.roofline import Roof
from kernels.rungs.order import LADDER

ENGINES = {"numba": "Numba", "cpp": "CUDA C++", "library": "library"}


class Table(NamedTuple):
    """A table of text: its caption, its headings, and its rows, each led by a heading."""

    caption: str
    headings: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def still(kind: str, state: dict[str, Any]) -> str:
    """Return the tables of a widget, or the questions of a quiz, as HTML.

    Parameters
    ----------
    kind : str
        Name of the widget's class.
    state : dict
        Its traits by name, as a notebook stores them.

    Returns
    -------
    str
        Empty for a class that is none of the course.
    """
    if kind == "Quiz":
        return _quiz(state)
    return "".join(map(_html, TABLES[kind](state))) if kind in TABLES else ""


def _hierarchy(state: dict[str, Any]) -> Iterable[Table]:
    sheet = data_sheet(state["gpu"])
    (x, y), (width, height) = state["grid"], state["block"]
    blocks, threads = x * y, width * height
    resident = occupancy(threads, gpu=sheet)
    at_once = sheet.sms * resident.blocks
    waves = cdiv(blocks, at_once)
    last = blocks - (waves - 1) * at_once
    caption = (
        f"A grid of {x} × {y} blocks of {width} × {height} threads on the {sheet.name}: "
        f"{sheet.sms} SMs by its data sheet. Registers and shared memory are left out of account."
    )
    yield Table(
        caption,
        ("what", "how many"),
        [
            ("blocks in the grid", blocks),
            ("threads a block", threads),
            ("warps a block", cdiv(threads, WARP)),
            ("lanes without a thread, a block", -threads % WARP),
            (f"blocks on an SM at once (limit: places for {resident.limiter})", resident.blocks),
            (
                "occupancy: places for warps taken on a full SM",
                percent(resident.fraction),
            ),
            ("blocks on the GPU at once", at_once),
            ("waves", waves),
            ("blocks in the last wave", last),
            ("places the last wave fills", percent(last / at_once)),
            ("places filled, all waves together", percent(blocks / (waves * at_once))),
        ],
    )


def _launch(state: dict[str, Any]) -> Iterable[Table]:
    n, block = state["n"], state["block"]
    blocks = cdiv(n, block)
    warps = blocks * cdiv(block, WARP)
    yield Table(
        f"A vector add of {n} elements with {block} threads per block.",
        ("what", "how many"),
        [
            ("blocks: cdiv(n, block)", blocks),
            ("threads started", blocks * block),
            ("threads with an element", n),
            (f"threads {'the guard stops' if state['guard'] else 'out of bounds'}", -n % block),
            ("warps", warps),
            ("lanes without a thread", warps * WARP - blocks * block),
            ("lanes at work, of all lanes", percent(n / (warps * WARP))),
        ],
    )


def _access(state: dict[str, Any]) -> Iterable[Table]:
    M, N, K, side = (state[name] for name in ("M", "N", "K", "side"))
    models = [LADDER[name].model(M, N, K, block=side) for name in ("naive", "swapped")]

    def row(what: str, matrix: str, count: Callable[[Access], Any]) -> tuple[Any, ...]:
        return (f"{what} {matrix}", *(count((m.reads | m.writes)[matrix]) for m in models))

    yield Table(
        f"Two kernels, C = A·B with M, N, K = {M}, {N}, {K}, in blocks of {side} × {side} threads.",
        ("what", "naive", "swapped"),
        [
            *(
                row("requests, whole launch,", name, lambda access: access.requests)
                for name in "ABC"
            ),
            *(row("sectors, whole launch,", name, lambda access: access.sectors) for name in "ABC"),
            *(
                row("sectors a request, whole launch,", name, lambda a: a.sectors / a.requests)
                for name in "AB"
            ),
            *(
                (f"loads of {name}, whole launch", *(m.loads[name] for m in models))
                for name in "AB"
            ),
        ],
    )


def _banks(state: dict[str, Any]) -> Iterable[Table]:
    wanted = words(**{name: state[name] for name in ("access", "side", "pad", "swizzle", "stride")})
    cost = shared_cost(4 * np.array([wanted]), None, 4)
    queues: dict[int, list[int]] = {}
    for word in wanted:
        queue = queues.setdefault(word % BANKS, [])
        if word not in queue:
            queue.append(word)
    yield Table(
        f"A warp's request to shared memory: {cost.wavefronts} wavefronts.",
        ("lane", "word", "bank", "wavefront"),
        [
            (str(lane), word, word % BANKS, queues[word % BANKS].index(word) + 1)
            for lane, word in enumerate(wanted)
        ],
    )


def _roofline(state: dict[str, Any]) -> Iterable[Table]:
    shown = state["gpus"][state["gpu"]]
    roofs = [Roof(**roof) for roof in shown["roofs"]]
    yield Table(
        f"The roofs of the {shown['name']}; they meet at the ridge, in FLOP/byte.",
        ("roof", "bandwidth", "arithmetic", "ridge"),
        [
            (
                roof.name,
                quantity(roof.bandwidth, "B/s"),
                quantity(roof.compute, "FLOP/s"),
                roof.ridge,
            )
            for roof in roofs
        ],
    )
    counted = state["counted"]
    points = [point for point in shown["points"] if point[counted] is not None]
    if points:
        yield Table(
            f"Recorded products; bytes: {counted}. {shown['source']}",
            ("kernel", "FLOP/byte", "speed", "of the roof"),
            [
                (
                    f"{point['label']}, {ENGINES[point['engine']]}",
                    point[counted],
                    quantity(point["flops"], "FLOP/s"),
                    percent(point["flops"] / roofs[-1].attainable(point[counted])),
                )
                for point in points
            ],
        )


def _tile_player(state: dict[str, Any]) -> Iterable[Table]:
    M, N, K, tile = (state[name] for name in ("M", "N", "K", "tile"))
    sheet = data_sheet(state["gpu"])
    registers = state["registers"].get(state["gpu"], {}).get(str(tile), 0)
    resident = occupancy(tile * tile, registers=registers, shared_bytes=8 * tile * tile, gpu=sheet)
    yield Table(
        f"One block of the tiled kernel, with tiles of {tile} × {tile}, on the {sheet.name}.",
        ("what", "how many"),
        [
            ("threads a block", tile * tile),
            ("shared bytes a block", 8 * tile * tile),
            ("blocks an SM holds", f"{resident.blocks}, limited by {resident.limiter}"),
            ("occupancy", percent(resident.fraction)),
            ("loads a thread", 2 * cdiv(K, tile)),
        ],
    )
    models = [
        LADDER["tiled"].model(M, N, K, tile=tile),
        LADDER["naive"].model(M, N, K, block=tile),
    ]
    yield Table(
        f"The whole product, M, N, K = {M}, {N}, {K}.",
        ("what", "tiled", "naive"),
        [
            ("global loads", *(sum(model.loads.values()) for model in models)),
            ("FLOP per byte asked", *(model.intensity for model in models)),
        ],
    )
    if state["speeds"]:
        yield Table(
            f"Recorded speed of the tiled kernel. {state['recorded']}",
            ("tile", "kernel", "speed"),
            [
                (
                    row["tile"],
                    f"{ENGINES[row['engine']]} on {row['gpu']}",
                    quantity(row["gflops"] * 1e9, "FLOP/s"),
                )
                for row in state["speeds"]
            ],
        )


TABLES: dict[str, Callable[[dict[str, Any]], Iterable[Table]]] = {
    "Access": _access,
    "Banks": _banks,
    "Hierarchy": _hierarchy,
    "Launch": _launch,
    "Roofline": _roofline,
    "TilePlayer": _tile_player,
}


def _quiz(state: dict[str, Any]) -> str:
    """The questions; each option unfolds what there is to say about it, without a script."""
    items = []
    for question in state["questions"]:
        options = "".join(
            f"<details><summary>{_words(option['text'])}</summary>"
            f"<p>{'Right.' if option['right'] else 'Not so.'} {_words(option['why'])}</p></details>"
            for option in question["options"]
        )
        items.append(f"<li><p>{_words(question['ask'])}</p>{options}</li>")
    return f"<ol>{''.join(items)}</ol>"


def _words(text: str) -> str:
    """Text as HTML; what stands between backticks is code."""
    parts = (escape(part) for part in text.split("`"))
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))


def _html(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in table.headings)
    body = "".join(
        f'<tr><th scope="row">{_text(first)}</th>'
        + "".join(f"<td>{_text(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in table.rows
    )
    return (
        f"<table><caption>{escape(table.caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _text(value: Any) -> str:
    if isinstance(value, int):
        return grouped(value)
    return f"{value:.3g}" if isinstance(value, float) else escape(value)
