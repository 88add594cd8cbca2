"""Old addresses lead on, with a script and without; a chapter's pages are one in the progress."""

from __future__ import annotations

import json
import tomllib
from functools import cache
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from kernels.lab.notebooks import CHAPTERS
from tests.book.test_browser import Listener
from tests.book.test_progress import GET, KEY, SET
from tests.pages import PAGES

MOVED = tomllib.loads((CHAPTERS / "moved.toml").read_text(encoding="utf-8"))
#: Every heading of the first edition, by its page: links to them are in the world.
FIRST_EDITION = json.loads((Path(__file__).parent / "anchors.json").read_text(encoding="utf-8"))


@cache
def soup(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def file(book: Path, name: str) -> Path:
    return book / (f"{name}.html" if name in PAGES else f"chapters/{name}.html")


def stands(book: Path, address: str) -> bool:
    """Whether a page has a heading of its own with this anchor, or, without one, is there."""
    name, _, anchor = address.partition("#")
    path = file(book, name)
    if not path.is_file() or not anchor:
        return path.is_file()
    return any(not each.find_parent(class_="moved") for each in soup(path).find_all(id=anchor))


# ------------------------------------------------------------------------------------- the course


def test_every_new_place_is_in_the_book_and_no_old_one(book):
    assert [new for new in MOVED.values() if not stands(book, new)] == [], "no such heading"
    assert [old for old in MOVED if stands(book, old)] == [], "these have not moved"
    assert [old for old in MOVED if not file(book, old.partition("#")[0]).is_file()] == []


def test_every_heading_of_the_first_edition_can_still_be_found(book):
    addresses = [f"{page}#{anchor}" for page, found in FIRST_EDITION.items() for anchor in found]
    lost = [old for old in addresses if old not in MOVED and not stands(book, old)]
    told = "say in chapters/moved.toml where these are now:\n" + "\n".join(lost)
    assert not lost, told


def test_a_page_whose_headings_stay_pays_nothing(book):
    left = {old.partition("#")[0] for old in MOVED}
    stay = [name for name in PAGES if name.removeprefix("chapters/") not in left]
    assert stay
    for name in stay:
        assert "location.replace" not in (book / f"{name}.html").read_text(encoding="utf-8"), name


# -------------------------------------------------------------------------------------- two pages


OLD_TO_NEW = [
    ("the-derivation", "03-pair-deeper.html#where-it-comes-from", "Where it comes from"),
    ("a-renamed-section", "03-pair.html#the-idea", "The idea"),
]


@pytest.mark.parametrize(("old", "new", "title"), OLD_TO_NEW)
def test_an_old_address_lands_at_the_new_place(browser, small_book, old, new, title):
    page = browser.new_page()
    listener = Listener(page)
    start = (small_book / "chapters/03-pair.html").as_uri()
    for way in (f"{start}#{old}", start):  # a link from elsewhere, and one on the page itself
        page.goto(way)
        page.evaluate("(old) => { if (!location.hash) location.hash = old; }", old)
        page.wait_for_url(f"**/{new}")
        heading = page.locator(f"[id='{new.partition('#')[2]}'] > h2")
        assert heading.inner_text().startswith(title)
        assert heading.evaluate("(h) => h.getBoundingClientRect().top") < 700
    assert (listener.errors, listener.foreign) == ([], [])
    page.close()


@pytest.mark.parametrize(("old", "new", "title"), OLD_TO_NEW)
def test_without_scripts_an_old_address_finds_a_link(browser, small_book, old, new, title):
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto((small_book / "chapters/03-pair.html").as_uri())
    assert not page.locator(".moved p").first.is_visible(), "nobody asked"
    page.goto((small_book / "chapters/03-pair.html").as_uri() + f"#{old}")
    (line,) = (each for each in page.locator(".moved p").all() if each.is_visible())
    assert line.inner_text() == f"This has moved: {title}"
    line.locator("a").click()
    assert page.url.endswith(new)
    page.context.close()


def test_a_link_in_a_page_may_use_an_old_address(small_book):
    (link,) = soup(small_book / "chapters/03-pair.html").find_all("a", string="its derivation")
    assert link["href"] == "03-pair-deeper.html#where-it-comes-from"


def test_an_exercise_on_a_deeper_page_counts_for_its_chapter(browser, small_book):
    page = browser.new_page()
    visit = lambda name: page.goto((small_book / f"chapters/{name}.html").as_uri())  # noqa: E731
    visit("03-pair-deeper")
    page.evaluate(
        SET,
        [KEY, json.dumps({"format": 1, "exercises": {"chapters/03-pair": {"double-it": True}}})],
    )
    visit("03-pair-deeper")
    (box,) = page.locator(".tick input").all()
    assert box.is_checked(), "ticked when it stood on the core page and had another title"
    visit("progress")
    assert page.inner_text(".total").startswith("1 of 2 exercises done")
    assert page.locator("#progress .chapter").count() == 1
    links = page.locator("#progress li a").evaluate_all(
        "(all) => all.map((a) => a.getAttribute('href'))"
    )
    assert links == ["../chapters/03-pair.html#once", "../chapters/03-pair-deeper.html#twice"]
    page.locator("#progress input:checked").uncheck()
    assert page.evaluate(GET, KEY)["exercises"]["chapters/03-pair"] == {}
    page.locator("#progress input").last.check()
    assert page.evaluate(GET, KEY)["exercises"]["chapters/03-pair"] == {"twice": True}
    page.close()
