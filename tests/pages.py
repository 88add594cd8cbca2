"""The pages of the book, as its table of contents names them, and what tests do with them."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CONTENTS = (ROOT / "_toc.yml").read_text(encoding="utf-8")
#: Every page by its path without a suffix, the first page first.
PAGES = re.findall(r"^\s*-?\s*(?:root|file): (\S+)$", CONTENTS, re.MULTILINE)
#: The names of the pages that run, core and deeper: notebooks, numbered.
CHAPTERS = [name.rpartition("/")[2] for name in PAGES if re.match(r"chapters/ch\d\d\w?_", name)]
MOUNT = "document.querySelectorAll('.widget-fallback button').forEach((each) => each.click())"


def of_chapters(part: str) -> dict[str, Any]:
    """All that the chapters' own modules of one name show, such as their `drawings`."""
    folders = sorted(path.stem for path in (ROOT / "chapters").glob("ch[0-9]*"))
    there = (f for f in folders if [*(ROOT / "chapters" / f).glob(f"{part}*")])
    modules = [import_module(f"chapters.{folder}.{part}") for folder in there]
    return {name: getattr(module, name) for module in modules for name in module.__all__}


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
