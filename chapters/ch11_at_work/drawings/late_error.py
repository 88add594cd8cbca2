"""An error inside a kernel, and the call of the host that reports it."""

from __future__ import annotations

from matplotlib.figure import Figure

from kernels.lab.plots.drawings import boxes, canvas
from kernels.lab.plots.palette import INK, THREAD, A, C

#: What the host calls: its name, when it begins, and how long it takes.
CALLS = (("launch", 0, 2), ("next call", 2, 2.4), ("copy: waits", 4.4, 2.4))
KERNEL = (2, 6)  #: when the kernel begins on the GPU, and when it fails


def late_error() -> Figure:
    """Host and GPU over time: the kernel fails after its launch has returned; a schematic."""
    fig, ax = canvas(4.8, 1.9, (-1.6, 11.6, 5.6, -0.4))
    ax.set_aspect("auto")
    for y, name in ((0.6, "host"), (2.4, "GPU")):
        ax.text(-0.2, y + 0.5, name, ha="right", va="center", fontsize=9)
    boxes(ax, [(start, 0.6, long, 1) for _, start, long in CALLS], A)
    for name, start, long in CALLS:
        ax.text(start + long / 2, 1.1, name, ha="center", va="center", fontsize=8)
    start, failed = KERNEL
    boxes(ax, [(start, 2.4, failed - start, 1)], C)
    ax.text((start + failed) / 2, 2.9, "kernel", ha="center", va="center", fontsize=8)
    ax.plot([failed], [2.9], "X", color=THREAD, markersize=9)
    ax.text(failed + 0.3, 2.95, "illegal address", va="center", fontsize=8)
    text = CALLS[-1][1] + CALLS[-1][2]
    ax.plot([text], [1.1], "X", color=THREAD, markersize=9)
    ax.text(text + 0.3, 1.1, "error code", va="center", fontsize=8)
    ax.annotate("", (11, 4.3), (0, 4.3), arrowprops=dict(arrowstyle="-|>", color=INK))
    ax.text(11, 4.5, "time", ha="right", va="top", fontsize=8)
    return fig
