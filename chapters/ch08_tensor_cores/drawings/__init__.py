"""The drawings of chapter 8 alone."""

from chapters.ch08_tensor_cores.drawings.circular_buffer import circular_buffer
from chapters.ch08_tensor_cores.drawings.copy_paths import copy_paths
from chapters.ch08_tensor_cores.drawings.demand import demand
from chapters.ch08_tensor_cores.drawings.formats import bit_formats
from chapters.ch08_tensor_cores.drawings.multicast import multicast
from chapters.ch08_tensor_cores.drawings.phases import phases
from chapters.ch08_tensor_cores.drawings.significand import significand
from chapters.ch08_tensor_cores.drawings.stream_k import stream_k

__all__ = [
    "bit_formats",
    "circular_buffer",
    "copy_paths",
    "demand",
    "multicast",
    "phases",
    "significand",
    "stream_k",
]
