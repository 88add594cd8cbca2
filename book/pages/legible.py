"""Letters in pictures: as wide as those they were drawn for, and on a phone never too small.

Matplotlib lays a picture out for DejaVu Sans. The letters of the page are narrower: enlarged by
`GROWN`, they take the same room. On a phone, small letters grow further where lines are far enough
apart; a picture whose letters are still too small is wider than the page, and scrolls.
"""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise
from pathlib import Path

from bs4 import Tag

GROWN = 1.2
#: Letters from `SMALL` on may become `RAISED` on a phone, in a picture's own units.
SMALL, RAISED = 8, 11.2
#: A picture whose letters are all this large was drawn for a phone: they alone limit it.
LARGE = 15
#: How wide each letter of the pages is, a share of its size, by weight: `make fonts` measures them.
WIDTHS = json.loads(Path(__file__).with_name("widths.json").read_text("utf-8"))
BOLD = "font-weight: 700"
#: Pixels that the smallest letters have on a phone.
LETTERS = 11

GAP = 2  # between two texts of a line, at least
#: How much of a text lies before its place.
BEFORE = {"text-anchor: end": 1, "text-anchor: middle": 0.5}

GROWN_SIZE = re.compile(r"font-size: \D*([\d.]+)")
SIZE = re.compile(r"font-size: ([\d.]+)px")
LEAST = re.compile(r"--least:(\d+)px")
#: Lines of one text, which stand close together, are moved into their places one by one.
LINES = "text[style*=font-size][transform^=translate]"


def dress(body: Tag) -> None:
    """Enlarge the letters of every picture, and widen what would still be too small to read."""
    for picture in body.select("figure.drawn > svg[style*='--least']"):
        raises = not picture.select(LINES) and not crowded(picture)
        smallest = math.inf
        for text in picture.select("[style*=font-size]"):
            drawn = float(SIZE.search(text["style"])[1])
            size, raised = round(drawn * GROWN, 2), raises and drawn >= SMALL
            grown = f"{size:g}px"
            if raised and size < RAISED:
                grown = f"max({grown}, var(--letters, 0px))"
            text["style"] = SIZE.sub(f"font-size: {grown}", text["style"])
            if text.name == "text":  # not an exponent
                smallest = min(smallest, max(size, RAISED if raised else 0))
        widen(picture, RAISED if raises else 0)
        wanted = float(picture["viewbox"].split()[2]) * LETTERS / smallest
        drawn = int(LEAST.search(picture["style"])[1]) if not LARGE <= smallest < math.inf else 0
        least = max(drawn, round(wanted))
        picture["style"] = LEAST.sub(f"--least:{least}px", picture["style"])


def wide(text: Tag, size: float) -> float:
    """How wide a text is in its picture; a letter that the font lacks is as wide as its size."""
    letters = WIDTHS["700" if BOLD in text["style"] else "400"]
    return size * sum(letters.get(letter, 1) for letter in text.text.strip())


def crowded(picture: Tag) -> bool:
    """Whether raised letters of one text would touch those of the next on its line."""
    words = [
        (float(text["y"]), float(text["x"]), wide(text, RAISED))
        for text in picture.select("text[x][y][style*='text-anchor: middle']:not([transform])")
    ]
    return any(
        line == other and to - at < (long + longer) / 2 + GAP
        for (line, at, long), (other, to, longer) in pairwise(sorted(words))
    )


def widen(picture: Tag, raised: float) -> None:
    """Give a picture room at its sides for the letters that reach beyond them."""
    left, top, width, height = map(float, picture["viewbox"].split())
    right = left + width
    for text in picture.select("text[x][style*=font-size]:not([transform])"):
        at, long = (
            float(text["x"]),
            wide(text, max(float(GROWN_SIZE.search(text["style"])[1]), raised)),
        )
        before = next((share for name, share in BEFORE.items() if name in text["style"]), 0)
        left = min(left, at - before * long)
        right = max(right, at + (1 - before) * long)
    picture["viewbox"] = f"{left:.4g} {top:g} {right - left:.4g} {height:g}"
