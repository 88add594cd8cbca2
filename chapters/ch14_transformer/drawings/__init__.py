"""The drawings of the page on a transformer's roofline alone."""

from chapters.ch14_transformer.drawings.parts import roofs, times

__all__ = ["roofs", "times"]
