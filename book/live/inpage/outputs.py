"""What a cell shows: its streams, its values in all their forms, and a stand-in for IPython."""

from __future__ import annotations

import io
import sys
import time
import types
from collections.abc import Callable
from typing import Any

#: Seconds between two messages of a stream, and the characters that a cell may print.
PAUSE, LONGEST = 0.05, 200_000
METHODS = {
    "text/html": "_repr_html_",
    "text/markdown": "_repr_markdown_",
    "image/svg+xml": "_repr_svg_",
    "image/png": "_repr_png_",
}


class PageStream(io.TextIOBase):
    """Text for the page, in pieces, and no more of it for one cell than a page can hold."""

    encoding, errors = "utf-8", "replace"

    def __init__(self, name: str, post: Callable[[dict[str, Any]], None]) -> None:
        self.name, self.post = name, post
        self.parts: list[str] = []
        self.sent, self.room = 0.0, LONGEST

    def begin(self) -> None:
        """Give a new cell its room."""
        self.room, self.sent = LONGEST, time.monotonic()

    def writable(self) -> bool:
        """It can be written to."""
        return True

    def write(self, text: str) -> int:
        """Keep some text, and send what is kept every now and then."""
        if self.room >= 0:
            self.parts.append(text[: self.room])
            self.room -= len(text)
            if self.room < 0:
                self.parts.append(f"\n… cut here: a cell may print {LONGEST:,} characters\n")
        if time.monotonic() - self.sent > PAUSE:
            self.flush()
        return len(text)

    def flush(self) -> None:
        """Send what is kept."""
        text = "".join(self.parts)
        self.parts.clear()
        self.sent = time.monotonic()
        if text:
            self.post({"type": "stream", "name": self.name, "text": text})


class Shown:
    """IPython's objects that are a text with a type."""

    def __init__(self, data: str | None = None) -> None:
        self.data = data

    def __repr__(self) -> str:
        return f"<IPython.core.display.{type(self).__name__} object>"


class HTML(Shown):
    """HTML, as it is."""

    def _repr_html_(self) -> str | None:
        return self.data


class Markdown(Shown):
    """Markdown, which the page shows as HTML."""

    def _repr_markdown_(self) -> str | None:
        return self.data


class SVG(Shown):
    """A drawing."""

    def _repr_svg_(self) -> str | None:
        return self.data


def forms(value: Any) -> dict[str, Any]:
    """Every form that a value has, by its type; Markdown as HTML, too."""
    data: dict[str, Any] = {}
    if not isinstance(value, type):
        made = getattr(value, "_repr_mimebundle_", None)
        data = dict(made() or {}) if made else {}
        for kind, method in METHODS.items():
            made = getattr(value, method, None)
            text = made() if made else None
            if text is not None:
                data[kind] = text
    data.setdefault("text/plain", repr(value))
    if "text/markdown" in data and "text/html" not in data:
        from markdown_it import MarkdownIt

        data["text/html"] = MarkdownIt().enable("table").render(data["text/markdown"])
    return data


class Display:
    """IPython's ``display`` for a page."""

    def __init__(self, post: Callable[[dict[str, Any]], None]) -> None:
        self.post = post

    def __call__(self, *values: Any, **_: Any) -> None:
        """Show some values, after what was printed before."""
        sys.stdout.flush()
        sys.stderr.flush()
        for value in values:
            self.post({"type": "output", "data": forms(value)})


def stand_in(display: Display, clear: Callable[..., None]) -> None:
    """Let ``IPython`` and ``IPython.display`` be these few names."""
    package, module = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    package.__path__, package.display, package.get_ipython = [], module, lambda: None
    names = {"display": display, "HTML": HTML, "Markdown": Markdown, "SVG": SVG}
    module.__dict__.update(names, clear_output=clear)
    sys.modules |= {"IPython": package, "IPython.display": module}
