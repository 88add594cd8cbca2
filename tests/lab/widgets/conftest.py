"""Widgets as the static page mounts them: from stored state, without a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from authoring.notebooks import widget_html
from tests.pages import settle

ROOT = Path(__file__).parents[3]


def page_of(widget, mode: str) -> str:
    """A page that holds the stored state of one widget, made by the site's own code."""
    from book.pages import fonts, widgets

    state = widget.get_state()
    kind = state["_anywidget_id"].rpartition(".")[2]
    body = BeautifulSoup(widget_html(kind, state, repr(widget)), "html.parser")
    widgets.mount(body, "test")
    styles = (ROOT / "book/static/book.css").read_text(encoding="utf-8") + widgets.style(kind)
    script = (ROOT / "book/static/widgets.js").read_text(encoding="utf-8")
    return (
        f'<!doctype html><html lang="en" data-theme="{mode}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>Widget</title>'
        f"<script>{fonts.script()}</script>"
        f"<style>{styles} body {{ margin: 0; background: var(--paper); color: var(--ink) }}</style>"
        f'</head><body><main class="bd-article" style="padding: 0.75rem">{body}</main>'
        f"<script>{widgets.common_script()}{widgets.script(kind)}{script}</script></body></html>"
    )


class Mounted:
    """A widget in a page: what it says, what went wrong, what it asked for."""

    def __init__(self, page, widget, mode: str) -> None:
        self.page = page
        self.errors: list[str] = []
        self.asked: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on(
            "console",
            lambda said: said.type in ("error", "warning") and self.errors.append(said.text),
        )
        page.on("request", lambda request: self.asked.append(request.url))
        page.set_content(page_of(widget, mode))
        page.wait_for_selector(".widget[data-mounted] .tile-widget")

    def settled(self) -> None:
        """Wait until what was changed is drawn."""
        settle(self.page)

    @property
    def overflow(self) -> int:
        """Pixels by which the page is wider than the window."""
        return self.page.evaluate("document.documentElement.scrollWidth - innerWidth")

    @property
    def foreign(self) -> list[str]:
        """Addresses asked for that are not the page's own."""
        return [url for url in self.asked if not url.startswith(("data:", "blob:", "about:"))]


@pytest.fixture
def mounted(browser) -> Iterator:
    """Mount a widget: ``mounted(TilePlayer(), width=390, mode="dark")``."""
    contexts = []

    def mount(widget, *, width: int = 1280, mode: str = "light", **options) -> Mounted:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=mode, **options
        )
        contexts.append(context)
        return Mounted(context.new_page(), widget, mode)

    yield mount
    for context in contexts:
        context.close()


@pytest.fixture
def formulas(browser):
    """Evaluate JavaScript over the ``formulas`` of a widget: ``formulas(TilePlayer, "f.x(1)")``."""
    page = browser.new_page()

    def evaluate(widget, expression: str, argument=None):
        return page.evaluate(
            """async ([source, expression, argument]) => {
                const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
                const { formulas } = await import(url);
                return new Function("f", "x", `return ${expression}`)(formulas, argument);
            }""",
            [str(widget._esm), expression, argument],
        )

    yield evaluate
    page.close()
