"""Draw each chapter's widgets once and keep the pictures, for readers whose browser runs no script.

`make pictures` (it needs Chromium) writes `book/static/stills/PAGE-KIND.svg`; `book.pages.widgets`
puts them into the pages. A picture follows the reader's light or dark by itself.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from book.browser import NoBrowser, launch
from book.pages.widgets import FOLDER, name_of, style

ROOT = Path(__file__).resolve().parents[1]
#: What the page around a widget gives it: the colours of book.css.
COLOURS = """
svg { color-scheme: light dark; }
.tile-widget { --ink: #1c222b; --paper: #fdfcf9; background: none; border: 0; padding: 0; }
@media (prefers-color-scheme: dark) { .tile-widget { --ink: #e3e6ea; --paper: #14171c; } }
"""
COLLECT = """(widget) => {
    const serial = new XMLSerializer(), root = widget.querySelector(".tile-widget");
    const frame = widget.querySelector(".picture")?.getBoundingClientRect();
    if (!frame) return null;
    const drawn = [...widget.querySelectorAll(".picture svg")].map((svg) => {
        const { left, top, width, height } = svg.getBoundingClientRect();
        return { svg, x: left - frame.left, y: top - frame.top, width, height };
    }).filter(({ width, height }) => width > 100 && height > 50);
    if (!drawn.length) return null;
    const above = Math.min(...drawn.map(({ y }) => y));
    const parts = drawn.map(({ svg, x, y, width, height }) => {
        const copy = svg.cloneNode(true);
        for (const name of ["role", "aria-label", "aria-hidden"]) copy.removeAttribute(name);
        const exact = Object.entries({ x, y: y - above, width, height });
        const place = Object.fromEntries(exact.map(([name, value]) => [name, Math.round(value)]));
        for (const [name, value] of Object.entries(place)) copy.setAttribute(name, value);
        return { text: serial.serializeToString(copy), ...place };
    });
    const defs = [...root.querySelectorAll(":scope > svg.defs defs")];
    const patterns = defs.map((each) => serial.serializeToString(each));
    return { name: root.className, parts, patterns, kind: widget.dataset.kind };
}"""


def compose(found: dict[str, Any]) -> str:
    """One SVG out of the drawings of a widget, with names that are the same on every run."""
    width = max(part["x"] + part["width"] for part in found["parts"])
    height = max(part["y"] + part["height"] for part in found["parts"])
    rules = re.sub(r"/\*.*?\*/", "", style(found["kind"]), flags=re.DOTALL) + COLOURS
    body = "".join(found["patterns"]) + "\n".join(part["text"] for part in found["parts"])
    for number, name in enumerate(dict.fromkeys(re.findall(r'\bid="([^"]+)"', body))):
        body = body.replace(name, f"i{number}-")
    rules = re.sub(r"\s+", " ", rules).replace("&", "&amp;").replace("<", "&lt;")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" class="{found["name"]}"><style>{rules}</style>\n'
        f'<rect width="{width}" height="{height}" style="fill: var(--paper)"/>\n{body}\n</svg>\n'
    )


def draw(browser: Any, book: Path) -> dict[str, str]:
    """Mount every widget of the built chapters and return its picture, by the name of its file.

    Parameters
    ----------
    browser : playwright Browser
        Chromium.
    book : Path
        The folder of the built pages.
    """
    pictures = {}
    page = browser.new_page(viewport={"width": 720, "height": 900}, color_scheme="light")
    for path in sorted((book / "chapters").glob("ch*/*.html")):
        page.goto(path.as_uri())
        page.evaluate("delete document.documentElement.dataset.parts")  # all of it is laid out
        kinds: list[str] = []
        for widget in page.locator(".widget").all():
            widget.locator(".widget-fallback button").dispatch_event("click")
            widget.locator(".tile-widget").wait_for(state="attached")
            page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true })")
            page.wait_for_timeout(150)  # until what is watched for its size has been told of it
            found = widget.evaluate(COLLECT)
            if found:
                name = name_of(path.stem, found["kind"], kinds.count(found["kind"]))
                kinds.append(found["kind"])
                pictures[name] = compose(found)
    page.close()
    return pictures


def main() -> None:
    """Draw all pictures anew."""
    import tempfile

    from playwright.sync_api import sync_playwright

    from book.build import build

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        try:
            browser = launch(playwright)
        except NoBrowser as error:
            sys.exit(str(error))
        pictures = draw(browser, build(ROOT, Path(folder)))
        browser.close()
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.svg"):
        if old.name not in pictures:
            old.unlink()
    for name, text in pictures.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"{len(pictures)} pictures are in {FOLDER.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
