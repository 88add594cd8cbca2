"""Ticks and the list of them: complete, kept in the browser alone, fooled by nothing there."""

from __future__ import annotations

import json
import re

import pytest
from bs4 import BeautifulSoup

from kernels.lab.pages import address_of, chapter_of, has_quiz
from kernels.lab.widgets import quiz
from tests.book.test_browser import Listener
from tests.pages import CHAPTERS, lay_out

HARDWARE = address_of("01-hardware")
KEY = "tile-by-tile.progress"
SET = "(pair) => localStorage.setItem(...pair)"
GET = "(key) => JSON.parse(localStorage.getItem(key))"


def place_of(name: str) -> str:
    return f"chapters/{name}" if name == "progress" else address_of(name)


def soup(book, name: str) -> BeautifulSoup:
    return BeautifulSoup((book / f"{place_of(name)}.html").read_text("utf-8"), "html.parser")


@pytest.fixture
def visit(browser, book):
    """Open pages of one reader: ``visit("progress")``."""
    context = browser.new_context(viewport={"width": 390, "height": 900})
    page = context.new_page()
    listener = Listener(page)

    def go(name: str):
        page.goto((book / f"{place_of(name)}.html").as_uri())
        lay_out(page)
        return page

    yield go
    assert (listener.errors, listener.foreign) == ([], [])
    context.close()


def listed(book) -> dict[str, dict]:
    data = soup(book, "progress").find(id="chapters").string
    return {chapter["name"]: chapter for chapter in json.loads(data)}


def exercises(book, chapter: str) -> list:
    """The headings of a chapter's exercises, on its core page and then on its deeper ones."""
    pages = [name for name in CHAPTERS if chapter_of(name) == chapter]
    headings = [heading for name in pages for heading in soup(book, name).find_all("h3")]
    return [
        heading
        for heading in headings
        if re.match(r"(Exercise \d+:|\d+\.|Warm-up:) ", heading.text)
    ]


def test_the_list_has_every_quiz_and_every_exercise(book):
    chapters = listed(book)
    assert chapters.keys() == {name for name in CHAPTERS if has_quiz(name) or exercises(book, name)}
    for name, chapter in chapters.items():
        titles = [each.text.removesuffix("#").strip() for each in exercises(book, name)]
        assert [each["title"] for each in chapter["exercises"]] == titles
        questions = quiz.load(name) if has_quiz(name) else []
        assert list(chapter["quiz"]) == [question["id"] for question in questions]
        for question in questions:
            assert question["options"][chapter["quiz"][question["id"]]]["right"]
    assert sum(len(chapter["exercises"]) for chapter in chapters.values()) >= 20
    assert "1. The machine under the kernel" not in str(chapters["01-hardware"]["exercises"])


def test_every_exercise_has_a_box_with_a_name(book):
    for name, chapter in listed(book).items():
        boxes = [each.find_next_sibling(class_="tick").input for each in exercises(book, name)]
        told = [(box["data-exercise"], box["data-page"], box["aria-label"]) for box in boxes]
        assert told == [
            (exercise["id"], chapter["page"], f"Done: {exercise['title']}")
            for exercise in chapter["exercises"]
        ]


def test_a_tick_is_there_after_a_reload_and_in_the_list(visit):
    page = visit("01-hardware")
    page.locator(".tick input").nth(1).check()
    assert visit("01-hardware").locator(".tick input:checked").count() == 1
    page = visit("progress")
    assert page.inner_text(".total").startswith("1 of ")
    box = page.locator("#progress input:checked")
    assert box.get_attribute("data-page") == HARDWARE
    box.focus()
    page.keyboard.press("Space")
    assert page.inner_text(".total").startswith("0 of ")
    assert page.evaluate("document.activeElement.dataset.page") == HARDWARE
    assert visit("01-hardware").locator(".tick input:checked").count() == 0


def test_the_list_tells_what_the_quizzes_keep_and_can_forget(visit):
    page = visit("progress")
    right = {
        question["id"]: [option["right"] for option in question["options"]].index(True)
        for question in quiz.load("04-tiled")
    }
    (first, place), (second, other) = list(right.items())[:2]
    answers = {first: [place], second: [(other + 1) % 3, other], "gone": [0]}
    kept = {"format": 1, "quizzes": {"04-tiled": answers}}
    page.evaluate(SET, [KEY, json.dumps(kept)])
    page = visit("progress")
    assert f"2 of {len(right)} answered, 1 at the first try." in page.inner_text("#progress")
    page.get_by_role("button", name="Forget everything").click()
    assert page.evaluate(GET, KEY) == kept  # asked once, not yet sure
    page.get_by_role("button", name="Yes, forget all ticks and answers").click()
    assert page.evaluate(GET, KEY) is None
    assert "2 of" not in page.inner_text(".total")


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "null", "[]", "7", f'{{"format": 2, "exercises": {{"{HARDWARE}": 1}}}}',
        '{"format": 1, "exercises": [], "quizzes": 3}',
        f'{{"format": 1, "exercises": {{"{HARDWARE}": {{"find-your-lane": "yes"}}}}}}',
        '{"format": 1, "exercises": {"__proto__": {"find-your-lane": true}}}',
        '{"format": 1, "quizzes": {"01-hardware": {"grid": {"0": 1}, "warp": "<b>"}}}',
    ],
)  # fmt: skip
def test_forged_or_broken_storage_counts_as_nothing(visit, text):
    visit("progress").evaluate(SET, [KEY, text])
    page = visit("progress")
    assert re.match(
        r"0 of \d+ exercises done, 0 of \d+ questions answered", page.inner_text(".total")
    )
    page.locator("#progress input").nth(0).check()
    assert page.inner_text(".total").startswith("1 of ")
    assert page.evaluate(GET, KEY)["format"] == 1


def test_without_scripts_the_page_says_where_to_look(browser, book):
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto((book / "chapters/progress.html").as_uri())
    assert "The ticks need JavaScript" in page.inner_text("article")
    assert page.locator("#progress li a").first.is_visible()
    assert not page.locator("#progress :is(input, button)").first.is_visible()
    page.goto((book / "chapters/ch01_hardware/01-hardware.html").as_uri())
    assert page.locator(".tick").count()
    assert not page.locator(".tick").first.is_visible()
    page.context.close()
