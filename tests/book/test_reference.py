"""The reference pages as built: the search knows the words, the cheat sheet is one page."""

import json
import re

from tests.pages import ROOT, lay_out


def test_the_search_finds_the_words_of_the_glossary(book):
    script = (book / "_static/book/sections.js").read_text(encoding="utf-8")
    found = json.loads(script[script.index("[") : script.rindex("]") + 1])
    headings = {
        heading.replace("’", "'")
        for address, _, heading, _ in found
        if address.startswith("chapters/glossary.html#")
    }
    page = (ROOT / "chapters/glossary.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^### (.+)$", page, re.MULTILINE)) <= headings


def test_the_cheat_sheet_is_one_sheet_of_paper(book, browser, tmp_path):
    page = browser.new_page()
    page.goto((book / "chapters/cheat-sheet.html").as_uri())
    lay_out(page)
    page.pdf(path=tmp_path / "sheet.pdf", format="A4")
    printed = (tmp_path / "sheet.pdf").read_bytes()
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 2, "a front and a back"
    page.close()
