"""What a page shows of a widget where its script does not run: its numbers, or its questions.

The numbers are those of the stored settings, from the Python models that the scripts are tested
against. Each widget's own are in the module ``still`` of its folder.
"""

from __future__ import annotations

from html import escape
from importlib import import_module
from typing import Any, NamedTuple

from kernels.lab import widgets

ENGINES = {"numba": "Numba", "cpp": "CUDA C++", "library": "library"}


class StillTable(NamedTuple):
    """A table of text: its caption, its headings, and its rows, each led by a heading."""

    caption: str
    headings: tuple[str, ...]
    rows: list[tuple[Any, ...]]

    def html(self) -> str:
        head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in self.headings)
        body = "".join(
            f'<tr><th scope="row">{_text(first)}</th>'
            + "".join(f"<td>{_text(cell)}</td>" for cell in rest)
            + "</tr>"
            for first, *rest in self.rows
        )
        return (
            f"<table><caption>{escape(self.caption)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )


def still(kind: str, state: dict[str, Any]) -> str:
    """Return the tables of a widget, or the questions of a quiz, as HTML.

    Parameters
    ----------
    kind : str
        Name of the widget's class.
    state : dict
        Its traits by name, as a notebook stores them.

    Returns
    -------
    str
        Empty for a class that is none of the course.
    """
    if kind not in widgets.__all__:
        return ""
    own = import_module(f"{getattr(widgets, kind).__module__}.still")
    return "".join(part.html() for part in own.still(state))


def _text(value: Any) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.3g}" if isinstance(value, float) else escape(value)
