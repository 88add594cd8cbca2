"""An mbarrier over time: what it still lacks, its phases, and whom a wait lets through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernels.lab.plots.palette import INK, TILE, A
from kernels.lab.plots.picture import figure

#: What happens to the barrier of a tile of two boxes: when, arrivals, and bytes that it announces
#: (above 0) or that come (below).
EVENTS = ((1, 1, 1024), (3, 0, -512), (4, 0, -512), (6, 1, 1024), (7, 0, -512), (9, 0, -512))
END = 12


@dataclass(frozen=True)
class Span:
    """A stretch of time in which the barrier's state stays the same."""

    start: float
    end: float
    phase: int
    arrivals: int
    bytes: int


def states(
    events: Sequence[tuple[float, int, int]] = EVENTS, count: int = 1, end: float = END
) -> list[Span]:
    """The states of an mbarrier that expects `count` arrivals in each phase.

    Parameters
    ----------
    events : sequence of tuple
        Time, arrivals, and bytes announced (above 0) or come (below), in their order.
    count : int
        Arrivals that end a phase, once no bytes are missing either.
    end : float
        Where the last span ends.
    """
    found, start, phase, missing, due = [], 0.0, 0, count, 0
    for time, arrivals, amount in events:
        found.append(Span(start, time, phase, missing, due))
        start, missing, due = time, missing - arrivals, due + amount
        if not missing and not due:
            phase, missing = phase + 1, count
    return [*found, Span(start, end, phase, missing, due)]


def phases() -> Figure:
    """Draw a barrier's two counts, its phases, and what waits for parity 0 and for parity 1 do."""
    fig, ax = figure(5.4, 2.5)
    spans = states()
    for span in spans:
        _box(ax, 1, span, str(span.arrivals), "none")
        _box(ax, 2, span, str(span.bytes), "none")
    for phase in range(spans[-1].phase + 1):
        of = [span for span in spans if span.phase == phase]
        whole = Span(of[0].start, of[-1].end, phase, 0, 0)
        _box(ax, 0, whole, f"phase {phase}, parity {phase % 2}", (TILE, 0.25))
        for parity in (0, 1):
            waits = phase % 2 == parity
            label, look = ("waits", (A, 0.3)) if waits else ("goes on", "none")
            _box(ax, 3 + parity, whole, label, look)
    names = ["phase", "arrivals missing", "bytes missing", "wait for parity 0", "wait for parity 1"]
    ax.set_yticks(range(len(names)), names, fontsize=9)
    ax.set(xlim=(0, END), ylim=(len(names) - 0.5, -0.5), xticks=(), xlabel="time")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return fig


def _box(ax: Axes, row: float, span: Span, text: str, colour: object) -> None:
    ax.add_patch(
        Rectangle((span.start, row - 0.4), span.end - span.start, 0.8, facecolor=colour,
                  edgecolor=INK, linewidth=0.6)
    )  # fmt: skip
    ax.text((span.start + span.end) / 2, row, text, ha="center", va="center", fontsize=8.5)
