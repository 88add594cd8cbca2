"""The drawings of chapter 6 alone."""

from chapters.ch06_profiling.drawings.detection import detection
from chapters.ch06_profiling.drawings.hiding import hiding
from chapters.ch06_profiling.drawings.load_path import load_path

__all__ = ["detection", "hiding", "load_path"]
