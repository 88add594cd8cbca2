"""Widgets by keys alone, and what the tests of all widgets take from those of each.

The tests of a widget, ``test_NAME.py``, have

``STILLS``
    settings whose still is compared with the script's own numbers;
``WIDEST``, ``REDRAWS``
    the widget that fits worst into a narrow page, and what `test_common` moves: widgets, each with
    the name of a slider and its values;
``SLIDER``
    one of its sliders, which the test in JupyterLab moves: a `Slider`;
``by_keys(widget)``
    which uses it on each page of the book that shows it, as it stands there.
"""

from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from kernels.lab import widgets
from tests.pages import settle

#: Where widgets are looked at: what fits does not depend on the colours.
PROFILES = [(1280, "light"), (390, "dark")]


class Slider(NamedTuple):
    """A slider, the trait behind it, and what that is after one arrow key to the right."""

    label: str
    trait: str
    value: float
    shown: float | None = None  #: the slider's own value, where that is another


def tests_of(kind: str) -> ModuleType:
    """The tests of a widget, by the name of its class."""
    name = getattr(widgets, kind).__module__.rpartition(".")[2]
    return import_module(f"tests.lab.widgets.test_{name}")


def press(widget, role: str, name: str, *keys: str) -> None:
    """Go to a control of a widget, press keys, and wait until what they change is drawn."""
    widget.get_by_role(role, name=name, exact=True).focus()
    for key in keys:
        widget.page.keyboard.press(key)
    settle(widget.page)


def cells(widget, kind: str) -> int:
    """Cells of one kind in a picture."""
    return widget.locator(f".picture path.{kind}").get_attribute("d").count("M")


def numbers(widget, what: str) -> list[str]:
    """What the first table with such a row says."""
    row = widget.locator("tr", has=widget.page.get_by_text(what, exact=True)).first
    return [cell.replace(",", "") for cell in row.locator("td").all_text_contents()]
