"""The drawings of the climb alone."""

from chapters.ch00_climb.drawings.mappings import mappings
from chapters.ch00_climb.drawings.outer import outer_product

__all__ = ["mappings", "outer_product"]
