"""What every widget shares.

A notebook stores a widget's state alone. Its script and style sheet are those of the day that
shows it: from here, joined to the common ones, where a kernel runs; from the site in the book.

A widget is a folder, named like its class but ``in_this_way``, in ``chapters/chNN_name/widgets``,
or here if several chapters show it:

``name/__init__.py``
    A subclass of `Widget`. Data (records, models, traces) and settings are traits tagged
    ``sync=True``; everything else happens in the script. ``shown`` lists the settings that the text
    form shows. A bad setting is a `traitlets.TraitError` of one line. What it shows of the records
    comes from ``of_records``: the book takes it from the records of the day, not from the notebook.
``name/name.js``
    Imports from ``common.js``, which lies here, alone, and ends with ``export default { render }``;
    ``render({ model, el })`` builds the widget with `frame`, `slider`, `choice`… and returns a
    function that undoes what outlives it. Pure formulas go into an object ``formulas``, exported
    beside the default, for the tests.
``name/name.css``
    What the common style sheet does not have; it may be missing.
``name/still.py``
    ``still(state)`` yields what readers without scripts see: `kernels.lab.widgets.stills.Table`.

A script may use no more of the model than ``get``, ``set``, ``save_changes``, ``on``, ``off`` and
``send``: in the static page nothing else is there. Text from outside goes into the page as text
(``make`` and ``draw`` do so), never as HTML.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

import anywidget
import traitlets

from kernels.basics.data_sheets import gpus

FOLDER = Path(__file__).parent
#: How a widget's script asks for the common one, and what that one gives.
IMPORT = re.compile(r'^import (\{[^}]*\}) from "[./\w]*/common\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (\{[^}]*\});\n", re.MULTILINE)


class Widget(anywidget.AnyWidget):
    """A picture with controls, drawn by its own script in any page, with or without a kernel.

    Attributes
    ----------
    shown : tuple of str
        Names of the traits that the text form of the widget shows.
    """

    shown: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        # anywidget derives a class for each instance, whose script is a trait by then.
        if "_esm" not in cls.__dict__:
            cls._esm = EXPORT.sub("", common("js")) + IMPORT.sub("", cls.own("js"))
            cls._css = common("css") + cls.own("css")
        super().__init_subclass__(**kwargs)

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.shown)
        return f"{type(self).__name__}({settings})"

    @classmethod
    def of_records(cls) -> dict[str, Any]:
        """The traits that follow from the records and data sheets, by name."""
        return {}

    @classmethod
    def own(cls, kind: str) -> str:
        """The text of the widget's own script (``"js"``) or style sheet (``"css"``)."""
        folder = Path(sys.modules[cls.__module__].__file__).parent
        path = folder / f"{folder.name}.{kind}"
        if kind == "css" and not path.exists():
            return ""
        return path.read_text(encoding="utf-8")


def within(**limits: tuple[float, float]) -> Any:
    """Keep traits within limits: ``_allowed = within(n=(1, 64))`` in a widget's class.

    Parameters
    ----------
    **limits : (least, most)
        By the name of a trait. Another value is a `traitlets.TraitError` of one line.
    """

    def allowed(widget: Widget, proposal: dict[str, Any]) -> float:
        name, value = proposal["trait"].name, proposal["value"]
        least, most = limits[name]
        if not least <= value <= most:
            message = f"{value:g}" if isinstance(value, float) else value
            raise traitlets.TraitError(f"{name} is {message}: use {least} to {most}")
        return value

    return traitlets.validate(*limits)(allowed)


def common(kind: str) -> str:
    """The script (``"js"``) or style sheet (``"css"``) that all widgets share."""
    return (FOLDER / f"common.{kind}").read_text(encoding="utf-8")


def data_sheets() -> dict[str, dict[str, Any]]:
    """Data sheets of all GPUs by short name, as a trait can hold them.

    Besides the fields of `kernels.basics.data_sheets.Gpu`, each has ``bandwidth`` (bytes per
    second) and ``fp32_peak`` (FLOP per second).
    """
    return {
        name: {**asdict(sheet), "bandwidth": sheet.bandwidth, "fp32_peak": sheet.fp32_peak}
        for name, sheet in gpus().items()
    }


def plain(value: Any) -> Any:
    """Rows of a record, or other nested data, as plain JSON values that a trait can hold."""
    return json.loads(json.dumps(value))
