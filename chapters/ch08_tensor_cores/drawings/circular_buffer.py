"""A circular buffer over time: when its stages are filled, and when the tensor cores are busy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from kernels.lab.plots.palette import HATCH, INK, TILE, C
from kernels.lab.plots.picture import figure

#: What a stage's tiles do: colour, strength and hatch.
LOOKS = {
    "in flight": (TILE, 0.2, HATCH["A"]),
    "full": (TILE, 0.25, None),
    "multiplied": (C, 0.7, None),
}


class Step(NamedTuple):
    """One pair of tiles: its stage, and when it is requested, arrives, is begun and is done."""

    stage: int
    requested: float
    arrived: float
    begun: float
    done: float


def schedule(stages: int, flight: float, work: float, steps: int) -> list[Step]:
    """What a producer and a consumer with a buffer of some stages do.

    Parameters
    ----------
    stages : int
        Pairs of tiles that the buffer holds.
    flight, work : float
        From a request to its arrival, and for the products of one pair of tiles.
    steps : int
        Pairs of tiles.
    """
    done: list[Step] = []
    for step in range(steps):
        requested = done[step - stages].done if step >= stages else 0
        arrived = requested + flight
        begun = max(arrived, done[-1].done if done else 0)
        done.append(Step(step % stages, requested, arrived, begun, begun + work))
    return done


def circular_buffer(
    stages: Sequence[int] = (1, 3), flight: float = 3, work: float = 2, span: float = 16
) -> Figure:
    """For each number of stages: a strip per stage, and below them a strip of the tensor cores.

    Parameters
    ----------
    stages : sequence of int
        One panel each.
    flight, work : float
        As in `schedule`.
    span : float
        Units of time that are shown.
    """
    rows = [count + 1.3 for count in stages]
    fig, axes = figure(4.6, 0.9 + 0.36 * sum(rows), rows=len(stages), sharex=True, squeeze=False,
                       gridspec_kw={"height_ratios": rows})  # fmt: skip
    for ax, count in zip(axes[:, 0], stages, strict=True):
        _panel(ax, count, schedule(count, flight, work, int(span / work) + 1), span)
    axes[-1, 0].set_xlabel("time")
    key = [
        Patch(facecolor=(colour, alpha), edgecolor=INK, hatch=hatch, label=what, linewidth=0.6)
        for what, (colour, alpha, hatch) in LOOKS.items()
    ]
    fig.legend(handles=key, loc="outside upper center", ncols=3, fontsize=9)
    return fig


def _panel(ax: Axes, stages: int, steps: Sequence[Step], span: float) -> None:
    for number, step in enumerate(steps):
        times = {"in flight": (step.requested, step.arrived), "full": (step.arrived, step.begun),
                 "multiplied": (step.begun, step.done)}  # fmt: skip
        for what, (start, end) in times.items():
            _bar(ax, step.stage, start, min(end, span), what, str(number))
        _bar(ax, stages + 0.3, step.begun, min(step.done, span), "multiplied", str(number))
    names = [f"stage {stage}" for stage in range(stages)]
    ax.set_yticks([*range(stages), stages + 0.3], [*names, "tensor cores"], fontsize=9)
    ax.set(xlim=(0, span), ylim=(stages + 0.8, -0.5), xticks=())
    ax.tick_params(length=0)
    ax.set_title(f"{stages} stage{'s' * (stages > 1)}", loc="left", fontsize=10)
    ax.spines[:].set_visible(False)


def _bar(ax: Axes, row: float, start: float, end: float, what: str, text: str) -> None:
    if end <= start:
        return
    colour, alpha, hatch = LOOKS[what]
    ax.add_patch(Rectangle((start, row - 0.4), end - start, 0.8, facecolor=(colour, alpha),
                           edgecolor=INK, hatch=hatch, linewidth=0.6))  # fmt: skip
    if end - start > 0.6:
        ax.text((start + end) / 2, row, text, ha="center", va="center", fontsize=8.5)
