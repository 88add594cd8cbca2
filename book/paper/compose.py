"""One document out of the pages of a built book, for printing.

The pages follow one another as in the book's contents. Their places and links get names that are
the same in the whole document, so that links lead to its own pages; and nothing is left that only
a screen has: scripts, buttons, dark pictures.
"""

from __future__ import annotations

import html
import posixpath
import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urldefrag

from bs4 import BeautifulSoup, Comment, Tag

from . import folds

STYLE = Path(__file__).with_name("paper.css")
#: What only a screen has, and the rules by which a page prints alone.
SCREEN = (
    "script, noscript, *:not(defs) > style, button, input, a.headerlink, .live-bar, .tick, "
    ".only-dark, .start, .total, .widget-fallback > p, .cell-tools, .predict .stage, .calibration"
)
#: A place named in an attribute: clip paths and markers of drawings, labels.
PLACES = re.compile(r"(?<=url\(#)[^)\s]+(?=\))")
NAMES = ("for", "headers", "aria-labelledby", "aria-describedby")
LIVE = 'This part runs <a href="{}">on its page</a>.'
STILL = 'This figure is interactive <a href="{}">on its page</a>. Here is what it starts with.'


#: Widgets that lose nothing on paper.
WHOLE = "[data-kind=Quiz], [data-kind=Micro]"


class Page(NamedTuple):
    """A page of the book: its file without the suffix, its title, and how deep it stands."""

    file: str
    title: str
    depth: int

    @property
    def place(self) -> str:
        """The name of its place in the document."""
        return place_of(self.file)


def place_of(file: str) -> str:
    """The name of a page's place in the document."""
    return file.rpartition("/")[2]


def read(path: Path) -> BeautifulSoup:
    """A page as a tree."""
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def contents(front: BeautifulSoup) -> list[Page]:
    """The pages of a book, in the order of the contents that its front page has beside it."""
    links = front.select("nav.bd-links a.internal")
    pages = [Page("index", front.h1.get_text(), 1)]
    for link in links:
        file = posixpath.splitext(link["href"])[0]
        depth = int(link.parent["class"][0][-1])
        if file != "#" and file not in [page.file for page in pages]:
            pages.append(Page(file, link.get_text(strip=True), depth))
    return pages


def compose(book: Path, only: list[str] | None = None) -> str:
    """Join the pages of a built book.

    Parameters
    ----------
    book : Path
        The folder of the built pages.
    only : list of str, optional
        The files of the pages to print, without their suffix; all, if not given.

    Returns
    -------
    str
        The document, with absolute addresses of the book's pictures and style sheet.

    Raises
    ------
    ValueError
        When `only` names a page that the book has not.
    """
    front = read(book / "index.html")
    every = contents(front)
    home = front.find("meta", property="og:url")["content"]
    unknown = set(only or ()) - {page.file for page in every}
    if unknown:
        raise ValueError(
            f"the book has no page {min(unknown)}: write index or chapters/ch03_naive/03-naive"
        )
    printed = [page for page in every if only is None or page.file in only]
    known = {page.file for page in printed}
    parts, folded, heads = [], [], []
    for page in printed:
        tree = read(book / f"{page.file}.html")
        article = tree.find("article")
        tidy(article, home + f"{page.file}.html")
        rename(article, page, known, book, home)
        title = article.h1.get_text()
        taken = folds.turn_back(article, page.place) if page.file != "index" else unfold(article)
        folded.append((page.place, html.escape(title), taken))
        heads.append(title)
        parts.append(sheet(article.decode_contents(), page.place, len(heads)))
    answers = folds.back(folded)
    if answers:
        heads.append("Hints, answers and solutions")
        parts.append(sheet(f"<h1>{heads[-1]}</h1>{answers}", "back", len(heads)))
        printed.append(Page("back", heads[-1], 1))
    style = (book / "_static" / "course.css").as_uri()
    return (
        '<!DOCTYPE html><html lang="en" data-theme="light"><head><meta charset="utf-8">'
        f"<title>{html.escape(every[0].title)}</title>"
        f'<link rel="stylesheet" href="{style}">'
        f"<style>{STYLE.read_text(encoding='utf-8')}{running(heads)}</style></head><body>"
        f"{cover(every[0].title, printed, home)}{''.join(parts)}</body></html>"
    )


def sheet(text: str, place: str, number: int) -> str:
    """A page of the book, with a name for its sheets of paper."""
    return f'<article class="bd-article" id="{place}" style="page: part{number}">{text}</article>'


def running(heads: list[str]) -> str:
    """The rules that print the title of a page over each of its sheets."""
    rules = [
        f"@page part{number} {{ @top-right {{ content: {quoted(title)}; }} }}"
        for number, title in enumerate(heads, 1)
    ]
    return "\n".join(rules)


def quoted(text: str) -> str:
    """A text as a string of a style sheet."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("<", "\\3c ") + '"'


def cover(title: str, pages: list[Page], home: str) -> str:
    """The first sheets: the title and the contents, with a place for the number of each page."""
    lines = [
        f'<li class="depth{page.depth}"><a href="#{page.place}">{html.escape(page.title)}</a>'
        f'<span data-page-of="{page.place}">000</span></li>'
        for page in pages
    ]
    return (
        f'<div class="cover bd-article"><p class="title">{html.escape(title)}</p>'
        f'<p>Printed from <a class="bare" href="{home}">{home}</a>, where the cells run and the '
        "figures move. The code that only sets up a page or draws a figure is left out. Hints, "
        f"answers and solutions stand at the back.</p><ol>{''.join(lines)}</ol></div>"
    )


def tidy(article: Tag, address: str) -> None:
    """Take out of a page what only a screen has."""
    for each in article.select(SCREEN):
        each.decompose()
    for still in article.select(f".widget:not({WHOLE}) > .widget-fallback"):
        still.insert_before(note(STILL, address))
    for form in article.select("form"):
        part = form.find_parent("section", class_="tile-widget") or form
        part.replace_with(note(LIVE, address))
    for comment in article.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    for image in article.select("img[loading]"):
        del image["loading"]
    for frame in article.select("a.image-reference"):
        frame.unwrap()


def note(text: str, address: str) -> BeautifulSoup:
    """What paper says where a page does something."""
    return BeautifulSoup(f'<p class="note">{text.format(address)}</p>', "html.parser")


def rename(article: Tag, page: Page, known: set[str], book: Path, home: str) -> None:
    """Name the places, links and pictures of a page as the whole document has them."""
    prefix = f"{page.place}--"
    folder = posixpath.dirname(page.file)
    for tag in article.find_all(True):
        for name, value in tag.attrs.items():
            if name == "id":
                tag["id"] = prefix + value
            elif name in NAMES:
                tag[name] = " ".join(prefix + each for each in value.split())
            elif isinstance(value, str) and "url(#" in value:
                tag[name] = PLACES.sub(lambda found: prefix + found[0], value)
        for name in ("href", "xlink:href"):
            if name in tag.attrs:
                tag[name] = link(tag[name], page, known, home)
        if tag.name == "img":
            path = book / posixpath.normpath(posixpath.join(folder, tag["src"]))
            tag["src"] = path.as_uri()


def link(address: str, page: Page, known: set[str], home: str) -> str:
    """Where a link of a page leads in the document, or on the site if the document has it not."""
    path, place = urldefrag(address)
    if re.match(r"[a-z]+:", path):
        return address
    file = posixpath.normpath(posixpath.join(posixpath.dirname(page.file), path))
    name = page.file if not path else posixpath.splitext(file)[0]
    if name in known and (not path or file.endswith(".html")):
        return f"#{place_of(name)}--{place}" if place else f"#{place_of(name)}"
    return home + (f"{name}.html" if not path else file) + (f"#{place}" if place else "")


def unfold(article: Tag) -> list[folds.Fold]:
    """Open what is folded on the front page, which holds tables and no answers."""
    for fold in article.select("details"):
        fold.summary.name = "h3"
        fold.name, fold["class"] = "div", []
    return []
