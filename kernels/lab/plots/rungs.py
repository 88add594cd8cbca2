"""The ladder of one page: a bar per rung, those that the page does not climb in a paler shade."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter

from kernels.lab.plots.charts import empty
from kernels.lab.plots.palette import ENGINE_TITLES, HATCH, INK, PALETTE
from kernels.lab.plots.picture import figure


def rungs(
    rows: Sequence[Mapping[str, Any]],
    titles: Mapping[str, str],
    *,
    climbed: Collection[str],
    peak: float | None = None,
    key: bool = False,
) -> Figure:
    """Recorded speeds as bars, the first rung on top.

    Parameters
    ----------
    rows : sequence of timing rows
        Of one size and at most one engine per rung.
    titles : mapping of rung to str
        What a rung is called; one that is missing keeps its name.
    climbed : collection of rungs
        Those drawn in full colour.
    peak : float, optional
        FLOP/s of the arithmetic units, drawn as a line.
    key : bool
        Whether to say which language a bar's colour stands for.
    """
    if not rows:
        return empty("Nothing is recorded yet.")
    fig, ax = figure(5.0, 0.9 + 0.3 * len(rows))
    longest = max([row["gflops"] for row in rows] + [(peak or 0) / 1e9])
    engines = [engine for engine in ENGINE_TITLES if any(row["engine"] == engine for row in rows)]
    style = {
        engine: dict(facecolor=PALETTE[engine], hatch=HATCH[engine], edgecolor=INK, linewidth=0.6)
        for engine in engines
    }
    for place, row in enumerate(rows):
        engine, speed = row["engine"], row["gflops"]
        full = row["rung"] in climbed
        ax.barh(place, speed, 0.78, alpha=1 if full else 0.35, **style[engine])
        ax.text(speed + 0.012 * longest, place, f"{speed / 1000:#.3g}", va="center", fontsize=9,
                weight="bold" if full else "normal")  # fmt: skip
    if peak:
        ax.axvline(peak / 1e9, color=INK, linewidth=1.2, linestyle="--")
        ax.text(peak / 1e9 - 0.01 * longest, 0, "FP32 peak", va="center", ha="right", fontsize=9)
    if key:
        handles = [Patch(**style[engine], label=ENGINE_TITLES[engine]) for engine in engines]
        fig.legend(handles=handles, ncols=len(handles), loc="outside lower right", fontsize=9)
    ax.set_yticks(range(len(rows)), [titles.get(row["rung"], row["rung"]) for row in rows])
    ax.invert_yaxis()
    ax.set_xlim(0, 1.08 * longest)
    ax.set_xlabel("TFLOP/s")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / 1000:g}"))
    ax.tick_params(axis="y", length=0, labelsize=9)
    return fig
