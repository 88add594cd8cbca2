"""The drawings of chapter 7 alone."""

from chapters.ch07_register_tiling.drawings.levels import tile_levels
from chapters.ch07_register_tiling.drawings.spread import spread_tile
from chapters.ch07_register_tiling.drawings.waterfall import waterfall

__all__ = ["spread_tile", "tile_levels", "waterfall"]
