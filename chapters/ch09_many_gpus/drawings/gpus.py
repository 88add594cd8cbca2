"""Several GPUs: their links, who holds which tile, links and arithmetic in time, speed-ups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import cos, hypot, pi, sin

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from kernels.distributed.cost import Prediction
from kernels.distributed.schedule import Schedule, Tile
from kernels.lab.plots.charts import empty
from kernels.lab.plots.errors import LOOKS
from kernels.lab.plots.palette import HATCH, INK, MEMORY, PALETTE, THREAD, C
from kernels.lab.plots.picture import figure

__all__ = [
    "collective_times", "column_then_row", "gpu_links", "holdings", "link_times", "received",
    "scaling", "speed_ups",
]  # fmt: skip


def gpu_links(gpus: int, paths: Mapping[tuple[int, int], str], memory: str, speed: str) -> Figure:
    """The GPUs of a machine, a line for each link between two of them, and the host below.

    Parameters
    ----------
    gpus : int
    paths : dict of (int, int) to str
        What joins two GPUs, such as ``"NV18"``.
    memory, speed : str
        Of one GPU's memory, and of a link: what is written there.
    """
    if not gpus:
        return empty("Nothing is recorded yet.")
    fig, ax = figure(5.6, 2.6 if gpus == 2 else 3.6)
    ax.set_axis_off()
    turn = [pi + 2 * pi * number / gpus for number in range(gpus)]
    places = [(2.6 * cos(angle), 1.4 * sin(angle) * (gpus > 2)) for angle in turn]
    low = min(y for _, y in places)
    ax.set(xlim=(-3.6, 3.6), ylim=(low - 2.1, max(y for _, y in places) + 0.9))
    for (a, b), path in paths.items():
        if a < b:
            (x0, y0), (x1, y1) = places[a], places[b]
            far = hypot(x1 - x0, y1 - y0)
            dx, dy = 0.85 * (x1 - x0) / far, 0.75 * (y1 - y0) / far
            ax.plot((x0 + dx, x1 - dx), (y0 + dy, y1 - dy), color=THREAD, linewidth=4)
            words = f"{path}\n{speed}" if gpus == 2 else path
            ax.text(
                (x0 + x1) / 2, (y0 + y1) / 2 + 0.12, words, ha="center", va="bottom", fontsize=9
            )
    for number, (x, y) in enumerate(places):
        ax.plot((x, x), (y - 0.6, low - 1.2), color=MEMORY["host"], linewidth=1.5)
        _box(ax, x, y, 1.5, 1.1, C, f"GPU {number}\n{memory}")
    _box(ax, 0, low - 1.55, 6.6, 0.6, MEMORY["host"], "host, over PCIe")
    return fig


def _box(ax: Axes, x: float, y: float, wide: float, high: float, colour: str, text: str) -> None:
    corner = (x - wide / 2, y - high / 2)
    look = dict(boxstyle="round,pad=0.05", facecolor=(colour, 0.35), edgecolor=colour)
    ax.add_patch(FancyBboxPatch(corner, wide, high, **look))
    ax.text(x, y, text, ha="center", va="center", fontsize=9)


def holdings(plans: Mapping[str, Schedule], rank: int = 0) -> Figure:
    """A, B and C for each of some schedules, cut as they lie on the GPUs, one GPU's part marked.

    Parameters
    ----------
    plans : dict of str to Schedule
        By what a row is called; square matrices.
    rank : int
        The GPU whose tiles are marked.
    """
    fig, axes = figure(5.2, 1.55 * len(plans), len(plans), 3, squeeze=False)
    for (title, plan), row in zip(plans.items(), axes, strict=True):
        for name, ax in zip("ABC", row, strict=True):
            ax.set(xlim=(0, plan.N), ylim=(plan.M, 0), xticks=[], yticks=[], aspect="equal")
            for number in range(plan.grid.size):
                tiles = [t for t in plan.holds[number] if t.matrix == name]
                for tile in tiles if name != "C" else [plan.results[number]]:
                    _tile(ax, tile, number, number == rank, plan.N)
            ax.spines[:].set_visible(True)
            if ax is row[0]:
                ax.set_ylabel(title, rotation=0, ha="right", va="center", fontsize=9, labelpad=8)
            if row is axes[0]:
                ax.set_title(name)
    return fig


def _tile(ax: Axes, tile: Tile, number: int, marked: bool, size: int) -> None:
    high, wide = tile.shape
    colour = PALETTE[tile.matrix]
    corner = (tile.cols.start, tile.rows.start)
    ax.add_patch(Rectangle(corner, wide, high, facecolor=(colour, 0.55 if marked else 0.0),
                           edgecolor=colour, linewidth=1.2,
                           hatch=HATCH[tile.matrix] if marked else ""))  # fmt: skip
    if min(high, wide) >= size / 8 and not (high == wide == size and number):
        words = "all" if high == wide == size else str(number)
        box = dict(facecolor="none", edgecolor="none")
        ax.text(corner[0] + wide / 2, corner[1] + high / 2, words, ha="center", va="center",
                fontsize=9, bbox=box, weight="bold" if marked else "normal")  # fmt: skip


def link_times(predictions: Mapping[str, Prediction], overlapped: Mapping[str, bool]) -> Figure:
    """The link and the arithmetic of each schedule over time: in turn, or at the same time.

    Parameters
    ----------
    predictions : dict of str to Prediction
        By what it is called.
    overlapped : dict of str to bool
        Whether the prediction is shown as it is, or one step after the other.
    """
    fig, ax = figure(6.4, 0.7 + 0.75 * len(predictions))
    last, ticks = 0.0, []
    for place, (title, found) in enumerate(predictions.items()):
        now = 0.0
        for moment in found.timeline:
            moving, working = moment.fetches, moment.products
            if not overlapped[title]:
                moving = (now, now + moving[1] - moving[0])
                working = (moving[1], moving[1] + working[1] - working[0])
                now = working[1]
            for on_the_link in (moving, moment.sums):
                _bar(ax, place, -0.2, on_the_link, "thread", "//")
                last = max(last, on_the_link[1])
            _bar(ax, place, 0.2, working, "C", HATCH["C"])
            last = max(last, working[1])
        ticks.append(title)
    ax.set_yticks(range(len(ticks)), ticks, fontsize=9)
    ax.set(xlim=(0, 1.02e3 * last), ylim=(len(ticks) - 0.45, -0.75))
    ax.set_xlabel("ms")
    for role, hatch, words in (("thread", "//", "link"), ("C", HATCH["C"], "arithmetic")):
        ax.bar(0, 0, 0, color=PALETTE[role], alpha=0.5, hatch=hatch, edgecolor=INK, label=words)
    ax.legend(loc="upper right", ncols=2, fontsize=9, bbox_to_anchor=(1, 1.12))
    return fig


def _bar(
    ax: Axes, place: int, shift: float, span: tuple[float, float], role: str, hatch: str
) -> None:
    start, end = span
    if end > start:
        ax.barh(place + shift, 1e3 * (end - start), 0.36, left=1e3 * start, color=PALETTE[role],
                alpha=0.5, edgecolor=INK, linewidth=0.6, hatch=hatch)  # fmt: skip


def column_then_row(ranks: int, rank: int = 0) -> Figure:
    """The two products of a layer, cut among GPUs; one GPU's part is filled.

    Parameters
    ----------
    ranks : int
    rank : int
        The GPU whose parts are filled.
    """
    fig, ax = figure(7.2, 2.3)
    ax.set_axis_off()
    ax.set(xlim=(0, 17.6), ylim=(5.0, -0.9), aspect="equal")
    # Name, meaning of its colour, left edge, height, width, cut along.
    shapes = (
        ("X", "A", 0.0, 3.0, 2.0, None), ("W₁", "B", 3.0, 2.0, 4.0, "columns"),
        ("hidden", "tile", 8.0, 3.0, 4.0, "columns"), ("W₂", "B", 13.0, 4.0, 2.0, "rows"),
        ("Y", "C", 15.6, 3.0, 2.0, None),
    )  # fmt: skip
    for name, role, left, high, wide, along in shapes:
        look = dict(edgecolor=PALETTE[role], linewidth=1.2)
        filled = dict(facecolor=(PALETTE[role], 0.55), hatch=HATCH[role], **look)
        parts = ranks if along else 1
        for part in range(parts):
            over, down = (wide / parts, high) if along == "columns" else (wide, high / parts)
            corner = (left + part * over * (along == "columns"), part * down * (along == "rows"))
            mine = not along or part == rank
            ax.add_patch(Rectangle(corner, over, down, **(filled if mine else look | {"fill": 0})))
        ax.text(left + wide / 2, -0.3, name, ha="center", va="center", fontsize=9)
    for x, sign in ((2.5, "·"), (7.5, "→"), (12.5, "·"), (15.3, "=")):
        ax.text(x, 1.5, sign, ha="center", va="center", fontsize=11)
    ax.text(7.5, 0.85, "GELU", ha="center", va="center", fontsize=7.5)
    ax.text(16.6, 3.6, f"one of {ranks}\npartial sums", ha="center", va="center", fontsize=8.5)
    return fig


def collective_times(
    sizes: Sequence[int],
    curves: Mapping[str, Sequence[float]],
    points: Mapping[str, Mapping[int, float]],
) -> Figure:
    """Seconds of a collective over the bytes of its array, on logarithmic axes.

    Parameters
    ----------
    sizes : sequence of int
        Bytes.
    curves : dict of str to sequence of float
        By name: seconds at each size. At most five.
    points : dict of str to dict of int to float
        By the name of a curve: seconds that were measured, by size.
    """
    fig, ax = figure(5.0, 3.2)
    for (name, seconds), (look, role) in zip(curves.items(), LOOKS, strict=False):
        ax.loglog(sizes, [1e6 * each for each in seconds], color=PALETTE[role], label=name)
        found = points.get(name, {})
        ax.loglog(found.keys(), [1e6 * each for each in found.values()], look[0],
                  color=PALETTE[role], markersize=5, linestyle="")  # fmt: skip
    ax.set_xlabel("bytes to add up on each GPU")
    ax.set_ylabel("all-reduce, µs")
    ax.grid(True, which="major")
    ax.legend(fontsize=8.5)
    return fig


def scaling(counts: Sequence[int], curves: Mapping[str, Sequence[float]]) -> Figure:
    """Speed-up over one GPU by the number of GPUs, with the ideal as a dashed line.

    Parameters
    ----------
    counts : sequence of int
    curves : dict of str to sequence of float
        By name: the speed-up at each number.
    """
    fig, ax = figure(4.8, 3.2)
    _curves(ax, counts, curves)
    ax.plot(counts, counts, color=INK, linewidth=1, linestyle="--", label="ideal")
    ax.set_yscale("log", base=2)
    ax.set_yticks(counts, counts, fontsize=9)
    ax.minorticks_off()
    ax.legend(fontsize=8.5)
    ax.set_xlabel("GPUs")
    ax.set_ylabel("speed-up over one GPU")
    return fig


def received(counts: Sequence[int], curves: Mapping[str, Sequence[float | None]]) -> Figure:
    """What one GPU receives, as a share of a matrix, over the number of GPUs.

    Parameters
    ----------
    counts : sequence of int
        Numbers of GPUs.
    curves : dict of str to sequence of float or None
        By name: the share at each number, None where there is none.
    """
    fig, ax = figure(4.8, 3.0)
    _curves(ax, counts, curves)
    ax.legend(fontsize=8.5)
    ax.set_ylim(0, None)
    ax.set_xlabel("GPUs")
    ax.set_ylabel("received by one GPU,\nin matrices")
    return fig


def speed_ups(
    sizes: Sequence[int], panels: Mapping[str, Mapping[str, Sequence[float | None]]], gpus: int
) -> Figure:
    """Speed-up over one GPU by size, a panel for each number format, with the ideal as a line.

    Parameters
    ----------
    sizes : sequence of int
    panels : dict of str to dict of str to sequence of float or None
        By heading and by name: the speed-up at each size, None where nothing is recorded.
    gpus : int
        The ideal.
    """
    if not panels or not sizes:
        return empty("Nothing is recorded yet.")
    fig, axes = figure(7.0, 3.2, 1, len(panels), squeeze=False, sharey=True)
    for ax, (heading, curves) in zip(axes[0], panels.items(), strict=True):
        _curves(ax, sizes, curves)
        ax.axhline(gpus, color=INK, linewidth=1, linestyle="--")
        ax.axhline(1, color=INK, linewidth=0.6)
        ax.set_title(heading)
        ax.set_ylim(0, 1.08 * gpus)
        ax.set_xlabel("size")
    axes[0][0].set_ylabel("speed-up over one GPU")
    handles, labels = axes[0][0].get_legend_handles_labels()
    fig.legend(handles, labels, fontsize=8.5, ncols=3, loc="outside upper center")
    return fig


def _curves(ax: Axes, xs: Sequence[int], curves: Mapping[str, Sequence[float | None]]) -> None:
    for (name, ys), (line, role) in zip(curves.items(), LOOKS, strict=False):
        points = [(x, y) for x, y in zip(xs, ys, strict=True) if y is not None]
        if points:
            ax.plot(*zip(*points, strict=True), line, color=PALETTE[role], label=name, markersize=5)
    ax.set_xscale("log", base=2)
    ax.set_xticks(xs, xs, fontsize=9)
    ax.minorticks_off()
    ax.grid(True, which="major")
