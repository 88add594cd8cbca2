"""Charts of measured figures: the ladder, the roofline, sweeps over sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from kernels.basics.units import percent, quantity, size
from kernels.lab.plots.palette import (
    ENGINE_TITLES,
    HATCH,
    INK,
    LIBRARY,
    PALETTE,
    THREAD,
    TILE,
    A,
    B,
    C,
)
from kernels.lab.plots.picture import figure
from kernels.measure import peers
from kernels.records import Record
from kernels.records.roofline import Point, Roof
from kernels.rungs.order import LADDER

#: What charts and tables call all that a record has timed.
TITLES = {
    **{name: rung.title for name, rung in LADDER.items()},
    "cublas": "cuBLAS",
    **peers.TITLES,
}

GAP = 0.4  # between the bars of two rungs, in bars


def empty(message: str) -> Figure:
    """A picture that holds one line of text: what to show when nothing is recorded."""
    fig, ax = figure(height=0.6)
    ax.set_axis_off()
    ax.text(0.5, 0.5, message, ha="center", va="center")
    return fig


def rung_label(row: Mapping[str, Any]) -> str:
    """``"tiled 32"`` for a timing row of the rung ``tiled`` with ``tile=32``."""
    if row["rung"] == "cublas":
        return "cuBLAS"
    tile = row.get("options", {}).get("tile")
    return f"{row['rung']} {tile}" if tile else row["rung"]


def ladder(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """The rungs as bars: GFLOP/s, and the share of cuBLAS from the same run.

    Parameters
    ----------
    rows : sequence of timing rows
        Of one size, such as ``record.ladder(M=4096)``; drawn in their order, one bar an engine.
    """
    if not rows:
        return empty("Nothing is recorded yet.")
    labels = list(dict.fromkeys(rung_label(row) for row in rows))
    engines = [e for e in ENGINE_TITLES if any(row["engine"] == e for row in rows)]
    fig, ax = figure(height=0.9 + 0.52 * len(labels))
    longest = max(max(row["gflops"], row["cublas_gflops"]) for row in rows)
    for place, label in enumerate(labels):
        bars = [row for row in rows if rung_label(row) == label]
        bars.sort(key=lambda row: engines.index(row["engine"]))
        for index, row in enumerate(bars):
            height = 0.76 / len(bars)
            y = place + (index - (len(bars) - 1) / 2) * height
            engine, speed = row["engine"], row["gflops"]
            ax.barh(
                y, speed, 0.88 * height, color=PALETTE[engine], edgecolor=INK, linewidth=0.6,
                hatch=HATCH[engine], label=ENGINE_TITLES[engine],
            )  # fmt: skip
            share = row["gflops"] / row["cublas_gflops"]
            text = quantity(speed * 1e9, "FLOP/s")
            if engine != "library":
                text += f", {percent(share)}"
            ax.text(speed + 0.012 * longest, y, text, va="center", fontsize=9)
    handles, names = ax.get_legend_handles_labels()
    unique = dict(zip(names, handles, strict=True))
    ax.legend(
        [unique[ENGINE_TITLES[e]] for e in engines], [ENGINE_TITLES[e] for e in engines],
        ncols=3, loc="lower right", bbox_to_anchor=(1, 1),
    )  # fmt: skip
    ax.set_yticks(range(len(labels)), labels)
    ax.invert_yaxis()
    ax.set_xlim(0, 1.24 * longest)
    ax.set_xlabel("TFLOP/s (longer is faster); beside each bar: its share of cuBLAS")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / 1000:g}"))
    ax.tick_params(axis="y", length=0)
    return fig


def climb(panels: Mapping[str, Sequence[Mapping[str, Any]]], titles: Mapping[str, str]) -> Figure:
    """Every rung in both languages, as narrow as a telephone: GFLOP/s and the share of cuBLAS.

    Parameters
    ----------
    panels : dict of str to sequence of timing rows
        A heading, and the rows below it, each such as ``record.ladder(M=4096)``; every panel has a
        scale of its own.
    titles : dict of str to str
        What a rung is called, by its name in the rows.
    """
    panels = {heading: rows for heading, rows in panels.items() if rows}
    if not panels:
        return empty("Nothing is recorded yet.")
    labels = {
        heading: list(dict.fromkeys(row["rung"] for row in rows))
        for heading, rows in panels.items()
    }
    lines = {heading: len(rows) + GAP * len(labels[heading]) for heading, rows in panels.items()}
    height = 0.6 + sum(0.4 + 0.165 * count for count in lines.values())
    fig, found = figure(
        width=4.6, height=height, rows=len(panels), squeeze=False,
        gridspec_kw={"height_ratios": list(lines.values())},
    )  # fmt: skip
    seen = {}
    for ax, (heading, rows) in zip(found[:, 0], panels.items(), strict=True):
        library = max(row["cublas_gflops"] for row in rows)
        longest = max(library, *(row["gflops"] for row in rows))
        places, y = [], 0.0
        for rung in labels[heading]:
            bars = [row for row in rows if row["rung"] == rung]
            bars.sort(key=lambda row: list(ENGINE_TITLES).index(row["engine"]))
            places.append(y + (len(bars) - 1) / 2)
            for row in bars:
                engine, speed = row["engine"], row["gflops"]
                look = engine if engine in PALETTE else "library"
                title = ENGINE_TITLES[engine] if engine in ("numba", "cpp") else "libraries"
                bar = ax.barh(
                    y, speed, 0.82, color=PALETTE[look], edgecolor=INK, linewidth=0.6,
                    hatch=HATCH[look],
                )  # fmt: skip
                seen.setdefault(title, bar)
                share = row["gflops"] / row["cublas_gflops"]
                text = f"{speed / 1000:.3g}"
                text += f" ({percent(share)})" if row["rung"] != "cublas" else ""
                ax.text(speed + 0.012 * longest, y, text, va="center", fontsize=9)
                y += 1.0
            y += GAP
        ax.axvline(library, color=INK, linewidth=0.8, linestyle=":", alpha=0.5, zorder=0)
        ax.set_yticks(places, [fill(titles.get(rung, rung), 14) for rung in labels[heading]])
        ax.set_ylim(y - GAP - 0.4, -0.6)
        ax.set_xlim(0, 1.36 * longest)
        ax.set_title(heading, loc="left", fontsize=10)
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / 1000:g}"))
        ax.tick_params(axis="y", length=0, labelsize=9)
    found[-1, 0].set_xlabel("TFLOP/s (in brackets: the share of cuBLAS)")
    fig.legend(list(seen.values()), list(seen), ncols=len(seen), loc="outside upper right")
    return fig


def roofline(roof: Roof, points: Sequence[Point], other: Roof | None = None) -> Figure:
    """A roofline with its kernels.

    Parameters
    ----------
    roof, other : Roof
        ``other`` (dashed) lets data sheet and measurement stand together.
    points : sequence of Point
    """
    fig, ax = figure(height=4.0)
    intensities = [point.intensity for point in points] + [roof.ridge]
    low, high = min(intensities) / 4, max(intensities) * 8
    x = np.geomspace(low, high, 200)
    for one, line in ((roof, "-"), (other, "--")):
        if one is not None:
            y = [one.attainable(value) for value in x]
            ax.loglog(x, y, line, color=INK, linewidth=1.6, label=one.name)
    slope_at = roof.ridge / 2
    ax.annotate(
        f"memory: {quantity(roof.bandwidth, 'B/s')}", (slope_at, roof.attainable(slope_at)),
        textcoords="offset points", xytext=(-8, 4), ha="right", fontsize=9,
    )  # fmt: skip
    ax.annotate(
        f"arithmetic: {quantity(roof.compute, 'FLOP/s')}", (high, roof.compute),
        textcoords="offset points", xytext=(0, 6), ha="right", fontsize=9,
    )  # fmt: skip
    markers = {"numba": "o", "cpp": "s", "library": "D"}
    for point in points:
        ax.loglog(
            point.intensity, point.flops, markers.get(point.engine, "o"), markersize=8,
            color=PALETTE.get(point.engine, THREAD), markeredgecolor=INK, zorder=3,
        )  # fmt: skip
        # Above the slope there is room on the left, else on the right; under the flat roof, below.
        above = point.flops > roof.attainable(point.intensity)
        flat = point.intensity > roof.ridge and point.flops > 0.8 * roof.compute
        (x, y), ha = ((-9, -3), "right") if above else ((9, -16 if flat else -3), "left")
        ax.annotate(
            point.name, (point.intensity, point.flops), textcoords="offset points",
            xytext=(x, y), ha=ha, fontsize=9,
        )  # fmt: skip
    ax.set_xlabel("intensity: FLOP per byte")
    ax.set_ylabel("FLOP/s")
    # Room above the roof for its label.
    ax.set_ylim(top=roof.compute * 4)
    _decades(ax, "FLOP/s")
    ax.grid(True, which="major")
    if other is not None:
        ax.legend(loc="lower right", fontsize=9)
    return fig


LINES = ("o-", "s--", "^-.", "D:", "v-", "x--")


def sweep(
    series: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    x: str,
    y: str,
    unit: str,
    levels: Mapping[str, float] | None = None,
    verticals: Mapping[str, float] | None = None,
    sizes: bool = False,
    log: bool = True,
) -> Figure:
    """Curves over sizes, each with its own marker and line.

    Parameters
    ----------
    series : mapping of name to (x values, y values)
        y in the bare ``unit`` (``"B/s"``, ``"s"``).
    x, y : str
        Axis labels.
    levels, verticals : mapping of name to value
        Named horizontal and vertical lines, such as the copy bandwidth or the size of L2.
    sizes : bool
        x is in bytes: label it with KiB, MiB, GiB.
    log : bool
        y axis logarithmic; otherwise it starts at zero.
    """
    fig, ax = figure(height=3.6)
    colours = [A, B, C, TILE, THREAD, LIBRARY]
    for (name, (xs, ys)), line, colour in zip(series.items(), LINES, colours, strict=False):
        ax.plot(xs, ys, line, color=colour, label=name, markersize=5, linewidth=1.6)
    ax.set_xscale("log", base=2)
    if sizes:
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: size(value)))
    if log:
        ax.set_yscale("log")
    for name, value in (levels or {}).items():
        ax.axhline(value, color=INK, linewidth=1, linestyle=(0, (4, 3)))
        ax.annotate(
            f"{name}: {quantity(value, unit)}", (0.99, value), xycoords=("axes fraction", "data"),
            textcoords="offset points", xytext=(0, 4), ha="right", fontsize=9,
        )  # fmt: skip
    for name, value in (verticals or {}).items():
        ax.axvline(value, color="#808080", linewidth=1, linestyle=":")
        ax.annotate(
            name, (value, 1), xycoords=("data", "axes fraction"), rotation=90, va="top",
            textcoords="offset points", xytext=(3, -2), fontsize=9,
        )  # fmt: skip
    if log:
        _decades(ax, unit)
    else:
        top = max([max(ys) for _, ys in series.values()] + list((levels or {}).values()))
        ax.set_ylim(0, 1.15 * top)
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: quantity(value, unit, 2)))
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.grid(True, which="major")
    if len(series) > 1:
        ax.legend(fontsize=9, loc="best")
    return fig


def _decades(ax: Axes, unit: str) -> None:
    low, high = ax.get_ylim()
    first, last = int(np.ceil(np.log10(low))), int(np.floor(np.log10(high)))
    ax.yaxis.set_major_locator(FixedLocator([10.0**p for p in range(first, last + 1)]))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: quantity(value, unit, 1)))


def bandwidth(record: Record) -> Figure:
    """Vector add: bytes per second over the vector's length, under the copy bandwidth."""
    if not record:
        return empty(record.caption())
    series = {}
    for engine in ("numba", "cpp"):
        rows = record.rows("vector_add", engine=engine, block=256, cache="cold")
        rows.sort(key=lambda row: row["n"])
        if rows:
            speeds = [row["bytes_per_second"] for row in rows]
            series[ENGINE_TITLES[engine]] = ([row["n"] for row in rows], speeds)
    copy = record.row("bandwidth", what="copy").bytes_per_second
    return sweep(
        series, x="length n of the vectors", y="bandwidth, read + written", unit="B/s",
        levels={"device copy": copy},
    )  # fmt: skip


def transfers(record: Record) -> Figure:
    """Host to device and back: bytes per second over the size, pinned and pageable."""
    if not record:
        return empty(record.caption())
    series = {}
    for memory in ("pinned", "pageable"):
        for direction in ("host to device", "device to host"):
            rows = record.rows("transfers", memory=memory, direction=direction)
            rows.sort(key=lambda row: row["bytes"])
            speeds = [row["bytes_per_second"] for row in rows]
            series[f"{direction}, {memory}"] = ([row["bytes"] for row in rows], speeds)
    return sweep(series, x="size of one transfer", y="bandwidth", unit="B/s", sizes=True)


def break_even(record: Record) -> Figure:
    """Vector add from the host's side: NumPy, the kernel alone, and the kernel with its copies."""
    if not record:
        return empty(record.caption())
    warm = record.rows("vector_add", engine="numba", block=256, cache="warm")
    kernel = {row["n"]: row.median for row in warm}
    numpy = {row["n"]: row.median for row in record.rows("cpu", what="numpy vector add")}
    series = {"NumPy on the host": numpy, "kernel, data on the GPU": kernel}
    for memory in ("pinned", "pageable"):
        inward, outward = (
            {r["bytes"]: r.median for r in record.rows("transfers", memory=memory, direction=way)}
            for way in ("host to device", "device to host")
        )
        # Two vectors go in, one comes back.
        series[f"kernel and copies, {memory}"] = {
            n: 2 * inward[4 * n] + seconds + outward[4 * n]
            for n, seconds in kernel.items()
            if 4 * n in inward and 4 * n in outward
        }
    return sweep(
        {name: (sorted(line), [line[n] for n in sorted(line)]) for name, line in series.items()},
        x="length n of the vectors", y="time", unit="s",
    )  # fmt: skip


def latency(record: Record) -> Figure:
    """Pointer chase: time of one dependent load over the size of the memory it walks through."""
    if not record:
        return empty(record.caption())
    rows = sorted(record.rows("latency", space="global"), key=lambda row: row["bytes"])
    shared = record.row("latency", space="shared")
    return sweep(
        {"one load": ([row["bytes"] for row in rows], [row["ns"] * 1e-9 for row in rows])},
        x="memory walked through", y="time of one load", unit="s", log=False, sizes=True,
        levels={"shared memory": shared["ns"] * 1e-9},
        verticals={"L2": record.device["l2_bytes"]} if record.device.get("l2_bytes") else None,
    )  # fmt: skip
