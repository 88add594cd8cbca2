"""The drawings of chapter 5 alone."""

from chapters.ch05_memory_access.drawings.layouts import structs_and_fields

__all__ = ["structs_and_fields"]
