"""Who works when: bars on lanes over time, such as host and device, or the three copy engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernels.lab.plots.palette import HATCH, INK, PALETTE
from kernels.lab.plots.picture import figure

HIGH = 0.56  # of a bar, in lanes


class Bar(NamedTuple):
    """A span of time on a lane.

    Attributes
    ----------
    start, end : float
        In any unit of time.
    text : str
    role : str
        Key of `PALETTE`; ``""`` for a bar that only waits.
    """

    start: float
    end: float
    text: str
    role: str = ""


def schedule(lanes: Mapping[str, Sequence[Bar]], end: float | None = None) -> Figure:
    """Lanes from top to bottom, time from left to right.

    Parameters
    ----------
    lanes : mapping of name to bars
        Bars of one lane don't overlap.
    end : float, optional
        Where time ends, for pictures that share a scale; else at the last bar's end.
    """
    last = max(bar.end for bars in lanes.values() for bar in bars)
    fig, ax = figure(4.6, 0.66 * len(lanes) + 0.3)
    ax.set_axis_off()
    for number, (name, bars) in enumerate(lanes.items()):
        ax.text(0, number - 0.06, name, va="bottom", weight="bold", fontsize=9)
        for bar in bars:
            corner, span = (bar.start, number), (bar.end - bar.start, HIGH)
            _bar(ax, corner, span, bar)
    below = len(lanes) - 0.12
    arrow = dict(arrowstyle="->", color=INK)
    ax.annotate("", (end or last, below), (0, below), arrowprops=arrow)
    ax.text(end or last, below + 0.06, "time", ha="right", va="top", fontsize=8)
    ax.set(xlim=(0, end or last), ylim=(len(lanes) + 0.2, -0.45))
    return fig


def _bar(ax, corner: tuple[float, int], span: tuple[float, float], bar: Bar) -> None:
    colour = PALETTE.get(bar.role, INK)
    if bar.role:
        ax.add_patch(Rectangle(corner, *span, fc=colour, alpha=0.25, lw=0))
        look = dict(fc="none", ec=colour, hatch=HATCH[bar.role], lw=0, alpha=0.3)
        ax.add_patch(Rectangle(corner, *span, **look))
    style = "-" if bar.role else ":"
    ax.add_patch(Rectangle(corner, *span, fc="none", ec=colour, lw=1.2, ls=style))
    middle = (corner[0] + span[0] / 2, corner[1] + span[1] / 2)
    ax.text(*middle, bar.text, ha="center", va="center", fontsize=8)


def six_steps() -> Figure:
    """What host and device do, and when, in a program that launches one kernel; a schematic."""
    host = [
        Bar(0, 2, "1\nallocate", "library"), Bar(2, 4.2, "2\ncopy in", "A"),
        Bar(4.2, 5.9, "3\nlaunch", "library"), Bar(5.9, 9.4, "4 wait"),
        Bar(9.4, 11.8, "5 copy\nback", "C"), Bar(11.8, 13, "6\nfree", "library"),
    ]  # fmt: skip
    device = [Bar(2, 4.2, "copy", "A"), Bar(5.5, 9.4, "kernel", "thread"),
              Bar(9.4, 11.8, "copy", "C")]  # fmt: skip
    return schedule({"host": host, "device": device})


def one_call() -> Figure:
    """What host and GPU do while a framework computes one small product; a schematic."""
    host = [Bar(0, 5.5, "layers of Python", "A"), Bar(5.5, 8, "launch", "library")]
    gpu = [Bar(0, 7.5, "waits"), Bar(7.5, 10, "kernel", "thread")]
    return schedule({"host": host, "GPU": gpu})


def streams(pieces: int, copy_in: float = 2, kernel: float = 0.5, copy_out: float = 1) -> Figure:
    """A vector in pieces, each in a stream of its own: copies and kernels overlap; a schematic.

    Parameters
    ----------
    pieces : int
    copy_in, kernel, copy_out : float
        Times for the whole vector. Each of the three engines works on one piece at a time.

    Returns
    -------
    Figure
        On the time scale of one piece, where nothing overlaps.
    """
    times = {"copy in": (copy_in, "A"), "kernel": (kernel, "thread"), "copy back": (copy_out, "C")}
    lanes: dict[str, list[Bar]] = {name: [] for name in times}
    for piece in range(pieces):
        ready = 0.0  # when the piece has left the engine before
        for name, (time, role) in times.items():
            start = max([ready, *(bar.end for bar in lanes[name])])
            ready = start + time / pieces
            text = str(piece + 1) if time / pieces > 0.2 else ""
            lanes[name].append(Bar(start, ready, text, role))
    return schedule(lanes, end=copy_in + kernel + copy_out)
