"""The drawings of chapter 3 alone."""

from chapters.ch03_naive.drawings.absorbed import absorbed
from chapters.ch03_naive.drawings.overhang import overhang

__all__ = ["absorbed", "overhang"]
