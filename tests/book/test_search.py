"""The search: results while typing, sections with their links, the glossary's first."""

from __future__ import annotations

import pytest

FIELD = "#pst-search-dialog input"
FOUND = "#pst-search-dialog .found a"


@pytest.fixture
def dialog(browser, book):
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto((book / "chapters/ch02_vector_add/02-vector-add.html").as_uri())
    page.click(".search-button-field")
    yield page
    page.close()


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("bank conflict", "glossary.html#bank-conflict"),
        ("bank conflicts", "glossary.html#bank-conflict"),
        ("Occupancy", "glossary.html#occupancy"),
        ("two kitchens", "01-hardware.html#two-kitchens"),
        ("coalesced", "glossary.html#coalescing"),
        ("colaesced", "glossary.html#coalescing"),
        ("syncthreads", "glossary.html#barrier"),
    ],
)
def test_it_finds_while_typing(dialog, asked, first):
    dialog.fill(FIELD, asked)
    dialog.wait_for_selector(FOUND)
    assert dialog.locator(FOUND).first.get_attribute("href").endswith(first)


def test_a_result_shows_words_of_its_text_and_enter_leads_there(dialog):
    dialog.fill(FIELD, "barrier")
    dialog.wait_for_selector(FOUND)
    assert "barrier" in dialog.locator("#pst-search-dialog .found mark").first.inner_text().lower()
    assert "section" in dialog.inner_text("#pst-search-dialog .count")
    dialog.keyboard.press("ArrowDown")
    dialog.keyboard.press("ArrowDown")
    second = dialog.locator(FOUND).nth(1).get_attribute("href")
    assert dialog.evaluate("document.activeElement.getAttribute('href')") == second
    dialog.focus(FIELD)
    dialog.keyboard.press("Enter")
    dialog.wait_for_url("**/glossary.html#barrier")


def test_a_question_is_answered_and_the_box_stays_on_the_screen(dialog):
    dialog.fill(FIELD, "why is my kernel slow")
    dialog.wait_for_selector(FOUND)
    box = dialog.locator("#pst-search-dialog").bounding_box()
    assert box["y"] >= 0 and box["y"] + box["height"] <= 800
    for _ in range(dialog.locator(FOUND).count()):
        dialog.keyboard.press("ArrowDown")
        place = dialog.evaluate("document.activeElement.getBoundingClientRect().toJSON()")
        assert place["top"] >= box["y"] and place["bottom"] <= box["y"] + box["height"]


def test_it_says_when_there_is_nothing(dialog):
    dialog.fill(FIELD, "zzyzxq")
    dialog.wait_for_function(
        "document.querySelector('#pst-search-dialog .count').textContent.startsWith('Nothing')"
    )
    assert dialog.locator(FOUND).count() == 0


def test_the_glass_is_not_on_the_first_letter(dialog):
    glass = dialog.locator("#pst-search-dialog .fa-magnifying-glass").bounding_box()
    pad = dialog.evaluate(
        f"parseFloat(getComputedStyle(document.querySelector('{FIELD}')).paddingLeft)"
    )
    field = dialog.locator(FIELD).bounding_box()
    assert glass["x"] + glass["width"] <= field["x"] + pad
