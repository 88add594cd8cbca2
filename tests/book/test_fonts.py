"""The fonts of the pages: they have every letter that the pages write, and their licences."""

from __future__ import annotations

import re

import pytest
from bs4 import BeautifulSoup

from book import fonts
from tests.pages import PAGES

#: Letters that the typefaces lack: a browser takes them from another font.
LACKING = set("ᴷᵀᵖᵢⱼₖ↳○")


@pytest.mark.parametrize("name", PAGES)
def test_every_letter_of_a_page_is_in_its_font(book, name):
    body = BeautifulSoup((book / f"{name}.html").read_text("utf-8"), "html.parser").article
    for other in body.select("script, style, svg, math, .widget, [aria-hidden]"):
        other.extract()
    code = "".join(each.extract().text for each in body(["pre", "code"]))
    prose = "".join(each.text for each in body(["p", "li", "dt", "dd"]))
    assert set(re.sub(r"\s", "", code)) - set(fonts.CODE) - LACKING == set()
    assert set(re.sub(r"\s", "", prose)) - set(fonts.TEXT) - LACKING == set()
    signs = "".join(each.text for each in body(["h1", "h2", "h3", "td", "th", "figcaption"]))
    assert set(re.sub(r"\s", "", signs)) - set(fonts.SIGNS) - LACKING == set()


def test_every_font_has_its_licence():
    for package, cuts in fonts.CUTS.items():
        licence = (fonts.FOLDER / f"LICENSE-{package.name}.txt").read_text("utf-8")
        assert "SIL Open Font License, Version 1.1" in licence
        assert all((fonts.FOLDER / f"{each.name}.woff2").is_file() for each in cuts)


def test_the_letters_are_there_before_a_file_is_drawn(browser, book):
    page = browser.new_page()
    page.goto(
        (book / "chapters/ch01_hardware/01-hardware.html").as_uri(), wait_until="domcontentloaded"
    )
    there = "[...document.fonts].filter((face) => face.status === 'loaded').length"
    assert page.evaluate(there) >= sum(map(len, fonts.CUTS.values()))
    page.close()
