"""A word of the glossary says what it means where it stands; its link stays."""

from __future__ import annotations

import json

import pytest

WORD = ".bd-article a[href*='glossary.html#']"


@pytest.fixture
def chapter(browser, book):
    def go(**options):
        page = browser.new_context(**options).new_page()
        page.goto((book / "chapters/04-tiled.html").as_uri())
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
