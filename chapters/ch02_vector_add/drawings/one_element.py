"""One element of a vector add: the bytes that cross PCIe and memory for its single addition."""

from __future__ import annotations

from matplotlib.figure import Figure

from kernels.lab.plots.drawings import boxes, canvas
from kernels.lab.plots.palette import INK, MEMORY, THREAD

#: Where an element lies or is computed, and in which colour; between them, what it crosses.
PLACES = (
    ("host\nmemory", MEMORY["host"]),
    ("device\nmemory", MEMORY["global"]),
    ("1 addition", THREAD),
)
LINKS = ("PCIe", "")
WIDE, HIGH, GAP = 2.3, 2.2, 1.7


def one_element() -> Figure:
    """Host memory, device memory and arithmetic; 8 bytes go right, 4 come back. A schematic."""
    step = WIDE + GAP
    fig, ax = canvas(3.7, 1.0, (-0.1, 2 * step + WIDE + 0.1, HIGH + 0.1, -0.5))
    for place, (name, colour) in enumerate(PLACES):
        boxes(ax, [(place * step, 0, WIDE, HIGH)], colour, width=1.2)
        ax.text(place * step + WIDE / 2, HIGH / 2, name, ha="center", va="center", fontsize=9)
    arrow = dict(arrowstyle="->", color=INK)
    for place, link in enumerate(LINKS):
        left, right = place * step + WIDE, (place + 1) * step
        middle = (left + right) / 2
        ax.text(middle, -0.1, link, ha="center", va="bottom", weight="bold", fontsize=9)
        for y, start, end, label in (
            (0.95, left, right, "8 bytes"),
            (1.95, right, left, "4 bytes"),
        ):
            ax.annotate("", (end, y), (start, y), arrowprops=arrow)
            ax.text(middle, y - 0.08, label, ha="center", va="bottom", fontsize=9)
    return fig
