"""Pictures of the course: one palette, every picture readable in light, in dark and without colour.

A picture is an inline SVG whose text and lines take the page's own colour. A helper returns a
`Figure`; `show` puts it on the page with its alternative text and its caption.
"""

from kernels.lab.plots.absorbed import absorbed
from kernels.lab.plots.charts import (
    bandwidth,
    break_even,
    climb,
    empty,
    ladder,
    latency,
    roofline,
    rung_label,
    sweep,
    transfers,
)
from kernels.lab.plots.drawings import canvas, cells, heat, hierarchy, mark, product, pyramid
from kernels.lab.plots.flat import flat_memory
from kernels.lab.plots.overhang import overhang
from kernels.lab.plots.palette import (
    CPP,
    ENGINE_TITLES,
    HATCH,
    INK,
    LIBRARY,
    MEMORY,
    NUMBA,
    PALETTE,
    THREAD,
    TILE,
    A,
    B,
    C,
)
from kernels.lab.plots.picture import Picture, figure, show, svg
from kernels.lab.plots.rereading import rereading
from kernels.lab.plots.rungs import rungs

__all__ = [
    "A", "B", "C", "CPP", "ENGINE_TITLES", "HATCH", "INK", "LIBRARY", "MEMORY", "NUMBA",
    "PALETTE", "THREAD", "TILE", "Picture", "absorbed", "bandwidth", "break_even", "canvas",
    "cells", "climb", "empty", "figure", "flat_memory", "heat", "hierarchy", "ladder",
    "latency", "mark", "overhang", "product", "pyramid", "rereading", "roofline",
    "rung_label", "rungs", "show", "svg", "sweep", "transfers",
]  # fmt: skip
