"""A word of the glossary says what it means where it stands; its link stays."""

from __future__ import annotations

import json

import pytest

from tests.pages import mount_all, settle

WORD = ".bd-article a[href*='glossary.html#']"


@pytest.fixture
def chapter(browser, book):
    def go(**options):
        page = browser.new_context(**options).new_page()
        page.goto((book / "chapters/ch04_tiled/04-tiled.html").as_uri())
        page.locator(WORD).first.scroll_into_view_if_needed()
        return page

    return go


def test_every_entry_is_a_whole_sentence(book):
    text = (book / "_static/book/words.js").read_text("utf-8")
    words = json.loads(text.partition("= ")[2].rstrip(";\n"))
    assert len(words) > 80
    for title, meaning in words.values():
        assert title and meaning.rstrip(")`”").endswith((".", "?", "!")) and len(meaning) < 600, (
            title
        )


def test_it_shows_under_a_pointer_and_in_focus_and_goes_with_escape(chapter):
    page = chapter()
    page.hover(WORD)
    page.wait_for_selector(".meaning:visible")
    page.keyboard.press("Escape")
    assert not page.is_visible(".meaning")
    page.mouse.move(0, 0)
    page.locator(WORD).nth(1).focus()
    page.keyboard.press("Shift+Tab")
    page.wait_for_selector(".meaning:visible")
    assert page.locator(WORD).first.get_attribute("aria-describedby") == "meaning"
    page.context.close()


def test_a_first_tap_shows_it_and_a_second_follows_the_link(chapter):
    page = chapter(has_touch=True, viewport={"width": 390, "height": 800})
    page.tap(WORD)
    page.wait_for_selector(".meaning:visible")
    box = page.locator(".meaning").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390
    page.tap(WORD)
    page.wait_for_url("**/glossary.html#*")
    page.context.close()


#: Each note: how far it stands off its word's line, and what it lies over.
NOTES = """() => {
  const place = (each) => each.getBoundingClientRect();
  const all = (css) => [...document.querySelectorAll(css)];
  const seen = (css) => all(css).filter((each) => each.checkVisibility());
  const over = (a, b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const others = seen(
    ".note, .bd-article :is(p, pre, figure, table, svg, .widget, .admonition, .cell-tools)",
  );
  return seen(".note").map((note) => {
    const words = [...note.parentElement.querySelectorAll("[data-noted]")];
    const off = words.map((word) => Math.abs(word.getClientRects()[0].top - place(note).top));
    const hit = others.filter((each) => !each.contains(note) && over(place(note), place(each)));
    const things = hit.map((each) => each.outerHTML.slice(0, 80));
    return { word: note.dataset.word, off: Math.min(...off), hit: things };
  });
}"""


def test_the_margin_says_what_a_word_means_where_there_is_one(browser, book):
    page = browser.new_page(viewport={"width": 1920, "height": 1000})
    page.goto((book / "chapters/ch04_tiled/04-tiled.html").as_uri())
    mount_all(page)
    for word in page.locator(WORD).all():
        word.evaluate("(word) => word.scrollIntoView({ block: 'center', behavior: 'instant' })")
        settle(page)
    page.wait_for_function("document.querySelectorAll('.note').length > 8")
    settle(page)
    notes = page.evaluate(NOTES)
    assert len({note["word"] for note in notes}) == len(notes)
    assert all(note["off"] < 120 and not note["hit"] for note in notes), notes
    assert page.locator(".note").evaluate_all(
        "(all) => all.every((e) => e.ariaHidden && !e.innerText)"
    )
    page.emulate_media(media="print")
    assert not page.locator(".note").first.is_visible()
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": 1280, "height": 1000})
    page.wait_for_function("!document.querySelector('.note')")
    page.close()
