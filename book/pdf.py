"""Print the built book as one PDF: `make pdf` (it needs Chromium, and what `make book` built).

Chromium lays the pages out twice: the first time tells on which sheet each page of the book begins,
the second time prints these numbers.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pikepdf
from playwright.sync_api import Browser, Error, sync_playwright

from book.browser import NoBrowser, launch
from book.paper.compose import compose

ROOT = Path(__file__).resolve().parents[1]
BOOK = ROOT / "_build" / "html"
FIT = Path(__file__).with_name("paper") / "fit.js"
#: The width of what is printed on a sheet: A4 less its margins, in CSS pixels.
WIDTH = int(170 / 25.4 * 96)
OLDEST = 131  # the first Chromium that prints what stands in the margins of a sheet
HEADINGS = """[...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
    .map((heading) => heading.textContent.replace(/\\s+/g, " ").trim())"""
NUMBER = """(sheets) => document.querySelectorAll("[data-page-of]").forEach((place) => {
    place.textContent = sheets[place.dataset.pageOf];
})"""


def sheets(pdf: bytes) -> dict[str, int]:
    """The number of the sheet on which each place that links lead to stands, from 1."""
    with pikepdf.open(io.BytesIO(pdf)) as document:
        numbers = {page.objgen: number for number, page in enumerate(document.pages, 1)}
        places = document.Root.Dests.items()
        return {name.removeprefix("/"): numbers[place[0].objgen] for name, place in places}


def entries(items: list[pikepdf.OutlineItem]) -> Iterator[pikepdf.OutlineItem]:
    """The entries of a PDF's outline, each before those below it."""
    for entry in items:
        yield entry
        yield from entries(entry.children)


def finish(pdf: bytes, headings: list[str]) -> bytes:
    """A PDF in less room, with the whole headings: Chromium joins the words around a line's end."""
    written = io.BytesIO()
    with pikepdf.open(io.BytesIO(pdf)) as document:
        with document.open_outline() as outline:
            for entry, heading in zip(entries(outline.root), headings, strict=True):
                entry.title = heading
        share(document)
        document.save(written, object_stream_mode=pikepdf.ObjectStreamMode.generate)
    return written.getvalue()


def share(document: pikepdf.Pdf) -> None:
    """Keep one of each picture: Chromium draws every hatched shape as a picture of its own."""
    kept: dict[bytes, pikepdf.Object] = {}
    streams = (each for each in document.objects if isinstance(each, pikepdf.Stream))
    for each in streams:
        pictures = each.get("/Resources", {}).get("/XObject", {})
        for name, picture in pictures.items():
            mask = picture.get("/SMask")
            if mask is not None:
                content = picture.read_raw_bytes() + mask.read_raw_bytes()
                pictures[name] = kept.setdefault(content, picture)


def render(browser: Browser, book: Path, only: list[str] | None = None) -> bytes:
    """Print a built book.

    Parameters
    ----------
    browser : playwright Browser
        Chromium.
    book : Path
        The folder of the built pages.
    only : list of str, optional
        The files of the pages to print, without their suffix; all, if not given.

    Returns
    -------
    bytes
        The PDF.

    Raises
    ------
    NoBrowser
        When the browser is too old to print page numbers.
    ValueError
        When something is larger than the sheet, or `only` names a page that is not there.
    """
    if int(browser.version.partition(".")[0]) < OLDEST:
        raise NoBrowser(f"Chromium is {browser.version}, printing needs {OLDEST}: update it")
    with tempfile.TemporaryDirectory() as folder:
        document = Path(folder, "book.html")
        document.write_text(compose(book, only), encoding="utf-8")
        page = browser.new_page(viewport={"width": WIDTH, "height": 1000}, color_scheme="light")
        page.set_default_timeout(600_000)
        page.emulate_media(media="print")
        page.goto(document.as_uri())
        page.add_script_tag(content=FIT.read_text(encoding="utf-8"))
        large = page.evaluate("fit()")
        if large:
            raise ValueError(
                f"{len(large)} elements are larger than a sheet, the last: {large[-1]}"
            )
        options = {"prefer_css_page_size": True, "print_background": True}
        page.evaluate(NUMBER, sheets(page.pdf(**options)))
        pdf = page.pdf(**options, outline=True, tagged=True)
        headings = page.evaluate(HEADINGS)
        page.close()
    return finish(pdf, headings)


def write(book: Path, output: Path, only: list[str] | None) -> str:
    """Print a book into a file, and return what to say of it."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        pdf = render(browser, book, only)
        browser.close()
    output.write_bytes(pdf)
    with pikepdf.open(io.BytesIO(pdf)) as document:
        return f"{output}: {len(document.pages)} pages, {len(pdf) / 1e6:.1f} MB"


def main() -> None:
    """Print the whole book, or some of its pages."""
    parser = argparse.ArgumentParser(description="Print the built book as one PDF.")
    parser.add_argument("--book", type=Path, default=BOOK, help="the folder of the built pages")
    parser.add_argument("--output", type=Path, default=ROOT / "_build" / "tile-by-tile.pdf")
    parser.add_argument(
        "--only", nargs="+", metavar="PAGE", help="such as chapters/ch03_naive/03-naive"
    )
    options = parser.parse_args()
    if not (options.book / "index.html").is_file():
        sys.exit(f"no book is built in {options.book}: `make book` first")
    try:
        print(write(options.book.resolve(), options.output, options.only))
    except (NoBrowser, ValueError) as error:
        sys.exit(str(error))
    except Error as error:
        sys.exit(f"Chromium could not print the book: {error.message.splitlines()[0]}")
    except OSError as error:
        sys.exit(f"{error.filename or options.output} could not be written: {error.strerror}")


if __name__ == "__main__":
    main()
