"""Pictures that react, in the static book as in a notebook: a folder each.

Those of one chapter lie in its folder, ``chapters/chNN_name/widgets``; `base` tells how to add one.

>>> from kernels.lab.widgets import TilePlayer   # needs anywidget; nothing else of the course does
"""

from importlib import import_module
from pathlib import Path
from typing import Any

from ..pages import CHAPTERS

#: The modules of the widgets, by the names of their classes.
MODULES = {
    "".join(word.title() for word in path.parent.name.split("_")): ".".join(
        path.parent.relative_to(CHAPTERS.parent).parts
    )
    for home in (Path(__file__).parent, *sorted(CHAPTERS.glob("ch[0-9]*/widgets")))
    for path in home.glob("*/__init__.py")
}

__all__ = sorted(MODULES)


def __getattr__(name: str) -> Any:
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(MODULES[name]), name)
    return found
