"""On a phone a picture shrinks no further than its smallest letters allow."""

from __future__ import annotations

import math
import re

from bs4 import Tag

#: Pixels that the smallest letters keep; what is then wider than the page scrolls.
LETTERS = 7.5

LETTER = re.compile(r"<text[^>]*?font-size: ([\d.]+)px")
LEAST = re.compile(r"--least:(\d+)px")
WIDTH = re.compile(r'viewbox="0 0 ([\d.]+)', re.IGNORECASE)


def dress(body: Tag) -> None:
    """Widen the least width of every picture whose letters would be smaller."""
    for picture in body.select("figure.drawn > svg[style*='--least']"):
        drawn = str(picture)
        smallest = min(map(float, LETTER.findall(drawn)), default=math.inf)
        wanted = round(float(WIDTH.search(drawn)[1]) * LETTERS / smallest)
        least = max(int(LEAST.search(picture["style"])[1]), wanted)
        picture["style"] = LEAST.sub(f"--least:{least}px", picture["style"])
