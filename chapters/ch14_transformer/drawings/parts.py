"""The parts of a layer: where they stand under the roof, and what they take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from kernels.lab.plots.palette import HATCH, INK, PALETTE
from kernels.lab.plots.picture import figure

__all__ = ["roofs", "times"]

#: A marker and a role of `PALETTE` for each row of points, in order.
LOOKS = (("o", "A"), ("s", "B"), ("^", "C"), ("D", "tile"))
#: Roles of a bar's sections, in order.
SECTIONS = ("A", "B", "C", "tile", "thread")


def roofs(
    flops: float, bandwidth: float, points: Mapping[str, Sequence[tuple[float, float]]]
) -> Figure:
    """A roofline with points on or below it.

    Parameters
    ----------
    flops, bandwidth : float
        The roof, in FLOP/s and bytes per second.
    points : dict of str to sequence of (float, float)
        By name: FLOP per byte and FLOP/s. At most four, or none for the roof alone.
    """
    fig, ax = figure(5.4, 3.3)
    xs = (0.3, flops / bandwidth, 2e4)
    ax.loglog(xs, [min(flops, x * bandwidth) / 1e12 for x in xs], color=INK, linewidth=1.2)
    for (name, found), (marker, role) in zip(points.items(), LOOKS, strict=False):
        ax.loglog(*zip(*((x, y / 1e12) for x, y in found), strict=True), marker, label=name,
                  color=PALETTE[role], markersize=6)  # fmt: skip
    ax.set_xlabel("FLOP per byte of memory")
    ax.set_ylabel("TFLOP/s")
    ax.grid(True, which="major")
    if points:
        ax.legend(fontsize=8.5, loc="lower right")
    return fig


def times(bars: Mapping[str, Mapping[str, float]], unit: str = "ms", scale: float = 1e3) -> Figure:
    """A bar for each case, cut into the parts that follow each other.

    Parameters
    ----------
    bars : dict of str to dict of str to float
        By case and part: seconds. The same parts in all, at most five.
    unit : str
    scale : float
        Units per second.
    """
    fig, ax = figure(6.4, 0.9 + 0.42 * len(bars))
    parts = list(next(iter(bars.values())))
    for place, each in enumerate(bars.values()):
        left = 0.0
        for part, role in zip(parts, SECTIONS, strict=False):
            ax.barh(place, scale * each[part], 0.6, left=left, color=PALETTE[role], alpha=0.5,
                    edgecolor=INK, linewidth=0.6, hatch=HATCH[role],
                    label=part if not place else None)  # fmt: skip
            left += scale * each[part]
    ax.set_yticks(range(len(bars)), list(bars), fontsize=9)
    ax.set_ylim(len(bars) - 0.5, -0.5)
    ax.set_xlabel(f"{unit}, predicted")
    fig.legend(fontsize=8.5, ncols=len(parts), loc="outside upper center")
    return fig
