"""The buttons that change and run each code cell, and whether the page has a Python of its own."""

from __future__ import annotations

import os

from bs4 import BeautifulSoup, Tag
from sphinx.application import Sphinx
from sphinx.config import Config

#: By it the book's build tells that the engine is beside the pages: the megabytes of a first use.
VARIABLE = "PAGE_PYTHON_MEGABYTES"
TOOLS = (
    '<div class="cell-tools"><button type="button" data-do="edit">Edit</button>'
    '<button type="button" data-do="run">Run</button></div>'
)


def equip(body: Tag) -> None:
    """Put the buttons of live.js under each cell's text; they take no room of the page's."""
    for text in body.select("div.cell .cell_input"):
        place = text.find_parent("details") or text
        place.insert_after(BeautifulSoup(TOOLS, "html.parser"))


def note(app: Sphinx, config: Config) -> None:
    """Note whether the engine is there; pages are written anew when that changes."""
    config.page_python = os.environ.get(VARIABLE, "")


def setup(app: Sphinx) -> None:
    """Register the setting."""
    app.add_config_value("page_python", "", "html")
    app.connect("config-inited", note)
