"""Pictures keep their letters legible where a page is narrow."""

import base64
import html

import pytest
from bs4 import BeautifulSoup

from book.pages import fonts, legible
from tests.pages import PAGES

LEAST = 11  # pixels on a telephone
#: The smallest letters of each picture, exponents apart, in pixels; a picture with none has 99.
LETTERS = """() => [...document.querySelectorAll("figure.drawn > svg")].map((picture) => {
  const size = (text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a;
  const plain = [...picture.querySelectorAll("text")].filter(
    (text) => text.textContent.trim() && !text.querySelector("tspan") && !text.getScreenCTM().b);
  return [picture.getAttribute("aria-label"), Math.min(99, ...plain.map(size))];
})"""

#: How many pictures scroll although they need no more than a page without its margins.
CUT = """() => [...document.querySelectorAll("figure.drawn > svg")].filter((picture) =>
  parseFloat(getComputedStyle(picture).minWidth) <= innerWidth - 8
  && picture.parentElement.clientWidth < picture.getBoundingClientRect().width - 0.5
).length"""
#: The names in tables that stand on more than one line.
BROKEN = """() => [...document.querySelectorAll(":is(td, th) code")].filter((code) => {
  const lines = [...code.getClientRects()].map((line) => Math.round(line.top));
  return new Set(lines).size > 1 && !/\\s/.test(code.textContent);
}).map((code) => code.textContent)"""


def dressed(*texts: str):
    """A picture of these texts, made legible."""
    drawn = f'<svg style="width:100%;--least:323px" viewBox="0 0 345.6 216">{"".join(texts)}</svg>'
    body = BeautifulSoup(f'<div><figure class="drawn">{drawn}</figure></div>', "html.parser")
    legible.dress(body)
    return body.svg


def words(size: float, more: str = "") -> str:
    return f'<text style="font-size: {size}px"{more}>word</text>'


@pytest.mark.parametrize(
    ("letters", "least"),
    [((9, 12), 339), ((8, 12), 339), ((6, 9), 528), ((), 323), ((13, 14), 244)],
)
def test_a_picture_shrinks_no_further_than_its_smallest_letters_allow(letters, least):
    assert dressed(*map(words, letters))["style"] == f"width:100%;--least:{least}px"


def test_letters_grow_and_small_ones_more_on_a_phone():
    sizes = [text["style"] for text in dressed(words(8), words(9), words(7)).select("text")]
    assert sizes == [
        "font-size: max(9.6px, var(--letters, 0px))",
        "font-size: max(10.8px, var(--letters, 0px))",
        "font-size: 8.4px",
    ]


def test_lines_that_stand_close_together_are_not_raised():
    picture = dressed(words(8, ' transform="translate(3 4)"'), words(8))
    assert {text["style"] for text in picture.select("text")} == {"font-size: 9.6px"}
    assert picture["style"].endswith("--least:396px")


@pytest.mark.parametrize(
    ("apart", "size"), [(26, "9.6px"), (28, "max(9.6px, var(--letters, 0px))")]
)
def test_words_that_would_touch_are_not_raised(apart, size):
    place = '<text style="font-size: 8px; text-anchor: middle" x="{}" y="5">word</text>'
    first, _ = dressed(place.format(20), place.format(20 + apart)).select("text")
    assert first["style"].startswith(f"font-size: {size}")


@pytest.mark.parametrize(
    ("anchor", "x", "box"),
    [("end", 10, [-19.03, 364.6]), ("start", 340, [0, 369.0]), ("middle", 100, [0, 345.6])],
)
def test_a_picture_has_room_for_the_letters_at_its_sides(anchor, x, box):
    style = f"font-size: 10px; font-weight: 700; text-anchor: {anchor}"
    picture = dressed(f'<text style="{style}" x="{x}" y="5">word</text>')
    left, _, width, _ = map(float, picture["viewbox"].split())
    assert [left, width] == pytest.approx(box, abs=0.2)


def test_letters_are_as_wide_as_the_font_draws_them(browser):
    """All letters of the font alone, and words, whose letters stand closer together in pairs."""
    page = browser.new_page()
    data = base64.b64encode((fonts.FOLDER / "sans.woff2").read_bytes()).decode()
    page.evaluate(
        """(data) => new FontFace("Book Sans", `url(data:font/woff2;base64,${data})`,
        { weight: "400 700" }).load().then((face) => document.fonts.add(face))""",
        data,
    )
    words = [*legible.WIDTHS["400"], "TFLOP/s", "Average", "1,048,576", "2048³, 8 × 8 blocks"]
    words = [word for word in words if word.strip()]
    for weight in legible.WIDTHS:
        style = f"font-family: Book Sans; font-size: 100px; font-weight: {weight}"
        texts = [f'<text style="{style}">{html.escape(word)}</text>' for word in words]
        page.set_content(f"<svg>{''.join(texts)}</svg>")
        lengths = page.evaluate(
            "() => [...document.querySelectorAll('text')].map((a) => a.getComputedTextLength())"
        )
        for text, length in zip(
            BeautifulSoup(page.content(), "html.parser")("text"), lengths, strict=True
        ):
            assert 0.93 * legible.wide(text, 100) <= length <= legible.wide(text, 100) + 0.2, text
    page.close()


def test_a_picture_that_never_shrinks_is_left_alone():
    body = BeautifulSoup(
        '<figure class="drawn"><svg style="width:9px"></svg></figure>', "html.parser"
    )
    legible.dress(body)
    assert body.svg["style"] == "width:9px"


def test_letters_are_raised_on_a_telephone_alone(browser, book):
    page = browser.new_page()
    page.goto((book / "chapters/ch11_at_work/11-at-work.html").as_uri())
    raised = page.locator("figure.drawn text[style*='--letters']")
    sizes = []
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        sizes.append(raised.evaluate_all("(all) => all.map((a) => getComputedStyle(a).fontSize)"))
    page.close()
    narrow, wide = ({float(size.removesuffix("px")) for size in found} for found in sizes)
    assert narrow == {legible.RAISED} and max(wide) < legible.RAISED


def test_no_picture_has_smaller_letters_and_no_table_breaks_a_name_on_a_telephone(browser, book):
    page = browser.new_page(viewport={"width": 390, "height": 844})
    small, seen, broken, cut = [], 0, [], 0
    for name in PAGES:
        page.goto((book / f"{name}.html").as_uri())
        page.add_style_tag(content="* { content-visibility: visible !important }")
        found = page.evaluate(LETTERS)
        seen += len(found)
        small += [(name, label, size) for label, size in found if size < LEAST - 0.05]
        broken += [(name, word) for word in page.evaluate(BROKEN)]
        cut += page.evaluate(CUT)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
    page.close()
    assert seen > 100
    assert not small
    assert not broken, "names that a table breaks"
    assert not cut, "pictures that would fit a telephone"
