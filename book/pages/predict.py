"""Predict boxes: fields for a guess, and a veil over the answer below, for predict.js.

Both are hidden where no script runs, and in print: the page is then what the notebook is.
"""

from __future__ import annotations

import html
import json

from bs4 import BeautifulSoup, Tag
from sphinx.application import Sphinx
from sphinx.util import logging

from kernels.lab.pages import chapter_of, path_of, predictions_of

from .truths import Box, Field, read

#: What tells an answer, beside outputs.
TEXT = ("p", "ul", "ol", "details")

logger = logging.getLogger(__name__)


def anchor(box: Box) -> str:
    """The name of a box in its page."""
    return f"predict-{box.id.removesuffix('-predict').removeprefix('predict-')}"


def watch(app: Sphinx, page: str, source: list[str]) -> None:
    """Let a page be built anew when what its boxes ask changes."""
    path = predictions_of(page.rpartition("/")[2])
    if path.is_file():
        app.env.note_dependency(str(path))


def dress(body: Tag, page: str, app: Sphinx) -> bool:
    """Give every Predict box of a page its fields; return whether there are any."""
    name = page.rpartition("/")[2]
    boxes = read(name)
    places = [
        title.parent for title in body.select("p.admonition-title") if title.text == "Predict"
    ]
    if not boxes:
        return False
    cells = dict(zip(shown(name), body.select("div.cell"), strict=True))
    for box, place in zip(boxes, places, strict=True):
        ask(place, box, page)
        veil(place, box, cells)
    return True


def shown(name: str) -> list[str]:
    """The names of the code cells that a page shows, in their order."""
    notebook = json.loads(path_of(name).read_text("utf-8"))
    return [
        cell["id"]
        for cell in notebook["cells"]
        if cell["cell_type"] == "code" and "remove-cell" not in cell["metadata"].get("tags", [])
    ]


def ask(place: Tag, box: Box, page: str) -> None:
    """Put the fields of a box under its question."""
    name = anchor(box)
    place["id"], place["role"], place["aria-labelledby"] = name, "group", f"{name}-title"
    place["class"] = [*place["class"], "predict"]
    place.find(class_="admonition-title")["id"] = f"{name}-title"
    judged = json.dumps([each.answer for each in box.fields])
    fields = "".join(control(name, number, each) for number, each in enumerate(box.fields))
    form = (
        f'<form class="guess" data-page="{chapter_of(page)}" '
        f"data-is='{judged}' novalidate>{fields}"
        '<div class="acts"><button>Commit</button>'
        '<button type="button" class="show">Show me</button></div>'
        f'<p class="fault" id="{name}-fault" aria-live="polite"></p></form>'
        '<div class="said" tabindex="-1" hidden></div>'
    )
    place.append(BeautifulSoup(f'<div class="stage">{form}</div>', "html.parser"))


def control(name: str, number: int, asked: Field) -> str:
    """The control of one field."""
    label, fault = html.escape(asked.label), f'aria-describedby="{name}-fault"'
    data = (
        f'data-asks="{asked.kind}" data-unit="{html.escape(asked.unit)}" '
        f'data-by="{"recorded" if asked.recorded else "it’s"}" data-label="{label}"'
    )
    if asked.kind == "words":
        return f'<label class="field" {data}>{label}<textarea rows="2" {fault}></textarea></label>'
    if asked.kind == "number":
        unit = f" {html.escape(asked.unit)}" if asked.unit else ""
        least = asked.said.get("least", 0)
        return (
            f'<label class="field" {data}>{label} <span><input inputmode="decimal" size="7" '
            f'autocomplete="off" data-least="{least}" {fault}>{unit}</span></label>'
        )
    if asked.kind == "choice":
        options = "".join(
            f'<label><input type="radio" name="{name}-{number}" value="{place}" {fault}>'
            f"<span>{html.escape(option)}</span></label>"
            for place, option in enumerate(asked.said["options"])
        )
        return (
            f'<fieldset class="field choices" {data}><legend>{label}</legend>{options}</fieldset>'
        )
    return sketch(asked, label, data)


def sketch(asked: Field, label: str, data: str) -> str:
    """An axis with a point to draw up or down at each of its places."""
    top = asked.said["top"]
    step = 1 if all(map(float.is_integer, asked.answer or ())) else top / 100
    label += f", from 0 to {top}" + (f" {asked.unit}" if asked.unit else "")
    points = "".join(
        f'<label><input type="range" min="0" max="{top}" step="{step:g}" value="0" '
        f'aria-label="{html.escape(place)}"><output></output><span>{html.escape(place)}</span></label>'
        for place in asked.said["points"]
    )
    return (
        f'<fieldset class="field sketch" data-top="{top}" {data}><legend>{label}</legend>'
        f'<div class="axis">{points}</div></fieldset>'
    )


def veil(place: Tag, box: Box, cells: dict[str, Tag]) -> None:
    """Veil the outputs from a box to the last that tells the answer, and what is said of it.

    That is all text between the cell that answers and the first cell after the last.
    """
    answers = {id(cells[each.cell]) for each in box.fields if each.cell in cells}
    waiting = {*answers, *(id(cells[name]) for name in [box.through] if name)}
    said = False
    for part in place.find_next_siblings():
        if "cell" in part.get("class", []):
            if said and not waiting:
                return
            waiting.discard(id(part))
            for output in part.select(".cell_output"):
                output["data-veil"] = anchor(box)
        elif part.name in TEXT and (box.tells_itself or not waiting & answers):
            part["data-veil"] = anchor(box)
            said = True
        elif "admonition" in part.get("class", []):
            return
    if waiting:
        logger.warning("the answer to %s stands in no cell of its section", anchor(box))
