"""The small figures of the chapters, a module for each chapter that has some.

Each function returns a `kernels.lab.widgets.Micro`: one idea, one control, one sentence. What a
figure says comes from the models that the chapter itself uses.

>>> from kernels.lab import figures
>>> figures.register_budget()
"""

from kernels.lab.figures.memory_access import banks_by_stride, padded_column, sectors_by_stride
from kernels.lab.figures.naive import own_element, reuse_and_roof, warp_shape_and_sectors
from kernels.lab.figures.register_tiling import (
    buffers_over_time,
    register_budget,
    thread_tile,
    warp_shape,
)
from kernels.lab.figures.tensor_cores import fragment, rounds_of_tiles, whole_numbers
from kernels.lab.figures.tiled import edge_blocks, late_warp, loads_by_tile

__all__ = [
    "banks_by_stride",
    "buffers_over_time",
    "edge_blocks",
    "fragment",
    "late_warp",
    "loads_by_tile",
    "own_element",
    "padded_column",
    "register_budget",
    "reuse_and_roof",
    "rounds_of_tiles",
    "sectors_by_stride",
    "thread_tile",
    "warp_shape",
    "warp_shape_and_sectors",
    "whole_numbers",
]
