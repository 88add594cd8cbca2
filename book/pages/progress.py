"""What a reader can tick off: the exercises and the quizzes of all chapters, for progress.js.

An exercise counts for its chapter, on whichever of the chapter's pages it stands: its tick is kept
under the name of the core page, so that it lasts when the exercise moves to a deeper page.
"""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Tag
from docutils import nodes
from sphinx.application import Sphinx

from kernels.lab.pages import EXERCISE, chapter_of, folder_of
from kernels.lab.widgets import quiz

PAGE = "chapters/progress"


def collect(app: Sphinx, doctree: nodes.document) -> None:
    """Note the exercises of a page: numbered headings, each with the name of its place."""
    page = app.env.docname
    found = [
        {
            "id": section["ids"][0],
            "title": section.next_node(nodes.title).astext(),
        }
        for section in doctree.findall(nodes.section)
        if isinstance(section.parent, nodes.section)  # the title of a page has a number, too
        and EXERCISE.match(section.next_node(nodes.title).astext())
    ]
    app.env.metadata[page]["exercises"] = found


def box(page: str, exercise: dict[str, Any]) -> str:
    """The box to tick of an exercise on a page."""
    return (
        f'<input type="checkbox" data-page="{chapter_of(page)}" '
        f'data-exercise="{exercise["id"]}" '
        f'aria-label="{html.escape("Done: " + exercise["title"])}">'
    )


def tick(body: Tag, page: str, exercises: list[dict[str, Any]]) -> None:
    """Put a box to tick under the heading of each exercise."""
    named = {exercise["id"]: exercise for exercise in exercises}
    for heading in body.find_all("h3"):
        exercise = named.get(heading.parent.get("id"))
        if exercise:
            label = f'<label class="tick">{box(page, exercise)} done</label>'
            heading.insert_after("\n", BeautifulSoup(label, "html.parser"))


def fill(body: Tag, app: Sphinx) -> None:
    """Put the list of all there is to tick off into its page."""
    place = body.find(id="progress")
    place.clear()
    place.append(BeautifulSoup(overview(app), "html.parser"))


def chapters_of(app: Sphinx) -> list[dict[str, Any]]:
    """Every chapter with something to do: its exercises, and each question's right answer."""
    chapters: list[dict[str, Any]] = []
    every = sorted(app.env.found_docs)
    for page in filter(lambda name: chapter_of(name) == name, every):
        exercises = [
            {**exercise, "on": part}
            for part in every
            if chapter_of(part) == page
            for exercise in app.env.metadata[part].get("exercises", [])
        ]
        name = page.rpartition("/")[2]
        questions = quiz.load(name) if (folder_of(name) / "quiz.toml").is_file() else []
        rights = {
            question["id"]: [option["right"] for option in question["options"]].index(True)
            for question in questions
        }
        if exercises or rights:
            entry = {"page": page, "name": name, "exercises": exercises, "quiz": rights}
            chapters.append({**entry, "title": app.env.titles[page].astext()})
    return chapters


def write(app: Sphinx) -> None:
    """Write how much there is to do in each chapter, for the bars of done.js."""
    totals = [
        {
            "page": each["page"],
            "name": each["name"],
            "exercises": len(each["exercises"]),
            "quiz": each["quiz"],
        }
        for each in chapters_of(app)
    ]
    path = Path(app.outdir) / "_static" / "book" / "totals.js"
    path.write_text(f"window.tileTotals = {json.dumps(totals)};\n", encoding="utf-8")


def overview(app: Sphinx) -> str:
    """Return the list of all there is to tick off, which progress.js fills with what is kept."""
    chapters = chapters_of(app)
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
        f"<li>{box(chapter['page'], one)} "
        f'<a href="../{one["on"]}.html#{one["id"]}">{html.escape(one["title"])}</a></li>'
        for one in chapter["exercises"]
    )
    return (
        f'<div class="chapter"><h2><a href="{address}">{html.escape(chapter["title"])}</a></h2>'
        f'{quiz_line if questions else ""}<ul class="ticks">{items}</ul></div>'
    )


def outdated(app: Sphinx, *_: Any) -> list[str]:
    """The page with the list is written on every build: any chapter may have changed."""
    return [PAGE] if PAGE in app.env.found_docs else []
