"""What files of earlier editions call a rung and its options, in today's words."""

from collections.abc import Mapping

__all__ = ["RENAMED", "kernel_of", "renamed"]

#: Options by the names that they had, and have.
RENAMED = {"GROUP": "group"}


def renamed(options: Mapping[str, int]) -> dict[str, int]:
    """Return the options by the names that they have today."""
    return {RENAMED.get(name, name): value for name, value in options.items()}


def kernel_of(rung: str, options: Mapping[str, int]) -> str:
    """Return the rung that has a recorded kernel today.

    `swizzled` once held the ideas of four rungs; then its options had a `split`, and its kernel is
    that of `split_k`.
    """
    return "split_k" if rung == "swizzled" and "split" in options else rung
