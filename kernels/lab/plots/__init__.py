"""Pictures of the course: one palette, every picture readable in light, in dark and without colour.

A picture is an inline SVG whose text and lines take the page's own colour. A helper returns a
`Figure`; `show` puts it on the page with its alternative text and its caption.
"""

from kernels.lab.plots.absorbed import absorbed
from kernels.lab.plots.attention import (
    attention_matrices,
    attention_speeds,
    attention_tiles,
    attention_traffic,
    causal_tiles,
    running_softmax,
)
from kernels.lab.plots.barriers import two_barriers
from kernels.lab.plots.block_order import block_order
from kernels.lab.plots.budget import BudgetBar, budget, budget_bars
from kernels.lab.plots.buffers import double_buffer
from kernels.lab.plots.calls import call_costs, graph_of_calls
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
from kernels.lab.plots.chip import dies, mapping
from kernels.lab.plots.circular_buffer import circular_buffer
from kernels.lab.plots.copy_paths import copy_paths
from kernels.lab.plots.demand import demand
from kernels.lab.plots.detection import detection
from kernels.lab.plots.drawings import canvas, cells, heat, hierarchy, mark, product, pyramid
from kernels.lab.plots.edges import zero_fill
from kernels.lab.plots.errors import error_growth
from kernels.lab.plots.flat import flat_memory
from kernels.lab.plots.flight import in_flight
from kernels.lab.plots.formats import bit_formats
from kernels.lab.plots.fragments import fragments, one_product
from kernels.lab.plots.gpus import gpu_links, holdings, link_times, received, speed_ups
from kernels.lab.plots.gradients import gradients
from kernels.lab.plots.hiding import hiding
from kernels.lab.plots.indices import indices
from kernels.lab.plots.kitchen import kitchen
from kernels.lab.plots.lanes import divergence
from kernels.lab.plots.late_error import late_error
from kernels.lab.plots.layouts import bank_layouts, structs_and_fields
from kernels.lab.plots.levels import tile_levels
from kernels.lab.plots.load_path import load_path
from kernels.lab.plots.mappings import mappings
from kernels.lab.plots.multicast import multicast
from kernels.lab.plots.one_element import one_element
from kernels.lab.plots.outer import outer_product
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
from kernels.lab.plots.pending import pending
from kernels.lab.plots.picture import Picture, figure, show, svg
from kernels.lab.plots.problems import problems
from kernels.lab.plots.rates import rates
from kernels.lab.plots.rereading import rereading
from kernels.lab.plots.rungs import rungs
from kernels.lab.plots.savings import block_loads, savings
from kernels.lab.plots.schedule import Bar, one_call, schedule, six_steps, streams
from kernels.lab.plots.significand import significand
from kernels.lab.plots.slots import slots
from kernels.lab.plots.speed_of_light import speed_of_light
from kernels.lab.plots.spread import spread_tile
from kernels.lab.plots.stream_k import stream_k
from kernels.lab.plots.sums import halving, scan_steps, three_passes
from kernels.lab.plots.tiles import tile_steps
from kernels.lab.plots.transposes import transpose_path
from kernels.lab.plots.two_loads import two_loads
from kernels.lab.plots.waterfall import waterfall
from kernels.lab.plots.wide import wide_loads

__all__ = [
    "A", "B", "C", "CPP", "ENGINE_TITLES", "HATCH", "INK", "LIBRARY", "MEMORY", "NUMBA", "PALETTE",
    "THREAD", "TILE", "TITLES", "Bar", "BudgetBar", "Picture", "absorbed", "attention_matrices",
    "attention_speeds",
    "attention_tiles", "attention_traffic", "bandwidth", "bank_layouts", "bit_formats",
    "block_loads", "block_order", "break_even", "budget", "budget_bars",
    "call_costs", "canvas", "causal_tiles", "cells",
    "circular_buffer", "climb", "copy_paths", "demand", "detection", "dies", "divergence",
    "double_buffer", "empty", "error_growth", "figure", "flat_memory", "fragments", "gpu_links",
    "gradients", "graph_of_calls", "halving", "heat", "hiding", "hierarchy", "holdings",
    "in_flight", "indices", "kitchen", "ladder", "late_error", "latency", "link_times", "load_path",
    "mapping", "mappings", "mark", "multicast", "one_call", "one_element", "one_product",
    "outer_product", "overhang", "overwritten", "pending", "problems", "product", "pyramid",
    "rates", "received", "rereading", "roofline", "rung_label", "rungs", "running_softmax",
    "savings", "scan_steps", "schedule", "show", "significand", "six_steps", "slots",
    "speed_of_light", "speed_ups", "spread_tile", "stream_k", "streams", "structs_and_fields",
    "svg", "sweep", "three_passes", "tile_levels", "tile_steps", "transfers", "transpose_path",
    "two_barriers", "two_loads", "waterfall", "wide_loads", "zero_fill",
]  # fmt: skip
