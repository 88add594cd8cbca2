"""The drawings of chapter 4 alone."""

from chapters.ch04_tiled.drawings.barriers import two_barriers
from chapters.ch04_tiled.drawings.edges import zero_fill
from chapters.ch04_tiled.drawings.savings import block_loads, savings
from chapters.ch04_tiled.drawings.two_loads import two_loads

__all__ = ["block_loads", "savings", "two_barriers", "two_loads", "zero_fill"]
