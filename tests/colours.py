"""How well colours can be told from each other, as WCAG defines it."""

from collections.abc import Sequence


def luminance(rgb: Sequence[float]) -> float:
    """Relative luminance of a colour whose red, green and blue are from 0 to 1."""
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: Sequence[float], other: Sequence[float]) -> float:
    """Contrast of two colours, from 1 (the same) to 21 (black and white)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
