"""The buttons that change and run each code cell, and whether the page has a Python of its own."""

from __future__ import annotations

import os

from bs4 import BeautifulSoup, Tag
from sphinx.application import Sphinx
from sphinx.config import Config

from book.live import pack
from book.live.inpage import needs

#: By these the book's build tells that a Python is beside the pages: the megabytes of a first use,
#: and whether it can draw.
MEGABYTES, DRAWS = "PAGE_PYTHON_MEGABYTES", "PAGE_PYTHON_DRAWS"
TOOLS = (
    '<div class="cell-tools"{lacks}><button type="button" data-do="edit">Edit</button>'
    '<button type="button" data-do="run">Run</button></div>'
)


def equip(body: Tag, draws: str) -> None:
    """Put the buttons of live.js under each cell's text; they take no room of the page's.

    Where the pages' own Python cannot draw, the cells that do have buttons for a server alone.
    """
    for text in body.select("div.cell .cell_input"):
        place = text.find_parent("details") or text
        lacks = not draws and needs.words(text.text) & {*pack.DRAWS}
        tools = TOOLS.format(lacks=' data-lacks="matplotlib"' if lacks else "")
        place.insert_after(BeautifulSoup(tools, "html.parser"))


def note(app: Sphinx, config: Config) -> None:
    """Note what the page's Python can do; pages are written anew when that changes."""
    config.page_python = os.environ.get(MEGABYTES, "")
    config.page_draws = os.environ.get(DRAWS, "")


def setup(app: Sphinx) -> None:
    """Register the settings."""
    app.add_config_value("page_python", "", "html")
    app.add_config_value("page_draws", "", "html")
    app.connect("config-inited", note)
