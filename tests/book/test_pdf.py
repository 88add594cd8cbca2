"""`make pdf`: one light PDF whose outline and links lead to its sheets, with nothing cut."""

from __future__ import annotations

import io
import re
from collections import Counter
from pathlib import Path

import pikepdf
import pypdfium2
import pytest
from bs4 import BeautifulSoup

from book import pdf as printer
from book.paper.compose import compose, contents, read

#: A front page with folded tables, a chapter with all there is, a page of forms, and one that has
#: rules of its own for printing.
CHAPTERS = [
    "index",
    "chapters/ch07_register_tiling/07-register-tiling",
    "chapters/your-gpu",
    "chapters/cheat-sheet",
]
MARGIN = 20 / 25.4 * 72  # points


@pytest.fixture(scope="module")
def small(small_book, browser) -> bytes:
    """The small book on paper."""
    return printer.render(browser, small_book)


@pytest.fixture(scope="module")
def chapters(book, browser) -> bytes:
    """Some pages of the course on paper."""
    return printer.render(browser, book, CHAPTERS)


@pytest.fixture(params=["small", "chapters"])
def printed(request) -> bytes:
    """Each of the two."""
    return request.getfixturevalue(request.param)


@pytest.fixture(params=[("small", "small_book", None), ("chapters", "book", CHAPTERS)])
def both(request) -> tuple[bytes, BeautifulSoup]:
    """Each of the two, and the document that it was printed from."""
    name, folder, only = request.param
    document = compose(request.getfixturevalue(folder), only)
    return request.getfixturevalue(name), BeautifulSoup(document, "html.parser")


def texts(pdf: bytes) -> list[str]:
    """The text of each sheet."""
    return [page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(pdf)]


def plain(text: str) -> str:
    """A text without its spaces, which a PDF keeps as it likes."""
    return re.sub(r"\s", "", text)


def test_the_outline_has_every_heading_on_its_sheet(both):
    pdf, document = both
    headings = [
        " ".join(each.get_text().split()) for each in document.find_all(re.compile("^h\\d"))
    ]
    entries = list(pypdfium2.PdfDocument(pdf).get_toc())
    assert [entry.get_title() for entry in entries] == headings
    sheets = texts(pdf)
    for entry in entries:
        assert plain(entry.get_title()) in plain(sheets[entry.get_dest().get_index()])


def test_every_link_inside_leads_to_one_place(both):
    _, document = both
    places = Counter(tag["id"] for tag in document.find_all(id=True))
    assert places.most_common(1)[0][1] == 1
    links = [link["href"][1:] for link in document.select('a[href^="#"]')]
    assert len(set(links)) >= 4  # the small book's: its three pages, and an equation
    assert set(links) <= set(places)


def test_links_of_the_pdf_resolve(printed):
    with pikepdf.open(io.BytesIO(printed)) as document:
        known = set(document.Root.Dests.keys())
        links = [
            str(note.Dest)
            for page in document.pages
            for note in page.get("/Annots", [])
            if "/Dest" in note
        ]
    assert len(set(links)) >= 4
    assert set(links) <= known


def test_no_address_is_of_this_machine(printed):
    with pikepdf.open(io.BytesIO(printed)) as document:
        addresses = [
            str(note.A.URI)
            for page in document.pages
            for note in page.get("/Annots", [])
            if "/A" in note and "/URI" in note.A
        ]
    assert addresses
    assert [each for each in addresses if not each.startswith(("https://", "http://"))] == []


def test_the_contents_name_the_sheet_of_each_page(both):
    pdf, document = both
    starts = {
        plain(entry.get_title()): entry.get_dest().get_index() + 1
        for entry in pypdfium2.PdfDocument(pdf).get_toc()
        if entry.level == 0
    }
    first = plain(texts(pdf)[0])
    lines = [plain(line.a.get_text()) for line in document.select(".cover li")]
    assert len(lines) == len(starts)
    for line, number in zip(lines, starts.values(), strict=True):
        assert f"{line}{number}" in first


def test_every_sheet_has_its_number_and_its_page_over_it(printed):
    sheets = texts(printed)
    starts = {
        entry.get_dest().get_index(): plain(entry.get_title())
        for entry in pypdfium2.PdfDocument(printed).get_toc()
        if entry.level == 0
    }
    over = ""
    for index, text in enumerate(sheets):
        over = starts.get(index, over)
        assert re.search(rf"^{index + 1}\s*$", text, re.MULTILINE), f"no number {index + 1}"
        assert over in plain(text)
    assert over


def test_every_font_is_embedded(printed):
    with pikepdf.open(io.BytesIO(printed)) as document:
        fonts = [each for each in document.objects if is_font(each)]
        assert len(fonts) > 3
        for font in fonts:
            if font.Subtype == "/Type3":  # draws its letters itself
                continue
            each = font.DescendantFonts[0] if font.Subtype == "/Type0" else font
            held = set(each.FontDescriptor.keys()) & {"/FontFile", "/FontFile2", "/FontFile3"}
            assert held, f"{font.BaseFont} is not in the PDF"


def is_font(thing: pikepdf.Object) -> bool:
    """Whether an object of a PDF is a font that its pages use."""
    if not isinstance(thing, pikepdf.Dictionary) or thing.get("/Type") != "/Font":
        return False
    return not str(thing.Subtype).startswith("/CIDFont")


def test_no_text_is_outside_the_margins(printed):
    seen = 0
    for number, page in enumerate(pypdfium2.PdfDocument(printed), 1):
        width, height = page.get_size()
        text = page.get_textpage()
        for index in range(text.count_rects()):
            left, bottom, right, top = text.get_rect(index)
            inside = MARGIN - 4 < left and right < width - MARGIN + 4 and 20 < bottom < height - 20
            assert inside, f"sheet {number}: {text.get_text_bounded(left, bottom, right, top)!r}"
            seen += 1
    assert seen > 100


def test_nothing_of_a_screen_is_left(both):
    _, document = both
    wrong = "script, noscript, button, form, input, select, details, nav, .only-dark, .live-bar"
    assert document.select(wrong) == []
    assert "JavaScript, and a browser" not in document.get_text()


def test_what_was_folded_stands_at_the_back_and_nowhere_else(book):
    document = BeautifulSoup(compose(book, CHAPTERS), "html.parser")
    links = document.select(".turned-to a")
    backs = document.select("#back .back")
    assert [link["href"][1:] for link in links] == [each["id"] for each in backs]
    assert len(links) > 20
    for link, each in zip(links, backs, strict=True):
        assert each.select_one(".name").get_text() == link.get_text()
        assert len(each.get_text()) > len(link.get_text())


def test_quizzes_ask_in_the_text_and_answer_at_the_back(book):
    document = BeautifulSoup(compose(book, CHAPTERS), "html.parser")
    questions = document.select('[data-kind="Quiz"] ol[type=a]')
    answers = document.select("#back .answers ol[type=a]")
    assert len(questions) == len(answers) > 3
    for asked, told in zip(questions, answers, strict=True):
        said = [item.get_text() for item in told.find_all("li")]
        assert len(asked.find_all("li")) == len(said)
        assert sum(text.startswith("Right.") for text in said) == 1
        assert not any(text.startswith(("Right.", "Not so.")) for text in asked.stripped_strings)


def test_the_pages_come_in_the_order_of_the_book(book):
    from tests.pages import PAGES

    assert [page.file for page in contents(read(book / "index.html"))] == PAGES


@pytest.fixture
def broad(small_book, tmp_path):
    """Copy the small book with something more in its text, and return the copy."""

    def copy(more: str) -> Path:
        made = tmp_path / "html"
        for path in small_book.rglob("*"):
            if path.is_file():
                other = made / path.relative_to(small_book)
                other.parent.mkdir(parents=True, exist_ok=True)
                text = path.read_bytes()
                other.write_bytes(text.replace(b"</h1>", f"</h1>{more}".encode()))
        return made

    return copy


def test_a_broad_table_is_printed_small(broad, browser):
    row = "".join(f"<td>column{number}</td>" for number in range(14))
    table = f'<div class="pst-scrollable-table-container"><table><tr>{row}</tr></table></div>'
    pdf = printer.render(browser, broad(table), ["page"])
    assert "column13" in texts(pdf)[1]
    test_no_text_is_outside_the_margins(pdf)
