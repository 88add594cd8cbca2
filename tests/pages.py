"""The pages of the book, as its table of contents names them, and what tests do with them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
CONTENTS = (ROOT / "_toc.yml").read_text(encoding="utf-8")
#: Every page by its path without a suffix, the first page first.
PAGES = re.findall(r"^\s*-?\s*(?:root|file): (\S+)$", CONTENTS, re.MULTILINE)
#: The names of the pages that run, core and deeper: notebooks, numbered.
CHAPTERS = [name.rpartition("/")[2] for name in PAGES if re.match(r"chapters/ch\d\d_", name)]
MOUNT = "document.querySelectorAll('.widget-fallback button').forEach((each) => each.click())"


def settle(page) -> None:
    """Wait until what was changed is drawn, and what watches sizes has been told of them."""
    page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


def lay_out(page) -> None:
    """Stir, as a reader does, and wait until all of a page is laid out."""
    page.evaluate("dispatchEvent(new Event('wheel'))")
    page.wait_for_function("document.documentElement.dataset.parts === undefined")


def mount_all(page) -> None:
    """Lay out a page, then mount its widgets, near the view or not."""
    lay_out(page)
    page.evaluate(MOUNT)
    page.wait_for_function("!document.querySelector('.widget:not([data-mounted])')")
    settle(page)
