"""The built book: it builds without a warning, its links hold, it is light and on its own."""

from __future__ import annotations

import gzip
import json
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup
from pygments import highlight
from pygments.lexers import PythonLexer

from authoring.notebooks import widget_html
from book import build as builder
from book.adopt import adopted
from book.pages import code, text, widgets
from kernels.lab import widgets as course
from kernels.lab.pages import address_of, has_quiz
from tests.pages import CHAPTERS, PAGES

ROOT = Path(__file__).parents[2]
FIRST_LOAD = 250 * 1024  # bytes, compressed


@cache
def parse(page: Path) -> BeautifulSoup:
    """A page, to be read and not to be changed."""
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")


def resources(soup: BeautifulSoup) -> list[str]:
    """What a browser fetches for a page by itself."""
    found = [tag["src"] for tag in soup.find_all(src=True)]
    for link in soup.find_all("link", href=True):
        if {"stylesheet", "icon", "preload"} & set(link["rel"]):
            found.append(link["href"])
    return found


@pytest.mark.parametrize("name", PAGES)
def test_links_between_pages_hold(book, name):
    page = book / f"{name}.html"
    soup = parse(page)
    internal = 0
    for link in soup.select("a[href]"):
        target = urlsplit(link["href"])
        if target.scheme or target.netloc:
            continue
        other = (page.parent / unquote(target.path)).resolve() if target.path else page
        assert other.is_file(), f"{name} links to {link['href']}"
        if target.fragment and other.suffix == ".html":
            there = soup if other == page else parse(other)
            assert there.find(id=unquote(target.fragment)), f"{name} links to {link['href']}"
        internal += 1
    assert internal > 5


@pytest.mark.parametrize("name", PAGES)
def test_a_page_needs_no_other_host(book, name):
    addresses = resources(parse(book / f"{name}.html"))
    assert len(addresses) > 5
    assert [address for address in addresses if "//" in address] == []


def test_the_sheets_need_no_other_host(book):
    texts = {path: path.read_text(encoding="utf-8") for path in (book / "_static").rglob("*.css")}
    urls = [
        url for text in texts.values() for url in re.findall(r"url\(['\"]?([^)'\"]{1,80})", text)
    ]
    assert len(urls) > 10
    assert not [url for url in urls if url.startswith(("http", "//"))]


@pytest.mark.parametrize("name", PAGES)
def test_the_first_load_of_a_page_is_light(book, name):
    page = book / f"{name}.html"
    files = {page}
    for address in resources(parse(page)):
        files.add((page.parent / urlsplit(address).path).resolve())
    files.update((book / "_static/book/fonts").glob("*.woff2"))
    weight = sum(len(gzip.compress(file.read_bytes(), 6)) for file in files)
    assert weight <= FIRST_LOAD, f"{name}: {weight} bytes in {len(files)} files"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_describes_itself(book, name):
    soup = parse(book / f"{name}.html")
    address = adopted().site + ("index.html" if name == "index" else f"{name}.html")
    assert soup.find("link", rel="canonical")["href"] == address
    described = (soup.find("meta", attrs={"name": "description"}) or {}).get("content", "")
    assert 40 <= len(described) <= 163 and "Colab" not in described, (
        f"{name} should open with a paragraph of 40 characters or more, which describes it in a "
        f"search; found: {described!r}"
    )
    assert soup.find("meta", property="og:image")["content"].startswith(adopted().site)
    assert soup.html["lang"] == "en"


@pytest.mark.parametrize("name", ["search", "genindex"])
def test_a_page_that_no_author_wrote_describes_itself(book, name):
    described = parse(book / f"{name}.html").find("meta", attrs={"name": "description"})["content"]
    assert described.endswith("the course.")


@pytest.mark.parametrize("name", PAGES)
def test_every_picture_says_what_it_shows(book, name):
    soup = parse(book / f"{name}.html")
    assert soup.find("article") and soup.find("img")
    for image in soup.find_all("img"):
        assert image.get("alt", "").strip(), image
    for drawing in soup.select("article svg"):
        hidden = drawing.get("aria-hidden") == "true" or drawing.find_parent(
            attrs={"aria-hidden": "true"}
        )
        named = drawing.get("aria-label") or drawing.find("title")
        assert hidden or named or drawing.find_parent("button"), str(drawing)[:200]


def test_no_script_keeps_the_text_waiting(book):
    def blocking(name):
        scripts = parse(book / f"{name}.html").find_all("script", src=True)
        return [script["src"] for script in scripts if not script.has_attr("defer")]

    for name in PAGES:
        assert [re.search(r"(\w+)\.js", address)[1] for address in blocking(name)] == [
            "documentation_options"
        ]


def test_the_site_map_and_the_social_card_are_there(book):
    addresses = re.findall(r"<loc>(.*?)</loc>", (book / "sitemap.xml").read_text())
    assert PAGES[0] == "index"
    expected = [adopted().site] + [f"{adopted().site}{name}.html" for name in PAGES[1:]]
    assert sorted(addresses) == sorted(expected)
    card = (book / "_static" / "book" / "card.png").read_bytes()
    assert card[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = int.from_bytes(card[16:20], "big"), int.from_bytes(card[20:24], "big")
    assert (width, height) == (1200, 630) and len(card) < 100_000


def test_the_site_carries_no_icon_fonts(book):
    assert not list(book.rglob("*fontawesome*")) and not list(book.rglob("*.map"))
    theme = (book / "_static" / "styles" / "pydata-sphinx-theme.css").read_text()
    assert "@font-face" not in theme and ".fa-money-bill" not in theme


def test_formulas_are_mathml(small_book):
    soup = parse(small_book / "index.html")
    formulas = soup.find_all("math")
    assert [formula["display"] for formula in formulas] == ["inline", "inline", "inline", "block"]
    assert formulas[2]["alttext"] == "2MNK"
    assert soup.find(id="equation-product").find(class_="eqno").text == "(1)"
    assert "mathjax" not in " ".join(resources(soup)).lower()


def test_a_stored_widget_is_mounted_without_a_notebook(small_book):
    soup = parse(small_book / "page.html")
    widget = soup.find(class_="widget")
    assert json.loads(widget.script.string)["block"] == 32
    assert "needs JavaScript" in widget.find(class_="widget-fallback").text
    assert "Run this cell" not in widget.text and not widget.find_parent(class_="output")
    scripts = [re.search(r"book/([^?]*)", address) for address in resources(soup)]
    scripts = [script[1] for script in scripts if script]
    mounted = ["widgets/common.js", "widgets/Launch.js", "widgets.js"]
    assert [name for name in scripts if "widget" in name and name.endswith("js")] == mounted
    assert not {"require", "embed-amd"} & {*scripts}
    assert "book/widgets" not in " ".join(resources(parse(small_book / "index.html")))


def test_scripts_and_style_of_widgets_are_those_of_today(book):
    for kind, cls in ((name, getattr(course, name)) for name in course.__all__):
        written = (book / f"_static/book/widgets/{kind}.js").read_text(encoding="utf-8")
        left = {*cls.own("js").splitlines()} - {*written.splitlines()}
        assert all(re.match(r"(import|export) |.*common.js", line) for line in left)
        assert f"tileByTile.{kind} = {{ render }}" in written and "import" not in written
        sheet = (book / "_static/course.css").read_text(encoding="utf-8")
        first = cls.own("css").splitlines()[0].partition("{")[0].strip()
        assert first in sheet
    for page in (book / "chapters").rglob("*.html"):
        assert "export default" not in page.read_text(encoding="utf-8")


def test_a_program_marks_what_has_a_colour_of_its_own():
    program = 'if not x.a: f"b {c}"\n# one\n# two\nfrom c import d\n'
    assert highlight(program, PythonLexer(), code.Formatter(nowrap=True)).splitlines() == [
        '<span class="k">if</span> <span class="ow">not</span> x.a: <span class="s2">f"b </span>'
        '<span class="si">{</span>c<span class="si">}</span><span class="s2">"</span>',
        '<span class="c1"># one</span>',
        '<span class="c1"># two</span>',
        '<span class="kn">from</span> c <span class="kn">import</span> d',
    ]


def test_no_page_has_more_marks_than_it_needs(book):
    programs = [each for name in PAGES for each in parse(book / f"{name}.html").select("pre")]
    assert sum(len(program.select("span.k")) for program in programs) > 1000
    for program in programs:
        assert not program.select(".n, .nn, .o, .p, .w, .sa"), program.text[:80]


@pytest.mark.parametrize(
    ("written", "tied"),
    [
        ("<td>9.84 GFLOP/s</td>", "<td>9.84\xa0GFLOP/s</td>"),
        ("<p>3 % of 4 MiB in 2 steps, 5 s.</p>", "<p>3\xa0% of 4\xa0MiB in 2 steps, 5\xa0s.</p>"),
        ("<p>T = 16: 2 × 3 × 4 = 24</p>", "<p>T\xa0=\xa016: 2\xa0×\xa03\xa0×\xa04\xa0=\xa024</p>"),
        ("<pre>1 s</pre>", "<pre>1 s</pre>"),
        ("<p><code>2 B</code></p>", "<p><code>2 B</code></p>"),
        ("<script>3 W</script>", "<script>3 W</script>"),
        ('<img alt="4 s"/>', '<img alt="4 s"/>'),
        ("<!-- 5 s -->", "<!-- 5 s -->"),
        ("<svg><text>6 s</text></svg>", "<svg><text>6 s</text></svg>"),
    ],
)
def test_a_figure_keeps_its_unit_in_running_text_alone(written, tied):
    page = BeautifulSoup(written, "html.parser")
    text.keep_units(page)
    assert str(page) == tied


@pytest.mark.parametrize("name", [page for page in PAGES if re.search(r"/\d\d\w?-", page)])
def test_a_fold_says_what_it_hides(book, name):
    titled = 0
    for fold in parse(book / f"{name}.html").select("details.hide"):
        title = re.match(r"# (?:@title (.+)|set-up: )", fold.select_one("pre").text)
        hidden = "the code"
        if title:
            titled += 1
            hidden = title[1][0].lower() + title[1][1:] if title[1] else "the set-up of this page"
        for word in ("Show", "Hide"):
            shown = "collapsed" if word == "Show" else "expanded"
            assert fold.select_one(f"summary .{shown}").text == f"{word} {hidden}"
        assert not fold.summary.has_attr("aria-label")  # it would hide that text
    assert titled


def test_a_dot_of_a_hatch_becomes_two_arcs_of_the_same_circle():
    curves = "\n".join(
        f"C 0 0 0 0 {x} {y}" for x, y in ((6.4, 2.4), (6.6, 2), (6.4, 1.6), (6, 1.4))
    )
    dot = f"M 6 2.6 \n{curves} \n{curves}\nz"
    page = BeautifulSoup(f'<pattern><path d="{dot} M 0 1 L 2 3"/></pattern>', "html.parser")
    text.shorten_hatches(page)
    arcs = "M6 2.6a0.6 0.6 0 1 0 0 -1.2a0.6 0.6 0 1 0 0 1.2z"
    assert page.path["d"] == f"{arcs} M 0 1 L 2 3"


@pytest.mark.parametrize("name", [page for page in PAGES if re.search(r"/\d\d\w?-", page)])
def test_a_page_offers_its_ways_to_run_and_says_what_each_asks_for(book, name):
    ways = parse(book / f"{name}.html").select(".live-bar > .ways li")
    assert [way.a.text for way in ways] == [
        "Colab, with a GPU", "Your machine", "Binder, as a notebook", "The source on GitHub",
    ]  # fmt: skip
    assert all(name in ways[i].a["href"] for i in (0, 2, 3))
    assert all(len(way.small.text) > 20 for way in ways)


@pytest.mark.parametrize("name", [*filter(has_quiz, CHAPTERS)])
def test_a_wrong_answer_links_a_section_that_is_there(book, name):
    page = parse(book / f"{address_of(name)}.html")
    links = page.select("[data-kind=Quiz] .again a")
    assert len(links) >= 10
    for link in links:
        file, _, place = link["href"].partition("#")
        there = parse((book / address_of(name)).parent / file) if file else page
        heading = there.find(id=place).find(re.compile("h[23]")).text.replace("’", "'")
        assert heading.startswith(link.text)


def test_a_widget_that_the_course_does_not_have_is_a_warning(monkeypatch):
    said = []
    monkeypatch.setattr(widgets.logger, "warning", lambda *words: said.append(words[0] % words[1:]))
    stored = widget_html("Dial", {"value": 3}, "Dial()")
    page = BeautifulSoup(stored, "html.parser")
    assert widgets.mount(page, "chapters/x") == []
    assert str(page) == stored
    assert said == ["chapters/x: the course has no widget Dial: record the chapter anew"]


def test_a_broken_link_fails_the_build_and_says_where(tmp_path):
    source = tmp_path / "pages"
    source.mkdir()
    (source / "_toc.yml").write_text("format: jb-book\nroot: index\n")
    (source / "index.md").write_text("# A page\n\nIt links to [nowhere](nowhere.md).\n")
    for _ in range(2):  # a second build does not pass over what the first one complained of
        with pytest.raises(SystemExit) as stop:
            builder.build(source, tmp_path)
        assert "index.md:3" in str(stop.value) and "nowhere.md" in str(stop.value)
        assert str(stop.value).splitlines()[-1].startswith("The book was not built")


def test_the_palette_is_that_of_the_figures():
    from kernels.lab import plots

    css = (ROOT / "book" / "static" / "book.css").read_text()
    defined = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", css))
    for name in "ABC":
        assert defined[f"matrix-{name.lower()}"] == plots.PALETTE[name]
    assert (defined["tile"], defined["thread"]) == (plots.PALETTE["tile"], plots.PALETTE["thread"])
    levels = {
        name.removeprefix("memory-"): colour
        for name, colour in defined.items()
        if "memory-" in name
    }
    assert levels == {level.lower(): colour for level, colour in plots.MEMORY.items()}
    for file in ("static/logo.svg", "static/favicon.svg", "card.svg"):
        drawn = set(re.findall(r"#[0-9a-f]{6}", (ROOT / "book" / file).read_text()))
        assert {plots.PALETTE[name] for name in "ABC"} <= drawn, file
    shared = (ROOT / "kernels" / "lab" / "widgets" / "common.css").read_text()
    for name, colour in re.findall(r"--\w+: var\(--([\w-]+), (#[0-9a-f]{6})\);", shared):
        assert colour == defined[name], f"common.css: --{name}"
