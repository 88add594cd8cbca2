"""The drawings of chapter 2 alone."""

from chapters.ch02_vector_add.drawings.indices import indices
from chapters.ch02_vector_add.drawings.one_element import one_element
from chapters.ch02_vector_add.drawings.overwritten import overwritten

__all__ = ["indices", "one_element", "overwritten"]
