"""Drawings of structure: grid and block, matrices and their tiles, heat maps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch, Rectangle
from matplotlib.path import Path

from kernels.lab.plots.palette import HATCH, INK, MEMORY, PALETTE, THREAD, TILE
from kernels.lab.plots.picture import figure


def cells(
    ax: Axes,
    rows: int,
    columns: int,
    *,
    at: tuple[float, float] = (0, 0),
    role: str = "C",
    title: str = "",
    labels: Callable[[int, int], str] | None = None,
    tint: float = 0.10,
) -> None:
    """Draw a matrix as a grid of unit squares; row 0 is on top, x is the column.

    Parameters
    ----------
    at : (x, y)
        Its upper left corner in the axes' units.
    role : str
        Key of `PALETTE`.
    labels : callable or None
        ``labels(row, col)`` gives the text of an element.
    tint : float
        Strength of the fill.
    """
    x, y = at
    colour = PALETTE[role]
    ax.add_patch(Rectangle(at, columns, rows, facecolor=colour, alpha=tint, edgecolor="none"))
    # All lines are one path, which keeps the page small.
    lines = [((x, y + row), (x + columns, y + row)) for row in range(1, rows)]
    lines += [((x + column, y), (x + column, y + rows)) for column in range(1, columns)]
    points = [point for start, end in lines for point in (start, end, (np.nan, np.nan))]
    if points:
        ax.plot(*zip(*points, strict=True), color=colour, linewidth=0.6)
    ax.add_patch(Rectangle(at, columns, rows, facecolor="none", edgecolor=colour, linewidth=1.8))
    if title:
        ax.text(x + columns / 2, y - 0.3, title, ha="center", va="bottom", weight="bold")
    if labels is not None:
        small = max(5.5, min(9.0, 60 / max(rows, columns)))
        for row in range(rows):
            for column in range(columns):
                ax.text(x + column + 0.5, y + row + 0.5, labels(row, column), ha="center",
                        va="center", fontsize=small)  # fmt: skip


def mark(
    ax: Axes,
    rows: tuple[int, int],
    columns: tuple[int, int],
    *,
    at: tuple[float, float] = (0, 0),
    role: str = "tile",
    fill: float = 0.35,
) -> None:
    """Mark rows ``[first, last)`` × columns ``[first, last)`` of a matrix drawn by `cells`."""
    corner = (at[0] + columns[0], at[1] + rows[0])
    span = (columns[1] - columns[0], rows[1] - rows[0])
    colour = PALETTE[role]
    ax.add_patch(Rectangle(corner, *span, facecolor=colour, alpha=fill, edgecolor="none"))
    if HATCH[role]:
        ax.add_patch(
            Rectangle(
                corner,
                *span,
                facecolor="none",
                edgecolor=colour,
                hatch=HATCH[role],
                linewidth=0,
                alpha=0.6,
            )  # fmt: skip
        )
    ax.add_patch(Rectangle(corner, *span, facecolor="none", edgecolor=colour, linewidth=2.2))


def canvas(width: float, height: float, extent: tuple[float, float, float, float]):
    """An empty drawing, ``fig, ax``; extent is (left, right, bottom, top) with y downwards."""
    fig, ax = figure(width, height)
    ax.set_axis_off()
    ax.set_aspect("equal")
    left, right, bottom, top = extent
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, top)
    return fig, ax


def product(
    M: int,
    N: int,
    K: int,
    *,
    tile: int | None = None,
    step: int = 0,
    block: tuple[int, int] = (0, 0),
    thread: tuple[int, int] | None = None,
    labels: bool = False,
) -> Figure:
    """C = A·B as three matrices: A left of C, B above it, so that rows and columns line up.

    Parameters
    ----------
    M, N, K : int
        Shapes; keep them below about 20.
    tile : int, optional
        Mark the tile of C that a block owns and the tiles of A and B it needs in ``step``.
        Without it, mark a whole row of A and a whole column of B.
    step : int
        Which tile along K.
    block : (x, y)
        Block index; x is the column.
    thread : (tx, ty), optional
        Thread inside the block (or, without a tile, the element's column and row): its element of
        C, and the elements of A and B that it multiplies in this step.
    labels : bool
        Write ``row,col`` into every element.
    """
    gap = 1.6
    place = {"A": (0, K + gap), "B": (K + gap, 0), "C": (K + gap, K + gap)}
    scale = min(0.36, 7.0 / (K + N + gap))
    fig, ax = canvas(
        max(3.6, scale * (K + N + gap + 1)), scale * (M + K + gap + 2),
        (-0.5, K + N + gap + 0.5, M + K + gap + 0.5, -1.5),
    )  # fmt: skip
    write = (lambda row, column: f"{row},{column}") if labels else None
    cells(ax, M, K, at=place["A"], role="A", title=f"A ({M}×{K})", labels=write)
    cells(ax, K, N, at=place["B"], role="B", title=f"B ({K}×{N})", labels=write)
    cells(ax, M, N, at=place["C"], role="C", title=f"C ({M}×{N})", labels=write)
    bx, by = block
    if tile:
        down = (by * tile, min(M, (by + 1) * tile))
        right = (bx * tile, min(N, (bx + 1) * tile))
        along = (step * tile, min(K, (step + 1) * tile))
        mark(ax, down, along, at=place["A"])
        mark(ax, along, right, at=place["B"])
        mark(ax, down, right, at=place["C"])
    else:
        along = (0, K)
    if thread is not None:
        row, column = (by * tile + thread[1], bx * tile + thread[0]) if tile else thread[::-1]
        mark(ax, (row, row + 1), along, at=place["A"], role="thread")
        mark(ax, along, (column, column + 1), at=place["B"], role="thread")
        mark(ax, (row, row + 1), (column, column + 1), at=place["C"], role="thread", fill=0.6)
    return fig


def hierarchy(
    grid: tuple[int, int] = (4, 3),
    block: tuple[int, int] = (16, 4),
    at: tuple[int, int] = (2, 1),
    thread: tuple[int, int] = (5, 2),
) -> Figure:
    """Grid, block, warp and thread, each drawn inside the one before.

    Parameters
    ----------
    grid, block : (x, y)
        Blocks in the grid and threads in a block; x counts columns.
    at : (x, y)
        The block that is opened up.
    thread : (x, y)
        The thread of that block that is named.
    """
    gx, gy = grid
    bx, by = block
    wide, gap = 8.0, 3.0
    cell = wide / gx
    high = cell * gy * 0.7
    unit = 14.0 / bx
    total = wide + gap + bx * unit
    down = max(high, by * unit) + 3.2
    fig, ax = canvas(7.4, 7.4 * (down + 1.6) / (total + 1), (-0.5, total + 0.5, down, -1.6))
    for row in range(gy):
        for column in range(gx):
            chosen = (column, row) == tuple(at)
            colour = TILE if chosen else "#808080"
            corner = (column * cell + 0.1, row * cell * 0.7 + 0.1)
            span = (cell - 0.2, cell * 0.7 - 0.2)
            box = dict(boxstyle="round,pad=0,rounding_size=0.12")
            ax.add_patch(
                FancyBboxPatch(corner, *span, **box, facecolor=colour, edgecolor="none", alpha=0.2)
            )
            ax.add_patch(
                FancyBboxPatch(corner, *span, **box, facecolor="none", edgecolor=colour,
                               linewidth=2.2 if chosen else 1)
            )  # fmt: skip
            ax.text(
                corner[0] + span[0] / 2, corner[1] + span[1] / 2, f"({column}, {row})",
                ha="center", va="center", fontsize=8, weight="bold" if chosen else "normal",
            )  # fmt: skip
    ax.text(0.1, -0.35, f"grid: {gx} × {gy} blocks", weight="bold")
    left = wide + gap
    ax.text(left, -0.35, f"block ({at[0]}, {at[1]}): {bx} × {by} threads", weight="bold")
    # Lines from the chosen block to its enlargement.
    corner_x, corner_y = (at[0] + 1) * cell - 0.1, at[1] * cell * 0.7 + 0.1
    for start, end in ((corner_y, 0), (corner_y + cell * 0.7 - 0.2, by * unit)):
        ax.plot([corner_x, left], [start, end], color=TILE, linewidth=0.9, linestyle=":")
    warps = list(MEMORY.values())
    hatches = ("", "//", "..", "xx", "\\\\", "--")
    for row in range(by):
        for column in range(bx):
            warp = (row * bx + column) // 32
            corner = (left + column * unit, row * unit)
            colour = warps[warp % len(warps)]
            hatch = hatches[warp % len(hatches)]
            for look in (
                dict(facecolor="none", edgecolor=colour, linewidth=0, hatch=hatch, alpha=0.5),
                dict(facecolor=colour, edgecolor="none", alpha=0.22),
                dict(facecolor="none", edgecolor=colour, linewidth=0.6),
            ):
                ax.add_patch(Rectangle(corner, unit, unit, **look))
    tx, ty = thread
    spot = (left + tx * unit, ty * unit)
    ax.add_patch(
        Rectangle(spot, unit, unit, facecolor=THREAD, edgecolor=INK, linewidth=1.6, zorder=3)
    )
    lane = (ty * bx + tx) % 32
    warp = (ty * bx + tx) // 32
    below = by * unit + 1.0
    ax.annotate(
        f"thread ({tx}, {ty}): warp {warp}, lane {lane}",
        (spot[0] + unit / 2, spot[1] + unit), (left, below), va="center",
        arrowprops=dict(arrowstyle="-", color=INK, linewidth=0.9), zorder=4,
    )  # fmt: skip
    count = -(-bx * by // 32)
    ax.text(left, below + 1.1, f"{count} warps of 32 threads, each with its own hatch" if count > 1
            else "1 warp of 32 threads", va="center", fontsize=9)  # fmt: skip
    return fig


def heat(counts: Mapping[str, Any], *, unit: str = "loads") -> Figure:
    """How often each element was touched: one panel per array, one scale for all.

    Parameters
    ----------
    counts : mapping of name to 2-D array of int
        Such as ``{"A": trace.heat("A"), "B": trace.heat("B")}``. Names that are keys of `PALETTE`
        are framed in their colour.
    unit : str
        What was counted.
    """
    arrays = {name: np.atleast_2d(np.asarray(array)) for name, array in counts.items()}
    top = max(1, max(int(array.max()) for array in arrays.values()))
    fig, axes = figure(width=7.2, height=3.3, columns=len(arrays), squeeze=False)
    for ax, (name, array) in zip(axes[0], arrays.items(), strict=True):
        picture = ax.imshow(array, cmap="cividis", vmin=0, vmax=top, interpolation="none")
        rows, columns = array.shape
        if max(rows, columns) <= 12:
            for row in range(rows):
                for column in range(columns):
                    # Dark ends of the scale need light figures.
                    colour = "#ffffff" if array[row, column] < 0.55 * top else "#101010"
                    ax.text(column, row, int(array[row, column]), ha="center", va="center",
                            fontsize=max(6, 9 - 0.2 * columns), color=colour)  # fmt: skip
        low, high = int(array.min()), int(array.max())
        text = f"{low}" if low == high else f"{low} to {high}"
        ax.set_title(f"{name}\n{text} {unit} per element")
        ax.set_xlabel("column")
        ax.set_ylabel("row")
        if name in PALETTE:
            for spine in ax.spines.values():
                spine.set(visible=True, edgecolor=PALETTE[name], linewidth=2)
    fig.colorbar(picture, ax=axes[0].tolist(), label=unit, shrink=0.8)
    return fig


def boxes(
    ax: Axes, frames: Iterable[tuple[float, float, float, float]], colour: str, *,
    tint: float = 0.35, hatch: str = "", width: float = 0.7,
) -> None:  # fmt: skip
    """Tinted rectangles as one shape; text on them stays readable on light and dark pages.

    Parameters
    ----------
    frames : iterable of (x, y, wide, high)
    tint : float
        Strength of the fill, 0 to 1.
    hatch : str
        For readers and printers without colour.
    width : float
        Of the outline, in points.
    """
    shape = Path.make_compound_path(
        *(
            Path([(x, y), (x + wide, y), (x + wide, y + high), (x, y + high), (x, y)], closed=True)
            for x, y, wide, high in frames
        )
    )
    if tint and hatch:  # a hatched shape has no tint of its own
        ax.add_patch(PathPatch(shape, facecolor=to_rgba(colour, tint), edgecolor="none"))
    fill = to_rgba(colour, tint) if tint and not hatch else "none"
    ax.add_patch(PathPatch(shape, facecolor=fill, edgecolor=colour, linewidth=width, hatch=hatch))
