"""Attention: the matrix between its products, its tiles, its mask, and what it moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from kernels.lab.plots.charts import empty
from kernels.lab.plots.drawings import boxes, canvas
from kernels.lab.plots.palette import CPP, INK, LIBRARY, NUMBA, THREAD, TILE, A, B, C
from kernels.lab.plots.picture import figure

#: Colour and hatch of each array of an attention, on every picture.
LOOK = {
    "Q": (A, "//"), "K": (B, "\\\\"), "V": (THREAD, "--"), "out": (C, ".."), "S": (TILE, "xx"),
    "P": (LIBRARY, ""),
}  # fmt: skip


def attention_matrices() -> Figure:
    """Two products with a softmax between, and the N × N matrices that lie between; schematic."""
    fig, ax = canvas(6.2, 2.5, (-0.6, 21.4, 8.6, -1.4))
    placed = (
        ("Q", "Q", 0, 0, 1.4, 7), ("K", "Kᵀ", 2.6, 0, 5.1, 1.4),
        ("S", "S = Q·Kᵀ, N × N", 2.6, 1.9, 5.1, 5.1),
        ("P", "P = softmax(S), N × N", 9.4, 1.9, 5.1, 5.1),
        ("V", "V", 15.6, 0, 1.4, 7), ("out", "out = P·V", 18.6, 0, 1.4, 7),
    )  # fmt: skip
    for key, name, x, y, wide, high in placed:
        colour, hatch = LOOK[key]
        boxes(ax, [(x, y, wide, high)], colour, hatch=hatch, tint=0.25, width=1.2)
        above = key in ("S", "P")
        ax.text(x + wide / 2, y + high + 0.25 if above else y - 0.25, name,
                ha="center", va="top" if above else "bottom", fontsize=9)  # fmt: skip
    for start, end in (((7.9, 4.5), (9.2, 4.5)), ((14.7, 4.5), (15.5, 4.5))):
        ax.annotate("", end, start, arrowprops=dict(arrowstyle="-|>", color=INK))
    return fig


def running_softmax(row: Sequence[float], steps: Sequence[Mapping[str, float]]) -> Figure:
    """A row of scores, and the running maximum and sum after each tile of it.

    Parameters
    ----------
    row : sequence of float
        The scores.
    steps : sequence of mappings
        After each tile: ``end`` (elements seen), ``largest``, ``rescale`` and ``total``.
    """
    fig, ax = canvas(5.4, 0.8 + 0.42 * len(steps), (-0.2, len(row) + 9, len(steps) + 1.3, -0.9))
    ax.set_aspect("auto")
    columns = {"largest": len(row) + 1.6, "rescale": len(row) + 4.6, "total": len(row) + 7.4}
    for name, x in columns.items():
        ax.text(x, -0.25, name, ha="center", va="bottom", fontsize=9, weight="bold")
    before = 0
    for y, step in enumerate(steps):
        end = int(step["end"])
        boxes(ax, [(x, y + 0.1, 1, 0.8) for x in range(before)], LIBRARY, tint=0.12, width=0.5)
        boxes(ax, [(x, y + 0.1, 1, 0.8) for x in range(before, end)], TILE, tint=0.3, width=1.2)
        boxes(ax, [(x, y + 0.1, 1, 0.8) for x in range(end, len(row))], LIBRARY, tint=0, width=0.4)
        for x in range(end):
            ax.text(x + 0.5, y + 0.5, f"{row[x]:g}", ha="center", va="center", fontsize=8)
        for x, name in (
            (len(row) + 1.6, "largest"),
            (len(row) + 4.6, "rescale"),
            (len(row) + 7.4, "total"),
        ):
            ax.text(x, y + 0.5, f"{step[name]:.3g}", ha="center", va="center", fontsize=9)
        before = end
    ax.text(0, len(steps) + 0.3, "the tile of this step is framed", fontsize=8, va="top")
    return fig


def attention_tiles(queries: tuple[int, int], keys: tuple[int, int], count: int) -> Figure:
    """One block of fused attention: its rows of Q and out, one tile of K and V; a schematic.

    Parameters
    ----------
    queries, keys : (int, int)
        First tile, counted in tiles, and how many: of the block's queries, of its keys now.
    count : int
        Tiles along either axis.
    """
    fig, ax = canvas(5.6, 3.6, (-0.6, 17.4, 11.4, -2.6))
    side = 8 / count
    q, k = queries[0] * side, keys[0] * side
    whole = (
        ("Q", 0, 2, 1.4, 8), ("K", 2.6, 0, 8, 1.4), ("V", 12, 2, 1.4, 8), ("out", 15, 2, 1.4, 8),
    )  # fmt: skip
    for name, x, y, wide, high in whole:
        boxes(ax, [(x, y, wide, high)], LOOK[name][0], tint=0.1, width=0.8)
        label = {"K": "Kᵀ"}.get(name, name)
        ax.text(x + wide / 2, y - 0.25, label, ha="center", va="bottom", fontsize=9)
    ax.plot([2.6, 10.6, 10.6, 2.6, 2.6], [2, 2, 10, 10, 2], "--", color=INK, linewidth=0.8)
    high, wide = queries[1] * side, keys[1] * side
    used = (
        ("Q", 0, 2 + q, 1.4, high), ("K", 2.6 + k, 0, wide, 1.4), ("S", 2.6 + k, 2 + q, wide, high),
        ("V", 12, 2 + k, 1.4, wide), ("out", 15, 2 + q, 1.4, high),
    )  # fmt: skip
    for name, x, y, across, down in used:
        colour, hatch = LOOK[name]
        boxes(ax, [(x, y, across, down)], colour, hatch=hatch, tint=0.4, width=1.4)
    ax.text(6.6, 10.25, "N × N scores: only this tile exists", ha="center", va="top", fontsize=9)
    ax.annotate("", (10.4, 2.4 + q + high), (2.8, 2.4 + q + high),
                arrowprops=dict(arrowstyle="-|>", color=INK))  # fmt: skip
    return fig


def causal_tiles(count: int, queries: int, keys: int) -> Figure:
    """Which tiles of the scores a causal mask leaves: whole, cut by the diagonal, or skipped.

    Parameters
    ----------
    count : int
        Queries, and keys.
    queries, keys : int
        Of a tile.
    """
    fig, ax = canvas(4.6, 3.4, (-0.5, 1.75 * count, 1.08 * count, -0.12 * count))
    kinds: dict[str, list[tuple[int, int, int, int]]] = {"whole": [], "diagonal": [], "skipped": []}
    for q in range(0, count, queries):
        for k in range(0, count, keys):
            kind = "skipped" if k > q + queries - 1 else "diagonal"
            kind = "whole" if k + keys - 1 <= q else kind
            kinds[kind].append((k, q, keys, queries))
    looks = {"whole": (C, ".."), "diagonal": (B, "\\\\"), "skipped": (LIBRARY, "")}
    for place, (kind, frames) in enumerate(kinds.items()):
        colour, hatch = looks[kind]
        tint = 0 if kind == "skipped" else 0.35
        boxes(ax, frames, colour, tint=tint, hatch=hatch, width=0.9)
        y = count * (0.2 + 0.2 * place)
        boxes(ax, [(1.1 * count, y, 0.1 * count, 0.1 * count)], colour, tint=tint, hatch=hatch)
        ax.text(1.24 * count, y + 0.05 * count, f"{kind}: {len(frames)}", va="center", fontsize=9)
    ax.plot([0, count], [0, count], color=INK, linewidth=1)
    ax.text(count / 2, -0.02 * count, "keys", ha="center", va="bottom", fontsize=9)
    ax.text(-0.02 * count, count / 2, "queries", ha="right", va="center", fontsize=9, rotation=90)
    return fig


def attention_traffic(ways: Mapping[str, Mapping[str, int]]) -> Figure:
    """What kernels move, as a bar for each way and a piece for each array.

    Parameters
    ----------
    ways : mapping of title to mapping of array to int
        Bytes that warps asked for.
    """
    fig, ax = figure(6.0, 0.9 + 0.5 * len(ways))
    named = set()
    for y, arrays in enumerate(ways.values()):
        left = 0.0
        for name, count in arrays.items():
            colour, hatch = LOOK[name]
            label = "" if name in named else name
            ax.barh(y, count / 1e6, 0.62, left=left, color=colour, hatch=hatch, edgecolor=INK,
                    linewidth=0.6, label=label)  # fmt: skip
            left += count / 1e6
            named.add(name)
    ax.set_yticks(range(len(ways)), ways)
    ax.invert_yaxis()
    ax.set_xlabel("loaded and stored, MB")
    ax.legend(ncols=len(named), loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=8)
    return fig


def attention_speeds(rows: Sequence[Mapping]) -> Figure:
    """The speed of each kernel of a record's table ``attention``, causal and not.

    Parameters
    ----------
    rows : sequence of mappings
        Each with ``kernel``, ``causal`` and ``flops`` (per second).
    """
    if not rows:
        return empty("Nothing is recorded yet.")
    kernels = list(dict.fromkeys(row["kernel"] for row in rows))
    fig, ax = figure(6.0, 0.9 + 0.42 * len(kernels))
    looks = {"numba": (NUMBA, ""), "cpp": (CPP, "//")}
    for row in rows:
        place = kernels.index(row["kernel"]) + (0.2 if row["causal"] else -0.2)
        colour, hatch = looks.get(row["engine"], (LIBRARY, ".."))
        speed = row["flops"] / 1e12
        ax.barh(place, speed, 0.36, color=colour, hatch=hatch, edgecolor=INK, linewidth=0.6)
        text = f"{speed:.3g}" + (" causal" if row["causal"] else "")
        ax.annotate(
            text, (speed, place), (5, 0), textcoords="offset points", va="center", fontsize=8
        )
    ax.set_yticks(range(len(kernels)), kernels)
    ax.invert_yaxis()
    ax.set_xlabel("TFLOP/s")
    ax.set_xlim(0, 1.25 * max(row["flops"] for row in rows) / 1e12)
    return fig
