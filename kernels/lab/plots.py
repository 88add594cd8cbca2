"""Pictures of the course: one palette, every picture readable in light, in dark and without colour.

A picture is an inline SVG whose text and lines take the page's own colour, so that one drawing
serves both themes. Colours are mid-tones (at least 3:1 on white and on near-black), and each
meaning also has its own hatch or label. A helper returns a `Figure`; `show` puts it on the page
with its alternative text and its caption.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Polygon, Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from kernels.lab.units import percent, quantity, size

# Matrices and the things drawn on them.
A, B, C = "#2f80d0", "#c8700a", "#1f9464"
TILE, THREAD = "#9a5fc9", "#d63a5e"
# Engines, in charts.
NUMBA, CPP, LIBRARY = A, B, "#808080"

#: Colour of each meaning.
PALETTE = {
    "A": A, "B": B, "C": C, "tile": TILE, "thread": THREAD,
    "numba": NUMBA, "cpp": CPP, "library": LIBRARY,
}  # fmt: skip
#: Colour of each level of memory, from the nearest to the farthest.
MEMORY = {
    "registers": "#c4437a",
    "shared": "#9a5fc9",
    "L1": "#6676dc",
    "L2": "#2a87b8",
    "global": "#1f9464",
    "host": "#8f7a20",
}
#: Hatch of each meaning, for readers and printers without colour.
HATCH = {
    "A": "//", "B": "\\\\", "C": "..", "tile": "xx", "thread": "",
    "numba": "", "cpp": "//", "library": "..",
}  # fmt: skip
ENGINE_TITLES = {"numba": "Numba", "cpp": "CUDA C++", "library": "cuBLAS"}

# Stands for "the colour of the page's text" until the SVG is written.
INK = "#010203"
STYLE = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 11,
    "axes.facecolor": "none",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "none",
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "grid.alpha": 0.25,
    "grid.color": "#808080",
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "savefig.transparent": True,
    "svg.fonttype": "none",
    "svg.hashsalt": "tile by tile",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def figure(width: float = 7.2, height: float = 3.4, rows: int = 1, columns: int = 1, **options: Any):
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
    buffer = io.StringIO()
    with matplotlib.rc_context(STYLE):
        fig.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.S)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.S)
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    # Several pictures share a page: an id must belong to one of them.
    prefix = "p" + hashlib.sha256(text.encode()).hexdigest()[:8]
    text = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", text)
    text = text.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana")
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
        # Size comes from the viewBox: the picture shrinks with a narrow page, and never grows.
        width = re.search(r'viewBox="0 0 ([\d.]+)', self.svg)
        style = f'style="max-width:{float(width[1]) * 4 / 3:.0f}px;width:100%;height:auto"'
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
