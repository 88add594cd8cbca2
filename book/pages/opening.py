"""The opening of a page: what it takes and gives, and its set-up, fold into a line."""

from __future__ import annotations

import re

from bs4 import BeautifulSoup, Tag

#: How the paragraphs begin that say what a page takes and gives.
TERMS = ("Afterwards you can", "Time:", "You need:", "No GPU?")
#: How the cells begin that a page runs first.
SET_UP = re.compile(r"# set-up|# What this page uses")
MINUTES = re.compile(r"Time:\s*(\d+ minutes)")


def fold(body: Tag) -> None:
    """Fold a page's terms, where it has them, and its set-up behind a line with its minutes."""
    terms = [
        part
        for part in body.select(".bd-article > section > p, section > p")
        if part.strong and part.contents[0] is part.strong and part.strong.text in TERMS
    ]
    terms = [part for part in terms if part.parent.find("h1", recursive=False)]
    if not terms:
        return
    time = MINUTES.search(" ".join(part.text for part in terms))
    line = f"{time[1]}: what" if time else "What"
    fold = BeautifulSoup(
        f'<details class="terms"><summary>{line} you need, and what you can do afterwards</summary>'
        "</details>",
        "html.parser",
    ).details
    terms[0].insert_before(fold)
    # What shows nothing runs with whatever needs it.
    hidden = body.select("div.cell.tag_hide-input:not(:has(.cell_output))")
    terms += [cell for cell in hidden if SET_UP.match(cell.pre.text)]
    fold.extend(part.extract() for part in terms)
