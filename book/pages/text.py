"""Running text and what stands in it: units, pictures, and what is wider than a telephone."""

from __future__ import annotations

import re
from pathlib import Path

from bs4 import Comment, NavigableString, Tag

from authoring import inline

ASSETS = Path(__file__).resolve().parents[1] / "assets"
#: A figure and its unit, with a space between them at which a line must not end.
FIGURE = re.compile(
    r"(?<=\d) (?=(?:[nµmkMGTP]?(?:FLOP(?:/s)?|B(?:/s)?|s|Hz|W)|[KMG]iB|bytes|%)(?!\w))"
)
#: A short sum such as T = 16 or 8 × 8, which stays on its line.
SHORT = re.compile(r"(?<!\w)(\w{1,6}) ([=×·]) (?=\w{1,6}\b)")
#: What is no running text.
KEPT = ["script", "style", "pre", "code", "svg", "math"]
#: What may be too wide for its place: keys reach it, and scroll.js excuses what has room.
WIDE = "pre, div.trace, div.output, div.pst-scrollable-table-container, div.math-block"
#: A dot of a hatch as Matplotlib writes it: eight curves, from its lowest point round to it again.
DOT = re.compile(r"M (\S+) (\S+)\s+(?:C [^\nC]*\s+){3}C [^\nC]* (\S+)\s+(?:C [^\nC]*\s+){4}z")
SHAPE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')


def keep_units(page: Tag) -> None:
    """Tie every figure of the running text to its unit, and a short sum together."""
    tie = "\N{NO-BREAK SPACE}"
    for text in page.find_all(string=lambda text: text and re.search("[0-9=×·] ", text)):
        if type(text) is NavigableString and not text.find_parent(KEPT):
            tied = SHORT.sub(rf"\1{tie}\2{tie}", FIGURE.sub(tie, text))
            if tied != text:
                text.replace_with(tied)


def name_origins(page: Tag, path: Path) -> None:
    """Say of each figure in the running text where it comes from."""
    origins = dict(inline.origins(path))
    for name in page.find_all(string=lambda text: isinstance(text, Comment)):
        if not name.startswith(" =") or name == " = ":
            continue
        figure = page.new_tag("span", attrs={"class": "figure", "title": origins[name.strip(" =")]})
        name.insert_before(figure)
        for part in list(figure.next_siblings)[1:]:
            ends = isinstance(part, Comment) and part == " = "
            figure.append(part.extract())
            if ends:
                part.extract()
                break
        name.extract()


def let_keys_scroll(page: Tag) -> None:
    """Let keys reach what may be too wide for its place."""
    for wide in page.select(WIDE):
        wide["tabindex"] = "0"


def shape_drawings(page: Tag) -> None:
    """Let drawings of book/assets keep their place until they are loaded; folded ones wait."""
    for image in page.select('img[src$=".svg"]:not([height])'):
        path = ASSETS / Path(image["src"]).name
        if path.is_file():
            width, height = SHAPE.search(path.read_text("utf-8")).groups()
            image["width"], image["height"] = round(float(width)), round(float(height))
        if image.find_parent("details"):
            image["loading"] = "lazy"


def shorten_hatches(page: Tag) -> None:
    """Write the dots of hatches as arcs: a page has thousands, and they were half its weight."""
    for path in page.select("pattern > path[d]"):
        path["d"] = DOT.sub(_arcs, path["d"])


def _arcs(dot: re.Match[str]) -> str:
    """A circle as two arcs, from its lowest point by its highest."""
    x, low, high = dot.groups()
    wide = round(float(low) - float(high), 3)
    half = f"a{wide / 2:g} {wide / 2:g} 0 1 0 0"
    return f"M{x} {low}{half} {-wide:g}{half} {wide:g}z"
