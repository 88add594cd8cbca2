"""Quizzes: they are well formed, every answer says why, and nothing that is stored is trusted."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup

from authoring.notebooks import stored_widgets
from kernels.lab import pages
from kernels.lab.widgets import Quiz
from kernels.lab.widgets.quiz import load
from kernels.lab.widgets.stills import still

ROOT = Path(__file__).parents[3]
QUIZZES = [path.stem for path in pages.paths() if pages.has_quiz(path.stem)]
KEY = "tile-by-tile.progress"
OPTIONS = [
    {"text": "`a`", "right": False, "why": "No: <b>not</b> so."},
    {"text": "b", "right": True, "why": "`b` it is."},
    {"text": "c", "right": False, "why": "Nearly."},
]
QUESTIONS = [
    {
        "id": f"q{i}",
        "ask": f"Which of `x{i}`?",
        "section": "The `y`",
        "page": "x",
        "options": OPTIONS,
    }
    for i in range(5)
]
HEADING = re.compile(r"^#{2,3} (.*)", re.MULTILINE)


def test_every_chapter_has_its_quiz_and_every_quiz_its_chapter():
    assert len(QUIZZES) >= 8
    written = {path.parent for path in pages.CHAPTERS.glob("*/quiz.toml")}
    assert written == {pages.folder_of(name) for name in QUIZZES}
    for path in pages.paths():
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        shown = [f'Quiz("{path.stem}")'] if pages.has_quiz(path.stem) else []
        assert re.findall(r'Quiz\("[^"]+"\)', code) == shown, (
            f"chapters/{path.name} should have {shown[0] if shown else 'no quiz'} in a cell"
        )


@pytest.mark.parametrize("name", QUIZZES)
def test_the_book_shows_the_questions_as_they_are_now(name):
    """A page shows what was stored when its chapter was executed."""
    notebook = nbformat.read(pages.path_of(name), as_version=4)
    states = (state for _, state in stored_widgets(notebook) if state.get("chapter") == name)
    stored = next(states, {}).get("questions")
    assert stored == load(name), (
        f"{name}.ipynb shows other questions than the quiz.toml beside it: "
        f"run `.venv/bin/python -m kernels record --only {name[:2]}` "
        "(without a GPU: with `--backend cpu`)"
    )


@pytest.mark.parametrize("name", QUIZZES)
def test_every_answer_has_a_reason_of_its_own(name):
    questions = load(name)
    assert len(questions) >= 5
    for question in questions:
        ask = question["ask"]
        assert ask.rstrip().endswith(("?", "…")), f"end the question with ? or …: {ask}"
        reasons = [option["why"] for option in question["options"]]
        short = [why for why in reasons if len(why) <= 20]
        assert not short, f"say more in each why of {ask!r}: {short}"
        assert len(set(reasons)) == len(reasons), f"give each option of {ask!r} a why of its own"
        for text in (ask, *reasons, *(each["text"] for each in question["options"])):
            assert text.count("`") % 2 == 0, f"a backtick has no partner: {text}"


def headings(page: str) -> list[str]:
    cells = json.loads(pages.path_of(page).read_text(encoding="utf-8"))["cells"]
    texts = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return [heading for text in texts for heading in HEADING.findall(text)]


@pytest.mark.parametrize("name", QUIZZES)
def test_every_question_names_a_section_that_answers_it(name):
    for question in load(name):
        assert headings(question["page"]).count(question["section"]) == 1, (
            f"{question['page']}.ipynb has not one section {question['section']!r}, which "
            f"question {question['id']!r} of {name} names"
        )


@pytest.mark.parametrize("name", QUIZZES)
def test_the_place_of_an_answer_tells_nothing(name):
    places = [
        [option["right"] for option in question["options"]].index(True) for question in load(name)
    ]
    most = max(map(places.count, places))
    assert len(set(places)) >= 3 and most <= len(places) / 2, (
        f"{name}: let the right options stand in at least three places, at most half of them "
        f"in one; question by question, they are number {[place + 1 for place in places]}"
    )


def toml(*, drop: str = "", change: tuple[str, str] = ("", ""), questions: int = 5) -> str:
    parts = []
    for i in range(questions):
        parts.append(f'[[questions]]\nid = "q{i}"\nask = "Which?"\nsection = "So"')
        for option in OPTIONS:
            right = "\nright = true" if option["right"] else ""
            parts.append(f'[[questions.options]]\ntext = "{option["text"]}"{right}\nwhy = "So."')
    return "\n".join(parts).replace(drop, "", 1 if drop else 0).replace(*change, 1)


def test_without_a_script_every_question_can_be_read():
    markup = BeautifulSoup(still("Quiz", {"questions": QUESTIONS}), "html.parser")
    assert len(markup.select("ol > li")) == 5 and len(markup.select("details")) == 15
    assert markup.select("summary")[0].decode_contents() == "<code>a</code>"
    assert markup.select("details p")[0].text == "Not so. No: <b>not</b> so. Read again: The y"
    assert markup.select("details p")[1].text == "Right. b it is."


def made() -> Quiz:
    quiz = Quiz("01-hardware")
    quiz.chapter, quiz.questions = "x", QUESTIONS
    return quiz


def test_an_answer_says_whether_it_is_right_and_why(mounted):
    page = mounted(made()).page
    options = page.locator(".quiz .option")
    options.nth(0).locator("summary").click()
    said = options.nth(0).locator("p").inner_text().split("\n")
    assert said == ["Not so. No: <b>not</b> so.", "Read again: The y"]
    options.nth(1).locator("summary").click()
    assert options.nth(1).locator("p").inner_text() == "Right. b it is."
    status = page.locator(".quiz [role=status]")
    # A browser tells of an opened answer a moment after it shows it.
    status.get_by_text("1 of 5 answered, 0 at the first try.").wait_for()
    assert options.nth(1).get_attribute("class") == "option right"
    page.get_by_role("button", name="Start again").click()
    assert status.inner_text().startswith("0 of 5 answered.")
    assert page.locator(".quiz details[open]").count() == 0


def test_a_wrong_answer_leads_to_the_section_where_a_page_has_it(mounted):
    quiz = made()
    quiz.questions = [{**question, "href": "#the-y"} for question in QUESTIONS]
    page = mounted(quiz).page
    options = page.locator(".quiz .option")
    options.nth(0).locator("summary").press("Enter")
    page.keyboard.press("Tab")
    focused = page.locator(":focus")
    assert (focused.inner_text(), focused.get_attribute("href")) == ("The y", "#the-y")
    options.nth(1).locator("summary").press("Enter")
    assert options.nth(1).locator("a").count() == 0
    markup = BeautifulSoup(still("Quiz", {"questions": quiz.questions}), "html.parser")
    assert [link.text for link in markup.select("a[href='#the-y']")] == ["The y"] * 10


def test_questions_come_one_at_a_time_and_all_are_printed(mounted):
    page = mounted(made()).page
    questions = page.locator(".quiz .questions > li")
    shown = "(all) => all.map((each) => each.checkVisibility()).join()"
    assert questions.evaluate_all(shown) == "true,false,false,false,false"
    assert page.get_by_role("button", name="Back").is_disabled()
    page.get_by_role("button", name="Next").click()
    assert questions.evaluate_all(shown) == "false,true,false,false,false"
    assert page.inner_text(".quiz .place") == "Question 2 of 5"
    page.emulate_media(media="print")
    assert "false" not in questions.evaluate_all(shown)


def test_keys_are_enough_and_each_question_names_its_answers(mounted):
    page = mounted(made()).page
    page.get_by_role("button", name="Next").press("Enter")
    group = page.get_by_role("group", name="Which of x1?")
    first = group.locator("summary").nth(1)
    first.focus()
    page.keyboard.press("Enter")
    page.locator(".quiz [role=status]").get_by_text("1 of 5 answered, 1 at").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert group.locator("details").nth(2).get_attribute("open") is not None


@pytest.fixture
def stored(browser, tmp_path):
    """Open a page with a quiz whose storage holds some text; return the page."""
    from tests.lab.widgets.conftest import page_of

    path = tmp_path / "page.html"
    path.write_text(page_of(made(), "light"), encoding="utf-8")
    context = browser.new_context()

    def opened(text: str | None):
        page = context.new_page()
        page.goto(path.as_uri())
        if text is not None:
            page.evaluate("(pair) => localStorage.setItem(...pair)", [KEY, text])
            page.reload()
        page.wait_for_selector(".widget[data-mounted]")
        return page

    yield opened
    context.close()


def test_answers_are_there_after_a_reload_and_others_are_left_alone(stored):
    other = {"format": 1, "exercises": {"p": {"e": True}}, "quizzes": {"y": {"q": [0]}}}
    page = stored(json.dumps(other))
    page.locator(".quiz summary").nth(1).click()
    page.locator(".quiz .option.right").wait_for()
    page.reload()
    page.wait_for_selector(".quiz .option.right[open]", state="attached")
    assert page.inner_text(".quiz .place") == "Question 2 of 5"  # the first without an answer
    assert "1 of 5 answered, 1 at the first try." in page.inner_text(".quiz [role=status]")
    kept = json.loads(page.evaluate("(key) => localStorage.getItem(key)", KEY))
    assert kept["exercises"] == other["exercises"] and kept["quizzes"]["y"] == {"q": [0]}
    assert kept["quizzes"]["x"]["q0"] == [1]


def by_keys(widget) -> None:
    first = widget.locator(".option").first
    first.locator("summary").focus()
    widget.page.keyboard.press("Enter")
    widget.locator(".option:is(.right, .wrong)").wait_for()
    assert len(first.locator("p").inner_text()) > 20
    widget.locator("[role=status]", has_text=" answered").wait_for()
