"""Numbers and nouns in the sentences of the figures."""

from __future__ import annotations


def count(number: int, noun: str) -> str:
    """A number with its noun: ``"1 block"``, ``"2 blocks"``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def brief(value: float) -> str:
    """A number with at most three figures."""
    return f"{value:.3g}"
