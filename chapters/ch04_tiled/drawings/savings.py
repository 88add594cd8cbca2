"""What a tile saves: counts of two kernels side by side, and where one block loads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from kernels.lab.plots.palette import HATCH, INK, LIBRARY, PALETTE, TILE
from kernels.lab.plots.picture import figure


def savings(
    tiles: Sequence[int], counts: Mapping[str, tuple[Sequence[int], Sequence[int]]]
) -> Figure:
    """Bars per tile size, one panel per count: the naive kernel's and, on it, the tiled one's.

    Parameters
    ----------
    tiles : sequence of int
        Sides of the tiles.
    counts : mapping of name to (naive, tiled)
        Such as ``{"requests": ([16384, …], [2048, …])}``, one number per tile.
    """
    fig, axes = figure(5.0, 2.7, columns=len(counts), squeeze=False, sharey=True)
    places = np.arange(len(tiles))
    for ax, (name, (before, after)) in zip(axes[0], counts.items(), strict=True):
        looks = ((before, -0.2, LIBRARY, "", "naive"), (after, 0.2, TILE, HATCH["A"], "tiled"))
        for values, shift, colour, hatch, label in looks:
            ax.bar(places + shift, values, 0.4, color=colour, hatch=hatch, edgecolor=INK,
                   linewidth=0.6, label=label)  # fmt: skip
        for place, old, new in zip(places, before, after, strict=True):
            ax.text(place + 0.2, new, f" ÷{old / new:g}", ha="center", va="bottom", fontsize=9)
        ax.set_xticks(places, [f"{tile} × {tile}" for tile in tiles])
        ax.set_xlabel("tile")
        ax.set_title(name, fontsize=10)
        ax.tick_params(length=0)
    axes[0, 0].set_ylabel("count")
    axes[0, 0].yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    fig.legend(*axes[0, 0].get_legend_handles_labels(), ncols=2, loc="outside upper right")
    return fig


def block_loads(heats: Mapping[str, Mapping[str, Any]]) -> Figure:
    """Where one block loads A and B, and how often each element: a row of panels per kernel.

    Parameters
    ----------
    heats : mapping of kernel to {"A": counts, "B": counts}
        Counts are 2-D arrays of int with the shapes of A and B; all elements that a kernel loads
        are loaded equally often.
    """
    shapes = [np.shape(counts) for counts in next(iter(heats.values())).values()]
    most = max(int(np.max(counts)) for both in heats.values() for counts in both.values())
    fig, axes = figure(
        5.0, 2.0 * len(heats), rows=len(heats), columns=2, squeeze=False,
        width_ratios=[columns for _, columns in shapes],
    )  # fmt: skip
    for line, (kernel, both) in zip(axes, heats.items(), strict=True):
        for ax, (name, counts) in zip(line, both.items(), strict=True):
            counts = np.asarray(counts)
            colour = np.empty((*counts.shape, 4))
            colour[..., :3] = to_rgb(TILE)
            colour[..., 3] = np.where(counts, 0.12 + 0.7 * counts / most, 0)
            ax.imshow(colour, interpolation="none")
            y, x = np.argwhere(counts).mean(axis=0)
            text = "once each" if counts.max() == 1 else f"{counts.max()} times each"
            ax.text(x, y, text, ha="center", va="center", fontsize=10,
                    rotation=0 if name == "A" else 90)  # fmt: skip
            ax.set_title(f"{name}, {kernel}", fontsize=10)
            ax.set_xticks([0, counts.shape[1] - 1])
            ax.set_yticks([0, counts.shape[0] - 1])
            for spine in ax.spines.values():
                spine.set(visible=True, edgecolor=PALETTE[name], linewidth=1.8)
    return fig
