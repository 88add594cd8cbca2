"""From a figure to the page: an inline SVG in the page's own text colour, with text for it."""

from __future__ import annotations

import hashlib
import io
import re
from html import escape
from typing import Any

import matplotlib
from matplotlib.figure import Figure
from matplotlib.legend import Legend

from kernels.lab.plots.palette import INK, STYLE

#: Of a picture's width: how narrow it may become before its text is too small to read.
LEGIBLE = 0.7


def figure(
    width: float = 7.2, height: float = 3.4, rows: int = 1, columns: int = 1, **options: Any
) -> tuple[Figure, Any]:
    """A figure in the course's style: ``fig, ax = figure()``.

    Parameters
    ----------
    width, height : float
        Inches; 7.2 fills the text column.
    rows, columns : int
        Axes; more than one gives an array of them.
    **options
        Passed to ``Figure.subplots``.
    """
    with matplotlib.rc_context(STYLE):
        fig = Figure(figsize=(width, height), layout="constrained")
        return fig, fig.subplots(rows, columns, **options)


def svg(fig: Figure, ink: str = "currentColor") -> str:
    """The figure as SVG text: the same bytes for the same figure, with ``ink`` as text colour."""
    for legend in fig.findobj(Legend):
        legend.set_frame_on(False)
    buffer = io.StringIO()
    with matplotlib.rc_context(STYLE):
        fig.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.S)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.S)
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    # A hundredth of a point is finer than any screen; what is written keeps its digits.
    text = re.sub(r"<[^>]*>", lambda tag: re.sub(r"(\d\.\d\d)\d+", r"\1", tag[0]), text)
    # Matplotlib makes some ids from addresses in memory: the order in which they stand lasts.
    order: dict[str, int] = {}

    def renamed(found: re.Match[str]) -> str:
        return f"{found[1]}{order.setdefault(found[2], len(order))}"

    text = re.sub(r'(\bid="|href="#|url\(#)([\w-]+)', renamed, text)
    # Several pictures share a page: an id must belong to one of them.
    prefix = "p" + hashlib.sha256(text.encode()).hexdigest()[:8]
    text = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", text)
    text = text.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana")
    # Matplotlib's own black, too, means the colour of text; it leaves a black fill unsaid.
    text = text.replace("stroke: #000000", f"stroke: {ink}")
    text = text.replace("<svg", f'<svg fill="{ink}"', 1)
    return text.replace(INK, ink)


class Picture:
    """A drawn figure with its alternative text and caption; plain text shows the alternative."""

    def __init__(self, fig: Figure, alt: str, caption: str = "") -> None:
        self.alt = " ".join(alt.split())
        self.caption = " ".join(caption.split())
        self.svg = svg(fig)

    def __repr__(self) -> str:
        return f"[figure: {self.alt}]" + (f"\n{self.caption}" if self.caption else "")

    def _repr_html_(self) -> str:
        label = f'role="img" aria-label="{escape(self.alt)}"'
        # Size comes from the viewBox: the picture shrinks with a narrow page, and never grows. The
        # book lets it shrink to its least legible width; what is wider than the page scrolls.
        width = float(re.search(r'viewBox="0 0 ([\d.]+)', self.svg)[1]) * 4 / 3
        least = f"--least:{LEGIBLE * width:.0f}px"
        style = f'style="max-width:{width:.0f}px;width:100%;height:auto;{least}"'
        drawn = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", self.svg, count=1)
        drawn = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", drawn, count=1)
        drawn = drawn.replace("<svg", f"<svg {label} {style}", 1)
        caption = f"<figcaption>{escape(self.caption)}</figcaption>" if self.caption else ""
        return f'<figure class="drawn" style="margin:0">{drawn}{caption}</figure>'


def show(fig: Figure, *, alt: str, caption: str = "") -> None:
    """Put a figure on the page.

    Parameters
    ----------
    fig : Figure
        From `figure` or any helper of this module.
    alt : str
        What a reader who cannot see the picture should learn from it.
    caption : str
        What to see in it; for measured figures end with ``record.caption()``.
    """
    from IPython.display import display

    display(Picture(fig, alt, caption))
