"""The drawings of chapter 12 alone."""

from chapters.ch12_elsewhere.drawings.sums import halving, scan_steps, three_passes

__all__ = ["halving", "scan_steps", "three_passes"]
