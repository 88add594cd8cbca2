"""Predict boxes: fields for a guess, and a veil over the answer below, for predict.js.

Both are hidden where no script runs, and in print: the page is then what the notebook is.
"""

from __future__ import annotations

import html
import json
import math
import re

from bs4 import BeautifulSoup, Tag
from sphinx.application import Sphinx
from sphinx.util import logging

from kernels.lab.pages import chapter_of, path_of, predictions_of

from .truths import Box, Field, read

#: A bar of a chart, as `slim` writes it: a closed path with four corners.
BAR = re.compile(r"M(-?[\d.]+) ([\d.]+)h([\d.]+)v(-?[\d.]+)h-\3z")


#: What a logarithmic axis says at a tick, powers apart: `100 TFLOP/s`, `1 ms`.
LABEL = re.compile(r"([\d.]+) ([µmkMGTP]?)(?:s|B/s|FLOP/s)")
PREFIXES = {"µ": 1e-6, "m": 1e-3, "": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
EXPONENT = -2  # how far the digits of an exponent are raised, at least

#: What tells an answer, beside outputs.
TEXT = ("p", "ul", "ol", "details")

#: How an axis is labelled where its values begin: `0`, `0.0`, `0 B/s`.
ZERO = re.compile(r"0(\.0+)?(?![\d.])")

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
        for number, each in enumerate(box.fields):
            if "bar" in each.said and isinstance(each.answer, float):
                draw(cells[each.said["bar"]["cell"]].svg, anchor(box), number, each)
            if "point" in each.said and each.answer is not None:
                ring(cells[each.said["point"]["cell"]].svg, anchor(box), number, each)
            if "log" in each.said and each.answer is not None:
                slide(cells[each.said["log"]["cell"]].svg, anchor(box), number, each)
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


def bars(picture: Tag) -> list[tuple[float, float, float, float]]:
    """The bars of a chart in the order of drawing: where each begins and ends, across and down."""
    found = []
    for path in picture.select("path[d][clip-path]"):
        match = BAR.match(path["d"])
        if match and "fill: none" not in path["style"]:
            left, start, wide, down = map(float, match.groups())
            upper, lower = sorted((start, start + down))
            found.append((left, upper, round(left + wide, 2), lower))
    return found


def draw(picture: Tag, name: str, number: int, asked: Field) -> None:
    """Put a hollow bar into a chart, which predict.js makes as long as the guess."""
    bar, every = asked.said["bar"], bars(picture)
    left, upper, right, lower = every[bar["number"]]
    unit = (right - left) / asked.answer
    if "of" in bar:
        start, _, end, _ = every[bar["of"]]
        unit = end - start
    start, _, wide, _ = map(float, picture["viewbox"].split())
    mark = Tag(name="rect")
    mark.attrs = {
        "class": "hollow", "data-guess": f"{name} {number}", "data-per": f"{unit:.6g}",
        "data-most": f"{start + wide:g}", "x": f"{left}", "y": f"{upper}",
        "width": "0", "height": f"{lower - upper:.2f}",
    }  # fmt: skip
    picture.append(mark)


def points(picture: Tag) -> list[tuple[float, float]]:
    """The points of a chart in the order of drawing: where each lies, across and down."""
    return [(float(mark["x"]), float(mark["y"])) for mark in picture.select("g[clip-path] use")]


def zero(picture: Tag) -> float:
    """Where the values of a chart's upright axis begin."""
    label = next(
        text
        for text in picture.select("text")
        if "text-anchor: end" in text["style"] and ZERO.match(text.get_text(strip=True))
    )
    return float(label.find_previous("use")["y"])


def ring(picture: Tag, name: str, number: int, asked: Field) -> None:
    """Put a ring for each answer into a chart of points; predict.js lifts them to the guesses."""
    answers = asked.answer if isinstance(asked.answer, list) else [asked.answer]
    at, every, start = asked.said["point"]["at"], points(picture), zero(picture)
    for place, (answer, which) in enumerate(zip(answers, at, strict=True)):
        x, y = every[which]
        mark = Tag(name="circle")
        mark.attrs = {
            "class": "hollow", "data-guess": f"{name} {number}", "data-place": f"{place}",
            "data-zero": f"{start}", "data-per": f"{(start - y) / answer:.6g}", "cx": f"{x}",
            "r": "5",
        }  # fmt: skip
        picture.append(mark)


def labelled(text: Tag, unit: str) -> float | None:
    """What a label of a logarithmic axis names: a power, or a figure in the unit of a guess."""
    digits = {True: "", False: ""}
    for part in text.select("tspan"):
        digits[float(part["y"]) < EXPONENT] += part.text.strip()
    if digits[True]:
        return float(digits[False]) ** int(digits[True].replace("\N{MINUS SIGN}", "-"))
    found, asked = (LABEL.fullmatch(each) for each in (text.text.strip(), f"1 {unit}"))
    return float(found[1]) * PREFIXES[found[2]] / PREFIXES[asked[2]] if found and asked else None


def scale(picture: Tag, axis: str, unit: str) -> tuple[float, float]:
    """Where 1 would lie on a logarithmic axis, "x" or "y", and how far from it ten would."""
    labels: dict[int, tuple[Tag, Tag]] = {}
    for text in picture.select("text"):
        tick = text.find_previous("use")
        if tick and not tick.find_parent("g", attrs={"clip-path": True}):
            labels.setdefault(id(tick), (tick, text))
    ticks = [
        (float(tick[axis]), value)
        for tick, text in labels.values()
        if ("text-anchor: end" in text.get("style", "")) == (axis == "y")
        and (value := labelled(text, unit))
    ]
    (first, low), *_, (last, high) = ticks
    decade = (last - first) / math.log10(high / low)
    return first - decade * math.log10(low), decade


def slide(picture: Tag, name: str, number: int, asked: Field) -> None:
    """Put a ring into a chart, which predict.js slides along a logarithmic axis to the guess."""
    said = asked.said["log"]
    axis, other = ("x", "y") if said["axis"] == "x" else ("y", "x")
    one, decade = scale(picture, axis, asked.unit)
    frame = {side: float(size) for side, size in picture.select_one("clippath rect").attrs.items()}
    long = frame["width" if axis == "x" else "height"]
    beside = frame["y"] + frame["height"]
    if "bar" in said:
        _, upper, _, lower = bars(picture)[said["bar"]]
        beside = (upper + lower) / 2
    elif "at" in said:
        beside = points(picture)[said["at"]][axis == "x"]
    mark = Tag(name="circle")
    mark.attrs = {
        "class": "hollow", "data-guess": f"{name} {number}", "data-place": "0", "data-log": axis,
        "data-one": f"{one:.6g}", "data-per": f"{decade:.6g}", "data-from": f"{frame[axis]:g}",
        "data-to": f"{frame[axis] + long:g}", f"c{other}": f"{beside:g}", "r": "5",
    }  # fmt: skip
    picture.append(mark)
