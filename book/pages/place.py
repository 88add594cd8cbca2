"""Where a reader is: how long each section is, in the list beside the text; place.js follows on."""

from __future__ import annotations

from typing import Any

from bs4 import BeautifulSoup, Tag

from authoring import reading
from authoring.reading import LINES, PREDICTION, WORD, WORDS
from kernels.lab.pages import path_of

#: What a reader may pass over: exercises' answers, and what has a time of its own.
ASIDE = {"dropdown", "solution", "widget"}


def weight(section: Tag) -> float:
    """What a section takes of a page's time, by the rates of the whole page's."""
    prose = [each for each in section.find_all(["p", "li"]) if not each.find_parent(_is_aside)]
    words = sum(len(WORD.findall(each.text)) for each in prose)
    programs = [
        each for each in section.select(".cell_input pre") if not each.find_parent(_is_aside)
    ]
    lines = sum(line.strip() != "" for each in programs for line in each.text.splitlines())
    boxes = len(section.select(".admonition.predict, form.guess"))
    return words / WORDS + lines / LINES + PREDICTION * boxes


def shares(weights: dict[str, float], whole: int) -> dict[str, int]:
    """Divide whole minutes among sections, so that their sum is the page's."""
    total = sum(weights.values()) or 1
    exact = {name: whole * each / total for name, each in weights.items()}
    found = {name: int(each) for name, each in exact.items()}
    cut = sorted(exact, key=lambda name: found[name] - exact[name])
    return found | {name: found[name] + 1 for name in cut[: whole - sum(found.values())]}


def lengths(body: Tag, page: str) -> dict[str, int]:
    """The minutes of each section: together the page's, with the exercises' apart."""
    inner = [each for each in body.select("section[id]") if len(each.find_parents("section")) == 1]
    weights = {each["id"]: weight(each) for each in inner}
    path = path_of(page.rpartition("/")[2])
    if not path.exists():
        return shares(weights, round(sum(weights.values())))
    known = reading.read(path)
    apart = {"exercises": known.exercise_minutes} if weights.pop("exercises", None) else {}
    return shares(weights, known.minutes) | apart


def _is_aside(tag: Tag) -> bool:
    return tag.name in ("details", "table") or bool(ASIDE & set(tag.get("class", [])))


def tell_lengths(context: dict[str, Any], body: Tag, page: str) -> None:
    """Put the minutes of each section behind its name in the list beside the text."""
    found = lengths(body, page)
    generate = context["generate_toc_html"]

    def with_lengths(*arguments: Any, **options: Any) -> Tag | str:
        contents = generate(*arguments, **options)
        if not contents:
            return contents
        contents = BeautifulSoup(str(contents), "html.parser")
        for link in contents.select("li.toc-h2 > a"):
            length = found.get(link["href"].removeprefix("#"))
            if length:
                # One item of the row, also where the name holds code.
                name = contents.new_tag("span")
                name.extend(list(link.contents))
                link.append(name)
                link.append(BeautifulSoup(f" <small>{length} min</small>", "html.parser"))
        return contents

    context["generate_toc_html"] = with_lengths
