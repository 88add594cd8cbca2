"""Widgets in a page: the state that a notebook stores, with today's records, scripts and style.

The scripts become classic ones, which a page that is opened as a file can load, too: the common
script once, and those of the widgets that the page has.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Tag
from sphinx.util import logging

from kernels import records
from kernels.lab import widgets
from kernels.lab.widgets import base
from kernels.lab.widgets.stills import still

FOLDER = Path(__file__).resolve().parents[1] / "static" / "stills"
#: What a page says above the still of a widget, and on the button that calls its script.
NOTES = {
    "Quiz": (
        "Open an answer to see what there is to say about it. (To keep what you answered, the page "
        "needs JavaScript, and a browser of 2020 or later.)",
        "Start the quiz",
    ),
    # Its sentence and its picture say enough.
    "Micro": ("", "Draw the figure"),
}
NOTE = (
    "This figure is interactive: it needs JavaScript, and a browser of 2020 or later. "
    "Here is what it starts with.",
    "Draw the figure",
)
#: The kinds of the widgets in a notebook's text, where quotes are escaped.
STORED = re.compile(r'data-kind=\\"(\w+)')
SIZE = re.compile(r'width="(\d+)" height="(\d+)"')

logger = logging.getLogger(__name__)


def mount(page: Tag, name: str) -> list[str]:
    """Dress every stored widget of a page for widgets.js, which mounts it.

    Parameters
    ----------
    page : Tag
        The page's body.
    name : str
        The page's name.

    Returns
    -------
    list of str
        The kinds of the widgets, in their order.
    """
    kinds: list[str] = []
    for widget in page.select("div.widget[data-kind]"):
        kind = widget["data-kind"]
        if kind not in widgets.__all__:
            logger.warning("%s: the course has no widget %s: record the chapter anew", name, kind)
            continue
        state = widget.find("script").extract()
        traits = json.loads(state.string) | of_records(kind)
        state.string = json.dumps(traits, ensure_ascii=False).replace("</", "<\\/")
        stands = picture(name, kind, kinds.count(kind)) + still(kind, traits)
        note, way = NOTES.get(kind, NOTE)
        fallback = (
            f'<div class="widget-fallback"><p>{note}</p><button type="button">{way}</button>'
            f"{stands}</div>"
        )
        widget.clear()
        widget.extend([*BeautifulSoup(fallback, "html.parser").contents, state])
        output = widget.find_parent("div", "output")
        if output:
            output.replace_with(widget)
        kinds.append(kind)
    return kinds


def of_records(kind: str) -> dict[str, Any]:
    """What a kind of widget shows of the records there are."""
    return getattr(widgets, kind).of_records()


def sources(text: str) -> list[Path]:
    """The files that the widgets of a stored page take figures from, and their folder."""
    if not any(kind in widgets.__all__ and of_records(kind) for kind in STORED.findall(text)):
        return []
    return [records.folder(), *records.folder().glob("*.json")]


def name_of(page: str, kind: str, number: int) -> str:
    """The file that holds the picture of a page's widget, the `number`th of its kind from 0."""
    return f"{page.rpartition('/')[2]}-{kind}{f'-{number + 1}' if number else ''}.svg"


def picture(page: str, kind: str, number: int) -> str:
    """The recorded picture of a widget, as an element that loads it when it is needed."""
    path = FOLDER / name_of(page, kind, number)
    if not path.is_file():
        return ""
    width, height = SIZE.search(path.read_text("utf-8")).groups()
    root = "../" * page.count("/")
    return (
        f'<img src="{root}_static/book/stills/{path.name}" width="{width}" height="{height}" '
        'class="dark-light" loading="lazy" '  # as the theme calls a picture that it need not dim
        'alt="The figure as it starts; the tables below tell its numbers.">'
    )


def script(kind: str) -> str:
    """The script of a widget as a classic one, which adds itself to ``tileByTile``."""
    text = base.IMPORT.sub(r"const \1 = tileByTile.common;\n", getattr(widgets, kind).own("js"))
    text = text.replace("export const formulas", "const formulas")
    return _closed(text.replace("export default ", f"tileByTile.{kind} = "))


def common_script() -> str:
    """What all of them share, as a classic script that comes before them."""
    return _closed(base.EXPORT.sub(r"window.tileByTile = { common: \1 };\n", base.common("js")))


def _closed(text: str) -> str:
    return f'(() => {{\n"use strict";\n{text}}})();\n'


def style(*kinds: str) -> str:
    """The style sheet of some widgets."""
    return base.common("css") + "".join(getattr(widgets, kind).own("css") for kind in kinds)


def write(static: Path) -> None:
    """Write the scripts and the style sheet into the site's own folder."""
    folder = static / "widgets"
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, Any] = {f"{kind}.js": script(kind) for kind in widgets.__all__}
    files |= {"common.js": common_script(), "widgets.css": style(*widgets.__all__)}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
