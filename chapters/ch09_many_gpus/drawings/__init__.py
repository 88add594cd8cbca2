"""The drawings of chapter 9 alone."""

from chapters.ch09_many_gpus.drawings.gpus import (
    collective_times,
    column_then_row,
    gpu_links,
    holdings,
    link_times,
    received,
    scaling,
    speed_ups,
)

__all__ = [
    "collective_times", "column_then_row", "gpu_links", "holdings", "link_times", "received",
    "scaling", "speed_ups",
]  # fmt: skip
