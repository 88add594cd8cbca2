"""What a chip is made of, and which part of a program each part runs: schematic."""

from __future__ import annotations

from matplotlib.figure import Figure

from kernels.lab.plots.drawings import boxes, canvas
from kernels.lab.plots.palette import INK, LIBRARY, MEMORY, THREAD, TILE

#: Colour and hatch of what the area of a chip is spent on.
PARTS = {
    "control": (MEMORY["host"], "//"),
    "cache": (MEMORY["L2"], "\\\\"),
    "arithmetic": (THREAD, ""),
}
#: Colour of each pair in `mapping`, the largest first.
PAIRS = (LIBRARY, TILE, MEMORY["host"], THREAD)


def dies(cores: tuple[int, int] = (2, 2), sms: tuple[int, int] = (5, 5)) -> Figure:
    """A CPU's die beside a GPU's: what the area is spent on. Schematic, not to scale.

    Parameters
    ----------
    cores, sms : (across, down)
        Cores of the CPU and SMs of the GPU that are drawn.
    """
    side, gap = 10.0, 1.6
    fig, ax = canvas(4.6, 2.9, (-0.2, 2 * side + gap + 0.2, side + 2.1, -1.2))
    frames = {role: [] for role in PARTS}
    frames["cache"] += [(0.3, 7.7, side - 0.6, 2.0), (side + gap + 0.3, 9.1, side - 0.6, 0.6)]
    for x, y, wide, high in _grid(*cores, 0.3, 0.3, side - 0.3, 7.4, 0.3):
        frames["control"].append((x, y, 0.55 * wide, 0.6 * high))
        frames["cache"].append((x, y + 0.65 * high, wide, 0.35 * high))
        frames["arithmetic"] += _grid(2, 2, x + 0.61 * wide, y, 0.41 * wide, 0.63 * high, 0.1)
    for x, y, wide, high in _grid(*sms, side + gap + 0.3, 0.3, side - 0.3, 8.8, 0.25):
        frames["control"].append((x, y, 0.45 * wide, 0.16 * high))
        frames["cache"].append((x + 0.5 * wide, y, 0.5 * wide, 0.16 * high))
        frames["arithmetic"] += _grid(4, 4, x, y + 0.24 * high, wide + 0.06, 0.8 * high, 0.06)
    for left, name in ((0.0, "CPU"), (side + gap, "GPU")):
        boxes(ax, [(left, 0, side, side)], INK, tint=0, width=1)
        ax.text(left + side / 2, -0.4, name, ha="center", weight="bold")
    for place, (role, (colour, hatch)) in enumerate(PARTS.items()):
        x = 1.6 + 6.8 * place
        boxes(ax, [*frames[role], (x, side + 0.8, 1.0, 0.8)], colour, hatch=hatch)
        ax.text(x + 1.4, side + 1.2, role, va="center", fontsize=9)
    return fig


def _grid(
    across: int, down: int, x: float, y: float, wide: float, high: float, gap: float
) -> list[tuple[float, float, float, float]]:
    """Frames that fill an area, each with a gap at its right and below it."""
    step, drop = wide / across, high / down
    return [
        (x + column * step, y + row * drop, step - gap, drop - gap)
        for row in range(down)
        for column in range(across)
    ]


def mapping(sms: int) -> Figure:
    """Grid, block, warp and thread beside the parts of a GPU that run them. Schematic.

    Parameters
    ----------
    sms : int
        SMs of the GPU: one square each.
    """
    grid, block, warp, thread = PAIRS
    fig, ax = canvas(4.8, 4.1, (-0.2, 17.2, 13.4, -1.2))
    ax.text(1.6, -0.5, "what you write", weight="bold", ha="center")
    ax.text(15.4, -0.5, "what runs it", weight="bold", ha="center")
    boxes(ax, _grid(6, 5, 0.1, 0.4, 3.1, 2.6, 0.11), grid)
    columns = -(-sms // 11)
    squares = _grid(columns, -(-sms // columns), 13.9, 0.4, 3.1, 3.1, 0.06)[:sms]
    boxes(ax, squares, grid)
    boxes(ax, [(0.3, 4.1, 2.6, 2.6)], block)
    boxes(ax, _grid(1, 8, 0.5, 4.28, 2.31, 2.35, 0.11), warp)
    boxes(ax, [(14.0, 4.1, 2.9, 2.9)], block)
    boxes(ax, _grid(2, 2, 14.15, 4.25, 2.7, 1.96, 0.1), warp)
    boxes(ax, [(14.15, 6.3, 2.6, 0.5)], MEMORY["shared"], hatch="\\\\")
    boxes(ax, _grid(8, 4, 0.15, 8.2, 2.9, 1.7, 0.09), thread)
    boxes(ax, [(14.1, 7.9, 2.7, 2.2)], warp, tint=0.15)
    boxes(ax, _grid(8, 4, 14.25, 8.35, 2.48, 1.3, 0.07), thread)
    boxes(ax, [(1.25, 11.5, 0.6, 0.6)], thread)
    boxes(ax, [(15.0, 11.35, 0.9, 0.9)], thread)
    for y, left, right, verb in (
        (2.0, "grid", f"GPU:\n{sms} SMs", "is spread over"),
        (5.5, "block", "SM", "stays on one"),
        (9.0, "warp:\n32 threads", "warp\nscheduler", "is issued by one"),
        (11.8, "thread", "FP32 lane", "computes on one"),
    ):
        ax.text(3.5, y, left, va="center", weight="bold", fontsize=9)
        ax.text(13.5, y, right, va="center", ha="right", weight="bold", fontsize=9)
        ax.annotate("", (9.9, y), (7.0, y), arrowprops={"arrowstyle": "->", "color": INK})
        ax.text(8.4, y - 0.25, verb, ha="center", style="italic", fontsize=8)
    ax.text(13.5, 6.55, "shared memory", ha="right", va="center", fontsize=8)
    return fig
