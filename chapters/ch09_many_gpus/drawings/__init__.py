"""The drawings of chapter 9 alone."""

from chapters.ch09_many_gpus.drawings.gpus import (
    gpu_links,
    holdings,
    link_times,
    received,
    speed_ups,
)

__all__ = ["gpu_links", "holdings", "link_times", "received", "speed_ups"]
