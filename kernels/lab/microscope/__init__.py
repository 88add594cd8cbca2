"""The kernel microscope: run a Numba CUDA kernel without a GPU and see what every warp does."""

from .trace import Heat, Kind, Problem, Request, Site, Trace, Work

__all__ = ["Heat", "Kind", "Problem", "Request", "Site", "Trace", "Work"]
