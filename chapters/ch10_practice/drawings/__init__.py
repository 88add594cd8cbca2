"""The drawings of chapter 10 alone."""

from chapters.ch10_practice.drawings.problems import problems

__all__ = ["problems"]
