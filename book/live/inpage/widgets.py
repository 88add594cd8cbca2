"""A stand-in for anywidget: a widget's traits, and the messages between it and the page.

The page mounts the same script as the static book does, with a model that leads here.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

import traitlets

#: The widgets that the page shows or may show, by number.
widgets: dict[int, AnyWidget] = {}


class AnyWidget(traitlets.HasTraits):
    """anywidget's class, over traitlets alone; ``post`` sends a message to the page."""

    post: Callable[[dict[str, Any]], None]

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._told: dict[str, Any] = {}
        self._number = len(widgets) + 1
        widgets[self._number] = self
        self.observe(self._changed, names=[*self.traits(sync=True)])

    def state(self) -> dict[str, Any]:
        """What the page mounts the widget with."""
        return {name: getattr(self, name) for name in self.traits(sync=True)}

    def _repr_mimebundle_(self) -> dict[str, Any]:
        view = {"id": self._number, "kind": type(self).__name__, "state": self.state()}
        return {"widget": view, "text/plain": repr(self)}

    def _changed(self, change: Any) -> None:
        name, value = change["name"], change["new"]
        if name not in self._told or self._told[name] != value:
            self.post({"type": "comm", "id": self._number, "state": {name: value}})

    def hear(self, told: dict[str, Any]) -> None:
        """Take the page's changes of traits."""
        self._told = told["state"]
        try:
            for name, value in self._told.items():
                self.set_trait(name, value)
        finally:
            self._told = {}


def hear(told: dict[str, Any]) -> None:
    """Pass a message of the page on to its widget, if it is still there."""
    widget = widgets.get(told["id"])
    if widget:
        widget.hear(told)


def stand_in(send: Callable[[dict[str, Any]], None]) -> None:
    """Let ``anywidget`` be this."""
    AnyWidget.post = staticmethod(send)
    module = types.ModuleType("anywidget")
    module.AnyWidget = AnyWidget
    sys.modules["anywidget"] = module
