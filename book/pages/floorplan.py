"""The plan of the GPU under a chapter's title, with the place that the chapter is about lit.

What it counts comes from the record: the SMs, the units in one of them, the size of each place, and
the speed of the link to another GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from bs4 import BeautifulSoup, Tag
from sphinx.util import logging

from kernels import records
from kernels.basics.units import quantity
from kernels.lab import gpus
from kernels.lab.pages import folder_of, path_of, settings

logger = logging.getLogger(__name__)

COLUMNS = 11  # of SMs
STACKS = 6  # of global memory
PARTS = 4  # of an SM
KIB = 2**10
#: The height of both drawings, and of what stands above the labels of the wide one.
HIGH, WALL = 118, 6


@dataclass(frozen=True)
class Place:
    """A place of the GPU: its name, its colour in book.css, and what a caption says of it."""

    title: str
    colour: str
    says: Callable[[dict[str, Any]], str]


def cores(device: dict[str, Any]) -> int:
    """The float32 units of an SM: each does two operations per clock."""
    return round(device["fp32_peak"] / (2 * device["clock"] * device["sms"]))


PLACES = {
    "host": Place(
        "Host",
        "memory-host",
        lambda d: "its CPU launches kernels and copies data, over PCIe",
    ),
    "link": Place(
        "Link between GPUs",
        "accent",
        lambda d: f"{quantity(gpus.machine(gpus.load_gpus(2)).bandwidth, 'B/s')} each way",
    ),
    "global": Place(
        "Global memory",
        "memory-global",
        lambda d: f"{d['memory_bytes'] / KIB**3:.0f} GiB, shared by all SMs",
    ),
    "L2": Place(
        "L2 cache",
        "memory-l2",
        lambda d: f"{d['l2_bytes'] / KIB**2:.0f} MiB, shared by all SMs",
    ),
    "sm": Place(
        "Streaming multiprocessor, SM",
        "accent",
        lambda d: f"{d['sms']} of them; a block runs on one",
    ),
    "shared": Place(
        "Shared memory",
        "memory-shared",
        lambda d: f"{d['shared_per_sm'] / KIB:.0f} KiB per SM, open to all threads of a block",
    ),
    "registers": Place(
        "Registers",
        "memory-registers",
        lambda d: (
            f"{d['registers_per_sm'] / KIB:.0f} Ki × 32 bits per SM; each belongs to one thread"
        ),
    ),
    "cores": Place(
        "FP32 lanes",
        "thread",
        lambda d: f"{cores(d)} per SM, one multiply-add each per clock",
    ),
    "tensor": Place(
        "Tensor cores",
        "matrix-b",
        lambda d: f"{PARTS} per SM; each multiplies small matrices in one instruction",
    ),
}


def dress(body: Tag, page: str) -> None:
    """Put the plan under the title of a chapter's page, and under what runs it."""
    name = page.rpartition("/")[2]
    if not path_of(name).is_file():
        return
    lit = settings(name).get("place")
    if lit not in PLACES:
        there = f"{folder_of(name).name}/chapter.toml"
        logger.warning("%s has place = %r: choose one of %s", there, lit, ", ".join(PLACES))
        return
    device = records.load().device
    place = PLACES[lit]
    figure = (
        f'<figure class="floor" style="--lit:var(--{place.colour})">{plan(lit, device, 760)}'
        f"{plan(lit, device, 360)}<figcaption><b>{place.title}</b>: {place.says(device)}. "
        f"The plan of an {device['name']}, schematic.</figcaption></figure>"
    )
    body.select_one(".live-bar").insert_after(BeautifulSoup(figure, "html.parser"))


def plan(lit: str, device: dict[str, Any], width: int) -> str:
    """The drawing, as wide as a page or as a telephone, with fewer labels."""
    wide, height = width > 500, HIGH + 34
    return (
        f'<svg class="plan {"wide" if wide else "narrow"}" viewBox="0 0 {width} {height}"'
        f' role="img" aria-label="Plan of the GPU. Lit: {PLACES[lit].title}.">'
        f"{''.join(_parts(lit, device, width, wide))}</svg>"
    )


def _parts(lit: str, device: dict[str, Any], width: int, wide: bool) -> Iterator[str]:
    """The pieces from left to right: what is outside, memory, L2, all SMs, one of them enlarged."""

    def boxes(place: str, *places: tuple[float, float, float, float]) -> str:
        path = "".join(
            f"M{x:.1f} {y:.1f}h{w:.1f}v{h:.1f}h-{w:.1f}z".replace(".0", "") for x, y, w, h in places
        )
        return f'<path{_class(place == lit)} d="{path}"/>'

    def label(
        x: float, y: float, text: str, place: str, anchor: str = "start", narrow: str = ""
    ) -> str:
        if not (wide or narrow):
            return ""
        text = text if wide else narrow
        at = f'x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}"'
        return f"<text {at}{_class(place == lit)}>{text}</text>"

    gap = 18 if wide else 8
    outside, memory, cache = (72, 84, 34) if wide else (16, 20, 16)
    high = (HIGH - 4 * (STACKS - 1)) / STACKS
    below = WALL + HIGH + 20
    box = (HIGH - 26) / 2
    for place, text, top in (("host", "host", WALL), ("link", "other GPUs", WALL + HIGH - box)):
        wire = f"M{outside} {top + box / 2:g}h{gap}"
        yield f'<path class="wire{" lit" * (place == lit)}" d="{wire}"/>'
        yield boxes(place, (1, top, outside, box))
        yield label(1, top + box + (20 if place == "link" else 16), text, place)
    left = 1 + outside + gap
    yield boxes("global", *((left, WALL + i * (high + 4), memory, high) for i in range(STACKS)))
    yield label(left if wide else 0, below, "global memory", "global", narrow="memory")
    left += memory + gap
    yield boxes("L2", (left, WALL, cache, HIGH))
    yield label(left + cache / 2, below, "L2", "L2", "middle", "L2")

    left += cache + gap
    cell = HIGH / -(-device["sms"] // COLUMNS)
    chosen = COLUMNS * (device["sms"] // COLUMNS // 2) - 1
    squares = [
        (left + i % COLUMNS * cell, WALL + i // COLUMNS * cell, cell - 2, cell - 2)
        for i in range(device["sms"])
    ]
    x, y, side, _ = squares.pop(chosen)
    yield boxes("sm", *squares)
    yield f'<rect class="one" x="{x:.1f}" y="{y:.1f}" width="{side:.1f}" height="{side:.1f}"/>'
    yield label(left, below, f"{device['sms']} SMs", "sm", narrow=f"{device['sms']} SMs")

    left += COLUMNS * cell + (30 if wide else 16)
    across = width - left - (106 if wide else 1)
    yield (
        f'<path class="beam" d="M{x + side:.1f} {y:.1f}L{left:.1f} {WALL}v{HIGH}'
        f'L{x + side:.1f} {y + side:.1f}z"/>'
        f'<rect class="frame{" lit" if lit == "sm" else ""}" x="{left:.1f}" y="{WALL}" '
        f'width="{across:.1f}" height="{HIGH}" rx="4"/>'
    )
    pad, count = (8, 8) if wide else (5, 4)
    part = (across - 5 * pad) / PARTS
    starts = [left + pad + i * (part + pad) for i in range(PARTS)]
    rows = cores(device) / PARTS / count
    top, tensor, shared = WALL + pad, WALL + HIGH - 2 * pad - 37, WALL + HIGH - pad - 18
    unit, step = part / count, (tensor - 4 - (top + 19)) / rows
    yield boxes("registers", *((start, top, part, 15) for start in starts))
    yield boxes(
        "cores",
        *(
            (start + i % count * unit, top + 19 + i // count * step, unit - 1.6, step - 1.6)
            for start in starts
            for i in range(round(rows * count))
        ),
    )
    yield boxes("tensor", *((start, tensor, part, 19) for start in starts))
    yield boxes("shared", (left + pad, shared, across - 2 * pad, 18))
    yield label(left, below, "one SM", "sm", narrow="one SM")
    for row, text, place in (
        (top + 12, "registers", "registers"),
        ((top + tensor) / 2 + 12, "FP32 lanes", "cores"),
        (tensor + 14, "tensor cores", "tensor"),
        (shared + 13, "shared mem.", "shared"),
    ):
        yield label(width - 98, row, text, place)


def _class(lit: bool) -> str:
    return ' class="lit"' if lit else ""
