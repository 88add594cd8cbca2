"""The drawings of chapter 5b alone."""

from chapters.ch05b_banks.drawings.layouts import bank_layouts
from chapters.ch05b_banks.drawings.pending import pending
from chapters.ch05b_banks.drawings.transposes import transpose_path

__all__ = ["bank_layouts", "pending", "transpose_path"]
