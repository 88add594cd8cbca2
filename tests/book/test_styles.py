"""The one style sheet: lean, and on no page different from the sheets that it is made of."""

from __future__ import annotations

import gzip
import re

import pytest

from book.pages import styles
from tests.pages import PAGES, lay_out

LARGEST = 36_000  # bytes, compressed: the sheets it is made of have 80 000
LOOKS = """() => [...document.querySelectorAll("body, body *")].map((element) => {
    const look = getComputedStyle(element);
    return ["display", "color", "backgroundColor", "fontFamily", "fontSize", "fontWeight", "margin",
            "padding", "border", "width", "height", "position", "visibility"].map((name) => look[name]).join("|");
})"""  # noqa: E501
RELINK = """(sheets) => Promise.all([
    ...sheets.map((address) => new Promise((done) => {
        const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: address });
        link.onload = done;
        document.head.append(link);
    })),
]).then(() => document.querySelector("link[href*='course.css']").remove())"""  # noqa: E501


def slim(tmp_path, names: set[str], **sheets: str) -> str:
    """The first sheet, slimmed for pages with some names; `__` in a name stands for a folder."""
    for name, text in sheets.items():
        path = tmp_path / f"{name.replace('__', '/')}.css"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return styles.slim(tmp_path, f"{next(iter(sheets)).replace('__', '/')}.css", names)


@pytest.mark.parametrize(
    ("rule", "kept"),
    [
        (".used{a:b}", ".used{a:b}"),
        (".unused{a:b}", ""),
        (".used .unused{a:b}", ""),
        (".unused,.used>p{a:b}", ".used>p{a:b}"),
        ("#unused p,h1{a:b}", "h1{a:b}"),
        ("p:not(.unused){a:b}", "p:not(.unused){a:b}"),
        (":is(.unused,.used) p{a:b}", ":is(.unused,.used) p{a:b}"),
        ("@media print{.unused{a:b}}", ""),
        ("@media print{.unused{a:b}p{c:d}}", "@media print{p{c:d}}"),
        ("@keyframes turn{from{a:b}}", "@keyframes turn{from{a:b}}"),
        ("@charset 'UTF-8';p{a:b}", "p{a:b}"),
    ],
)
def test_a_rule_stays_if_a_page_can_use_it(tmp_path, rule, kept):
    assert slim(tmp_path, {"used"}, sheet=rule) == kept


def test_the_dark_holds_without_a_script(tmp_path):
    text = slim(tmp_path, set(), sheet='html[data-theme="dark"] p,h1{a:b}')
    assert text.splitlines() == [
        'html[data-theme="dark"] p,h1{a:b}',
        '@media (prefers-color-scheme:dark){html[data-theme="auto"] p{a:b}}',
    ]


def test_imports_are_in_place_and_addresses_lead_to_the_same_files(tmp_path):
    text = slim(
        tmp_path, {"a"},
        deep__sheet="@import '../other.css'; .a{b:url(pic.png)} p{b:url(data:x)}",
        other='h1{b:url("pic.png")}',
    )  # fmt: skip
    expected = ['h1{b:url("pic.png")}', ".a{b:url(deep/pic.png)}", "p{b:url(data:x)}"]
    assert text.splitlines() == expected


def test_declarations_lose_their_comments_and_spare_spaces():
    assert styles.tight('\n  a: b; /* why */\n\n  c: "d e";\n') == 'a: b; c: "d e";'


def test_variables_that_nothing_reads_go_with_those_that_only_they_read():
    text = 'a{--one:url("x;y{}");--two:var(--one);b:var(--three)}\nc{--three:1;d:e;--four:2}'
    assert styles.without_idle(text, {"--four"}) == "a{b:var(--three)}\nc{--three:1;d:e;--four:2}"


def test_a_broken_sheet_is_named_with_its_line(tmp_path):
    with pytest.raises(ValueError, match=r"sheet\.css:2"):
        slim(tmp_path, set(), sheet="p{a:b}\n}")


def test_names_come_from_pages_and_from_scripts():
    page = '<p id=one class="two three"><script>f("four-five")</script>six'
    assert styles.used([page], ["seven()"]) == {"one", "two", "three", "f", "four-five", "seven"}


def test_every_page_has_the_one_sheet_and_it_is_light(book):
    found = set()
    for name in [*PAGES, "search", "genindex"]:
        links = re.findall(
            r'rel="stylesheet"[^>]*href="([^"]*)"', (book / f"{name}.html").read_text()
        )
        assert len(links) == 1, name
        found.add(links[0].replace("../", ""))
    assert len(found) == 1 and found.pop().startswith("_static/course.css?v=")
    assert len(gzip.compress((book / "_static" / styles.NAME).read_bytes())) <= LARGEST


@pytest.mark.parametrize(
    ("name", "mode"), [("index", "dark"), ("chapters/ch02_vector_add/02-vector-add", "light")]
)
def test_a_page_looks_as_it_does_with_all_the_sheets(browser, book, name, mode):
    page = browser.new_page(color_scheme=mode)
    page.goto((book / f"{name}.html").as_uri())
    lay_out(page)
    lean = page.evaluate(LOOKS)
    kept = (book.parent / ".doctrees" / "styles.txt").read_text().split()
    page.evaluate(RELINK, [(book / "_static" / sheet).as_uri() for sheet in kept])
    whole = page.evaluate(LOOKS)
    assert len(lean) > 200 and lean == whole
    page.close()
