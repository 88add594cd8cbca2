"""The drawings of chapter 5 alone."""

from chapters.ch05_memory_access.drawings.layouts import bank_layouts, structs_and_fields
from chapters.ch05_memory_access.drawings.pending import pending
from chapters.ch05_memory_access.drawings.transposes import transpose_path

__all__ = ["bank_layouts", "pending", "structs_and_fields", "transpose_path"]
