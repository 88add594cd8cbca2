"""The ladder as a budget: cycles per FMA, measured, with the ceilings that no kernel passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from kernels.budget.ceilings import UNITS
from kernels.budget.ladder import Standing
from kernels.lab.plots.charts import empty
from kernels.lab.plots.palette import ENGINE_TITLES, HATCH, INK, MEMORY, PALETTE
from kernels.lab.plots.picture import figure
from kernels.rungs.order import LADDER

#: Each ceiling's mark: a shape, a colour, and how far below the middle of its bar, in heights of
#: the bar, so that equal ceilings don't cover each other.
MARKS = {
    "issue": ("v", "#d63a5e", -0.21),
    "wavefronts": ("o", MEMORY["shared"], 0),
    "fp32": ("|", "#808080", -0.21),
    "tensor": ("s", "#c8700a", 0),
    "port": (">", MEMORY["L2"], 0.21),
    "l2": ("^", MEMORY["L2"], 0.21),
    "dram": ("d", MEMORY["global"], -0.21),
    "latency": ("x", INK, 0.21),
}
#: A mark further to the left than this share of its bar would only fill the picture.
SHOWN = 0.1


def budget(bars: Sequence[Standing], titles: Mapping[str, str] | None = None) -> Figure:
    """Cycles of one SM per FMA: each bar ends at the measurement, its marks are the ceilings.

    The highest ceiling, the verdict, is drawn large. Where it touches the end of its bar, nothing
    but this unit keeps the kernel from being faster.

    Parameters
    ----------
    bars : sequence of Standing
        From `budget_bars`, which is `kernels.budget.ladder.standings`.
    titles : mapping of rung to str, optional
        What a rung is called; by default its title.
    """
    if not bars:
        return empty("Nothing is profiled yet.")
    titles = {name: LADDER[name].title for name in LADDER} | dict(titles or {})
    labels = list(dict.fromkeys(bar.rung for bar in bars))
    fig, ax = figure(5.2, 1.5 + 0.5 * len(labels))
    least = min(min(bar.measured, bar.budget.cycles) for bar in bars) / 3
    drawn = []
    for place, label in enumerate(labels):
        own = [bar for bar in bars if bar.rung == label]
        for index, bar in enumerate(own):
            height = 0.8 / len(own)
            y = place + (index - (len(own) - 1) / 2) * height
            ax.barh(y, bar.measured - least, 0.86 * height, left=least, color=PALETTE[bar.engine],
                    hatch=HATCH[bar.engine], edgecolor=INK, linewidth=0.6, alpha=0.45)  # fmt: skip
            text = f"{bar.measured:#.2g}" if bar.measured < 10 else f"{bar.measured:.0f}"
            end = max(bar.measured, 1.1 * bar.budget.cycles)  # beyond the mark, too
            ax.text(1.12 * end, y, text, va="center", fontsize=8)
            for name, cycles in bar.budget.ceilings.items():
                highest = name == bar.budget.verdict
                if not highest and cycles < max(SHOWN * bar.measured, least):
                    continue
                mark, colour, below = MARKS[name]
                ax.plot(cycles, y + below * height, mark, color=colour,
                        markersize=7 if highest else 4,
                        markeredgecolor=INK if highest and mark not in "|x" else colour,
                        markeredgewidth=1, zorder=3)  # fmt: skip
                drawn.append(name)
    ax.set_xscale("log")
    ax.set_xlim(least, 2.6 * max(bar.measured for bar in bars))
    ax.set_yticks(range(len(labels)), [titles[label] for label in labels])
    ax.invert_yaxis()
    ax.set_xlabel("cycles of one SM per FMA (shorter is faster)")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.tick_params(axis="y", length=0, labelsize=9)
    handles = [
        Line2D([], [], marker=MARKS[name][0], color=MARKS[name][1], linestyle="", label=UNITS[name])
        for name in MARKS
        if name in drawn
    ]
    engines = [engine for engine in ENGINE_TITLES if any(bar.engine == engine for bar in bars)]
    handles += [
        ax.barh(
            0,
            0,
            color=PALETTE[engine],
            hatch=HATCH[engine],
            edgecolor=INK,
            linewidth=0.6,
            alpha=0.45,
            label=ENGINE_TITLES[engine],
        )  # fmt: skip
        for engine in engines
    ]
    fig.legend(handles=handles, loc="outside lower center", ncols=2, fontsize=8, columnspacing=4)
    return fig
