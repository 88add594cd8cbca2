"""A part of the benchmark, and what it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Tables = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class Step:
    """A part of the benchmark: a name to show and to resume by, and what measures it."""

    name: str
    measure: Callable[[], Tables]


def one_line(error: Exception) -> str:
    """An error in one line: compilers write many."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
