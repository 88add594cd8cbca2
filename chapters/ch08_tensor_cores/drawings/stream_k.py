"""Tiles divided among clusters: whole, and in equal shares of their steps."""

from __future__ import annotations

from kernels.lab.plots.drawings import canvas, cells

#: Of each cluster, one after the other: a tile, and how many of its steps.
WHOLE = [[(0, 6), (3, 6)], [(1, 6), (4, 6)], [(2, 6)]]
SHARES = [[(0, 6), (3, 4)], [(1, 6), (4, 2), (3, 2)], [(2, 6), (4, 4)]]
WAYS = {"whole tiles": WHOLE, "equal shares": SHARES}
#: The colour of a tile that is divided; the others have C's.
ROLES = {3: "tile", 4: "thread"}


def stream_k():
    """Five tiles of six steps for three clusters; each square is a step, time runs to the right."""
    fig, ax = canvas(4.6, 2.9, (-3.6, 12.4, 10.2, -1.2))
    for panel, (way, clusters) in enumerate(WAYS.items()):
        top = 6 * panel
        ax.text(0, top - 0.35, way, weight="bold", fontsize=9)
        for row, pieces in enumerate(clusters):
            y, x = top + 1.3 * row, 0
            ax.text(-0.4, y + 0.5, f"cluster {row}", ha="right", va="center", fontsize=9)
            for tile, steps in pieces:
                cells(ax, 1, steps, at=(x, y), role=ROLES.get(tile, "C"), tint=0.25,
                      labels=lambda _row, _step, tile=tile: tile)  # fmt: skip
                x += steps
    return fig
