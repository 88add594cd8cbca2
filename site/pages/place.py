"""Where a reader is: how long each section is, in the list beside the text; place.js follows on."""

from __future__ import annotations

from typing import Any

from bs4 import BeautifulSoup, Tag

from kernels.lab.reading import LINES, PREDICTION, WORD, WORDS

#: What a reader may pass over: exercises' answers, and what has a time of its own.
ASIDE = {"dropdown", "solution", "widget"}


def minutes(section: Tag) -> int:
    """A reader's time for a section, by the rates of a whole page's, at least 1."""
    prose = [each for each in section.find_all(["p", "li"]) if not each.find_parent(_is_aside)]
    words = sum(len(WORD.findall(each.text)) for each in prose)
    programs = [
        each for each in section.select(".cell_input pre") if not each.find_parent(_is_aside)
    ]
    lines = sum(line.strip() != "" for each in programs for line in each.text.splitlines())
    boxes = len(section.select(".admonition.predict, form.guess"))
    return max(1, round(words / WORDS + lines / LINES + PREDICTION * boxes))


def _is_aside(tag: Tag) -> bool:
    return tag.name in ("details", "table") or bool(ASIDE & set(tag.get("class", [])))


def tell_lengths(context: dict[str, Any], body: Tag) -> None:
    """Put the minutes of each section behind its name in the list beside the text."""
    lengths = {section["id"]: minutes(section) for section in body.select("section > section[id]")}
    generate = context["generate_toc_html"]

    def told(*arguments: Any, **options: Any) -> Tag | str:
        contents = generate(*arguments, **options)
        if not contents:
            return contents
        contents = BeautifulSoup(str(contents), "html.parser")
        for link in contents.select("li.toc-h2 > a"):
            length = lengths.get(link["href"].removeprefix("#"))
            if length and length > 1:
                # One item of the row, also where the name holds code.
                name = contents.new_tag("span")
                name.extend(list(link.contents))
                link.append(name)
                link.append(BeautifulSoup(f" <small>{length} min</small>", "html.parser"))
        return contents

    context["generate_toc_html"] = told
