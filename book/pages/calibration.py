"""How well a reader guesses, on the page of progress: what calibration.js needs for it."""

from __future__ import annotations

import json
from typing import Any

from bs4 import BeautifulSoup, Tag
from sphinx.application import Sphinx

from kernels.lab.pages import chapter_of

from .predict import anchor
from .truths import read

STRIP = (
    '<div class="calibration" id="calibration"><h2>How you guess</h2>'
    '<p class="count" role="status">The Predict boxes of the chapters take your guesses.</p>'
    '<div class="dots" aria-hidden="true"></div>'
    '<div class="scale" aria-hidden="true"><span>÷ 16</span><span>÷ 4</span><span>exact</span>'
    "<span>× 4</span><span>× 16</span></div>"
    '<ul class="by-chapter"></ul>'
    '<script type="application/json">{}</script></div>'
)


def boxes(app: Sphinx) -> list[dict[str, Any]]:
    """Every Predict box: its chapter, the name that its guess is kept under, and the answers."""
    return [
        {
            "page": chapter_of(page),
            "title": app.env.titles[chapter_of(page)].astext(),
            "id": anchor(box),
            "kinds": [each.kind for each in box.fields],
            "is": [each.answer for each in box.fields],
        }
        for page in sorted(app.env.found_docs)
        for box in read(page.rpartition("/")[2])
    ]


def fill(body: Tag, app: Sphinx) -> None:
    """Put the strip of all guesses under the list of what there is to tick off."""
    data = json.dumps(boxes(app), ensure_ascii=False).replace("</", "<\\/")
    strip = BeautifulSoup(STRIP.replace("{}", data), "html.parser")
    body.find(id="progress").insert_after(strip)
