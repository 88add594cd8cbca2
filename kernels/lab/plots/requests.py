"""One warp's request, drawn: which thread asks for which bytes, by sector or by bank."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernels.lab import plots
from kernels.lab.plots.palette import INK
from microscope import BANK_BYTES, BANKS, SECTOR, Request, Site

__all__ = ["describe", "request_picture"]

SECTORS_A_ROW = 4


def request_picture(site: Site) -> Figure:
    """Draw the first request of a site.

    Global memory: one frame a 32-byte sector that moves; a filled cell is an element that some
    thread asked for and carries the lane numbers, an empty cell moved for nothing. Shared memory:
    one column a bank; words of one bank that differ stand below each other, and each row is one
    pass over the banks.

    Parameters
    ----------
    site : Site
        From a trace; its `example` is drawn.

    Returns
    -------
    Figure
        Use ``plots.show(figure, alt=describe(site))``.

    Raises
    ------
    ValueError
        If the site is of local memory, which has neither sectors nor banks to show.
    """
    request = _example(site)
    return _banks(request) if request.space == "shared" else _sectors(request)


def describe(site: Site) -> str:
    """Say in one sentence what `request_picture` shows: its alternative text."""
    request = _example(site)
    lanes = int(request.active.sum())
    head = f"{site.op} {site.expr}, warp {request.warp} of block {request.block}: {lanes} lanes ask"
    distinct = len(np.unique(request.addresses[request.active]))
    if request.space == "shared":
        rows = max(len(words) for words in _words(request).values())
        return f"{head} for {distinct} elements; the busiest bank holds {rows} different words."
    sectors = len(request.sectors)
    used = distinct * request.itemsize
    return (
        f"{head} for {distinct} elements, {used} bytes, in {sectors} sectors: "
        f"{sectors * SECTOR} bytes move."
    )


def _example(site: Site) -> Request:
    if site.example is None:
        raise ValueError(
            f"line {site.line}: {site.expr} is {site.space} memory; only requests to global and"
            " shared memory have a picture"
        )
    return site.example


def _lanes(request: Request) -> dict[int, list[int]]:
    """Lanes that ask for each byte address."""
    lanes = defaultdict(list)
    for lane in np.flatnonzero(request.active):
        lanes[int(request.addresses[lane])].append(int(lane))
    return lanes


def _label(lanes: list[int]) -> str:
    """Lane numbers in little room: ``7``, ``0–31``, or how many there are."""
    first, last = lanes[0], lanes[-1]
    if first == last:
        return str(first)
    return f"{first}–{last}" if last - first == len(lanes) - 1 else f"{len(lanes)} lanes"


def _sectors(request: Request) -> Figure:
    sectors, lanes = request.sectors, _lanes(request)
    rows = -(-len(sectors) // SECTORS_A_ROW)
    fig, ax = plots.figure(height=0.5 + 0.42 * rows)
    cell = min(request.itemsize, 8)  # the width of what is drawn, in bytes
    for number, start in enumerate(sectors):
        row, column = divmod(number, SECTORS_A_ROW)
        x, y = column * (SECTOR + 4), -1.5 * row
        for byte in range(0, SECTOR, cell):
            asked = [n for a in range(start + byte, start + byte + cell) for n in lanes.get(a, ())]
            _cell(ax, x + byte, y, cell, asked)
        ax.add_patch(Rectangle((x, y), SECTOR, 1, fill=False, lw=1.6, ec=INK))
        ax.text(x, y + 1.12, f"byte {start}", fontsize=6.5)
    _frame(ax, SECTORS_A_ROW * (SECTOR + 4) - 4, rows * 1.5)
    return fig


def _words(request: Request) -> dict[int, dict[int, list[int]]]:
    """For each bank, the different words asked for and the lanes that ask."""
    banks = defaultdict(lambda: defaultdict(list))
    for address, lanes in sorted(_lanes(request).items()):
        for word in range(address // BANK_BYTES, -(-(address + request.itemsize) // BANK_BYTES)):
            banks[word % BANKS][word] += lanes
    return banks


def _banks(request: Request) -> Figure:
    banks = _words(request)
    rows = max(len(words) for words in banks.values())
    fig, ax = plots.figure(height=0.7 + 0.3 * rows)
    for bank in range(BANKS):
        ax.text(bank + 0.5, 1.15, str(bank), ha="center", fontsize=6.5)
        words = list(banks.get(bank, {}).values())
        for row in range(rows):
            _cell(ax, bank, -row, 1, words[row] if row < len(words) else [])
    ax.text(0, 1.75, "bank", fontsize=6.5)
    _frame(ax, BANKS, rows, top=2.3)
    return fig


def _cell(ax, x: float, y: float, width: float, lanes: list[int]) -> None:
    """One element or word: filled and labelled with its lanes, or left empty."""
    fill = {"fc": plots.THREAD, "alpha": 0.35} if lanes else {"fc": "none"}
    ax.add_patch(Rectangle((x, y), width, 1, lw=0, **fill))
    ax.add_patch(Rectangle((x, y), width, 1, fill=False, lw=0.5, ec=INK))
    if lanes:
        text = _label(lanes)
        size = 7 if len(text) <= 2 else 4.6
        ax.text(x + width / 2, y + 0.5, text, ha="center", va="center", fontsize=size)


def _frame(ax, width: float, depth: float, top: float = 1.6) -> None:
    ax.set_xlim(-0.3, width + 0.3)
    ax.set_ylim(-depth + 0.8, top)
    ax.axis("off")
