"""Pictures of the course: one palette, every picture readable in light, in dark and without colour.

A picture is an inline SVG whose text and lines take the page's own colour. A helper returns a
`Figure`; `show` puts it on the page with its alternative text and its caption.
"""

from kernels.budget.ladder import standings as budget_bars
from kernels.lab.plots.budget import budget
from kernels.lab.plots.charts import (
    TITLES,
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
from kernels.lab.plots.drawings import canvas, cells, heat, hierarchy, mark, product
from kernels.lab.plots.errors import error_growth
from kernels.lab.plots.flat import flat_memory
from kernels.lab.plots.fragments import fragments, one_product
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
from kernels.lab.plots.schedule import Bar, one_call, schedule, six_steps, streams
from kernels.lab.plots.slots import slots
from kernels.lab.plots.tiles import tile_steps
from kernels.lab.plots.wide import wide_loads

__all__ = [
    "A", "B", "C", "CPP", "ENGINE_TITLES", "HATCH", "INK", "LIBRARY", "MEMORY", "NUMBA", "PALETTE",
    "THREAD", "TILE", "TITLES", "Bar", "Picture",

    "bandwidth",
    "break_even", "budget", "budget_bars",
    "canvas", "cells",
    "climb",
    "empty", "error_growth", "figure", "flat_memory", "fragments",
    "heat", "hierarchy",
    "ladder", "latency",
    "mark", "one_call", "one_product",
    "product",
    "rereading", "roofline", "rung_label", "rungs",
    "schedule", "show", "six_steps", "slots",
    "streams",
    "svg", "sweep", "tile_steps", "transfers",
    "wide_loads",
]  # fmt: skip
