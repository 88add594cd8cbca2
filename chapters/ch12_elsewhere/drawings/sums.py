"""Sums over the threads of a block: a tree of additions, and prefix sums in steps and in tiles."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernels.lab.plots.drawings import boxes, canvas
from kernels.lab.plots.palette import INK, THREAD, A, C

STEP = 2.2  #: from one row of numbers to the next


def tree(values: Sequence[int]) -> tuple[list[list[int]], list[int]]:
    """Each row of a sum by halves, and how many threads add in the step before it (0 at first)."""
    row, rows, adding = list(values), [list(values)], [0]
    step = len(row) // 2
    while step:
        row = [row[t] + row[t + step] if t < step else row[t] for t in range(len(row))]
        rows.append(row)
        adding.append(step)
        step //= 2
    return rows, adding


def halving(values: Sequence[int]) -> Figure:
    """A sum by halves, from shared memory as it is stored to the sum in its first element.

    Parameters
    ----------
    values : sequence of int
        What the threads begin with; a power of two of them.
    """
    rows, adding = tree(values)
    fig, ax = _rows(len(values), len(rows))
    for number, (row, new) in enumerate(zip(rows, adding, strict=True)):
        _numbers(ax, number, row, range(new) if new else range(len(row)))
        for t in range(new):
            for source in (t, t + new):
                _arrow(ax, source, number - 1, t, number)
        side = f"{new} add" if new else "stored"
        ax.text(-0.3, number * STEP + 0.5, side, ha="right", va="center", fontsize=8)
    return fig


def scan_steps(values: Sequence[int]) -> Figure:
    """Prefix sums in steps: each thread adds what stands 1, 2, 4, … places to its left."""
    count = len(values)
    rows, step, row = [list(values)], 1, list(values)
    fig, ax = _rows(count, (count - 1).bit_length() + 1)
    _numbers(ax, 0, row, range(count))
    while step < count:
        row = [row[t] + (row[t - step] if t >= step else 0) for t in range(count)]
        rows.append(row)
        number = len(rows) - 1
        _numbers(ax, number, row, range(step, count))
        for t in range(step, count):
            _arrow(ax, t - step, number - 1, t, number)
        ax.text(-0.3, number * STEP + 0.5, f"{step} left", ha="right", va="center", fontsize=8)
        step *= 2
    ax.text(-0.3, 0.5, "stored", ha="right", va="center", fontsize=8)
    return fig


def three_passes(values: Sequence[int], tile: int) -> Figure:
    """A scan in three launches: sums of the tiles, their prefix sums, and the tiles themselves.

    Parameters
    ----------
    values : sequence of int
    tile : int
        Numbers of a tile; it divides their count.
    """
    tiles = [values[i : i + tile] for i in range(0, len(values), tile)]
    sums = [sum(each) for each in tiles]
    before = list(accumulate(sums))
    fig, ax = _rows(len(values), 4)
    labels = ("the vector", "1: sums", "2: their scan", "3: the scan")
    for number, label in enumerate(labels):
        ax.text(-0.3, number * STEP + 0.5, label, ha="right", va="center", fontsize=8)
    for number, row in ((0, list(values)), (3, list(accumulate(values)))):
        _numbers(ax, number, row, range(len(row)))
    for number, row in ((1, sums), (2, before)):
        for place, value in enumerate(row):
            x = place * tile + tile / 2
            boxes(ax, [(x - 0.6, number * STEP, 1.2, 1)], C)
            ax.text(x, number * STEP + 0.5, value, ha="center", va="center", fontsize=9)
    for place in range(len(tiles)):
        x = place * tile + tile / 2 - 0.5
        _arrow(ax, x, 0, x, 1)
        _arrow(ax, x, 1, x, 2)
        if place:
            _arrow(ax, x - tile, 2, x, 3)
            ax.plot([place * tile] * 2, [-0.25, 1.25], color=INK, linewidth=1.6)
            ax.plot([place * tile] * 2, [3 * STEP - 0.25, 3 * STEP + 1.25], color=INK, lw=1.6)
    return fig


def _rows(columns: int, rows: int) -> tuple[Figure, Axes]:
    width, height = columns + 4.2, (rows - 1) * STEP + 1.4
    return canvas(5.4, 5.4 * height / width, (-4, columns + 0.2, height - 0.2, -0.2))


def _numbers(ax: Axes, number: int, row: Sequence[int], new: range) -> None:
    """A row of numbers; those of `new` in the colour of results, the others pale."""
    y = number * STEP
    old = [t for t in range(len(row)) if t not in new]
    boxes(ax, [(t, y, 1, 1) for t in new], C if number else A)
    if old:
        boxes(ax, [(t, y, 1, 1) for t in old], INK, tint=0.05)
    for t, value in enumerate(row):
        ax.text(t + 0.5, y + 0.5, value, ha="center", va="center", fontsize=9)


def _arrow(ax: Axes, column: float, row: int, to: float, down: int) -> None:
    """From the foot of one number to the head of another."""
    ax.annotate(
        "", (to + 0.5, down * STEP - 0.02), (column + 0.5, row * STEP + 1.02),
        arrowprops={"arrowstyle": "-|>", "color": THREAD, "lw": 0.9, "shrinkA": 0, "shrinkB": 0},
    )  # fmt: skip
