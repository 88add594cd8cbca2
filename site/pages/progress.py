"""What a reader can tick off: the exercises and the quizzes of all chapters, for progress.js."""

from __future__ import annotations

import html
import json
import re
from typing import Any

from bs4 import BeautifulSoup, Tag
from docutils import nodes
from sphinx.application import Sphinx

from kernels.lab.widgets import quiz

PAGE = "chapters/progress"
EXERCISE = re.compile(r"(?:Exercise )?\d+[.:] ")


def collect(app: Sphinx, doctree: nodes.document) -> None:
    """Note the exercises of a page: numbered headings, each with the name of its place."""
    found = [
        {"id": section["ids"][0], "title": section.next_node(nodes.title).astext()}
        for section in doctree.findall(nodes.section)
        if isinstance(section.parent, nodes.section)  # the title of a page has a number, too
        and EXERCISE.match(section.next_node(nodes.title).astext())
    ]
    app.env.metadata[app.env.docname]["exercises"] = found


def tick(body: Tag, page: str, exercises: list[dict[str, str]]) -> None:
    """Put a box to tick under the heading of each exercise."""
    titles = {exercise["id"]: exercise["title"] for exercise in exercises}
    for heading in body.find_all("h3"):
        name = heading.parent.get("id")
        if name not in titles:
            continue
        label = html.escape(f"Done: {titles[name]}")
        box = (
            f'<label class="tick"><input type="checkbox" data-page="{page}" '
            f'data-exercise="{name}" aria-label="{label}"> done</label>'
        )
        heading.insert_after("\n", BeautifulSoup(box, "html.parser"))


def fill(body: Tag, app: Sphinx) -> None:
    """Put the list of all there is to tick off into its page."""
    place = body.find(id="progress")
    place.clear()
    place.append(BeautifulSoup(overview(app), "html.parser"))


def overview(app: Sphinx) -> str:
    """Return the list of all there is to tick off, which progress.js fills with what is kept."""
    chapters: list[dict[str, Any]] = []
    for page in sorted(app.env.found_docs):
        exercises = app.env.metadata[page].get("exercises", [])
        name = page.rpartition("/")[2]
        questions = quiz.load(name) if (quiz.FOLDER / f"{name}.toml").is_file() else []
        rights = {
            question["id"]: [option["right"] for option in question["options"]].index(True)
            for question in questions
        }
        if exercises or rights:
            entry = {"page": page, "name": name, "exercises": exercises, "quiz": rights}
            chapters.append({**entry, "title": app.env.titles[page].astext()})
    data = json.dumps(chapters, ensure_ascii=False).replace("</", "<\\/")
    return (
        '<p class="total" role="status"></p>'
        + "".join(map(section, chapters))
        + '<button type="button" class="forget">Forget everything</button>'
        + f'<script type="application/json" id="chapters">{data}</script>'
    )


def section(chapter: dict[str, Any]) -> str:
    """One chapter of the list: its quiz, and its exercises with their boxes."""
    address = f"../{chapter['page']}.html"
    questions = len(chapter["quiz"])
    quiz_line = (
        f'<p class="score"><a href="{address}#check-yourself">Quiz</a>: '
        f'<span data-quiz="{chapter["name"]}">{questions} questions.</span></p>'
    )
    items = "".join(
        f'<li><input type="checkbox" data-page="{chapter["page"]}" data-exercise="{one["id"]}" '
        f'aria-label="{html.escape("Done: " + one["title"])}"> '
        f'<a href="{address}#{one["id"]}">{html.escape(one["title"])}</a></li>'
        for one in chapter["exercises"]
    )
    return (
        f'<div class="chapter"><h2><a href="{address}">{html.escape(chapter["title"])}</a></h2>'
        f'{quiz_line if questions else ""}<ul class="ticks">{items}</ul></div>'
    )


def outdated(app: Sphinx, *_: Any) -> list[str]:
    """The page with the list is written on every build: any chapter may have changed."""
    return [PAGE] if PAGE in app.env.found_docs else []
