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
from kernels.lab.plots.indices import indices
from kernels.lab.plots.overhang import overhang
from kernels.lab.plots.overwritten import overwritten
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
from kernels.lab.plots.schedule import Bar, schedule, six_steps, streams

__all__ = [
    "A", "B", "Bar", "C", "CPP", "ENGINE_TITLES", "HATCH", "INK", "LIBRARY", "MEMORY", "NUMBA",
    "PALETTE", "THREAD", "TILE", "Picture", "absorbed", "bandwidth", "break_even", "canvas",
    "cells", "climb", "empty", "figure", "flat_memory", "heat", "hierarchy", "indices", "ladder",
    "latency", "mark", "overhang", "overwritten", "product", "pyramid", "rereading", "roofline",
    "rung_label", "rungs", "schedule", "show", "six_steps", "streams", "svg", "sweep",
    "transfers",
]  # fmt: skip
