"""What the Predict boxes ask, and what the recorded outputs answer.

A page that asks has a file ``PAGE.predict.toml`` beside it, and in it a table for each box, under
the name of the cell that the box stands in. `ask` lists its fields. A field has a label under the
name of its kind, and says by patterns where its answer stands; the notebook's own outputs are
searched, so that no number is typed twice.

- ``number``: `find` has a group for the figure. The answer is divided by what `over` finds, if that
  is given; ``percent = true`` turns this share into per cent. With ``sum = true``, all that `find`
  finds is added up; with ``largest = true``, the largest of it counts. ``least`` is the least
  possible guess, 0 if not given. ``computed = true`` says that a record doesn't hold the answer.
- ``choice``: `options` has a pattern for each answer. The one that is found is right.
- ``sketch``: `points` has a pattern like `find` for each place along the axis, and `top` is the
  height of the axis.
- ``words``: free text, which nobody judges.

`cell`, in a box or in one of its fields, names the cell whose output is searched: the next cell
with an output, if not given. `through`, in a box, names the last cell that tells its answer, if it
isn't the one that answers.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernels.lab.pages import CHAPTERS, PREDICT, path_of, predictions_of

KINDS = ("number", "choice", "sketch", "words")


@dataclass(frozen=True)
class Field:
    """One thing that a box asks.

    Attributes
    ----------
    kind, label, unit : str
        Its kind, what it is called, and the unit of a number.
    cell : str
        The cell whose output answers.
    answer : float, int, list of float or None
        A number, the position of the right option, a number per point; None if nothing judges.
    recorded : bool
        Whether a GPU's record answers; if not, a count that every machine repeats.
    said : dict
        The rest of the entry: options, points, the top of the axis.
    """

    kind: str
    label: str
    unit: str
    cell: str
    answer: float | int | list[float] | None
    recorded: bool
    said: dict[str, Any]


@dataclass(frozen=True)
class Box:
    """A Predict box: the cell it stands in, and its fields.

    `tells_itself` says that the paragraph under the box has the answer, `through` names the last
    cell that tells it.
    """

    id: str
    fields: list[Field] = field(default_factory=list)
    tells_itself: bool = False
    through: str = ""


def text_of(cell: dict[str, Any]) -> str:
    """What a cell prints, and the words of its tables and figures."""
    texts = [
        part.get("text") or part.get("data", {}).get("text/plain", "") for part in cell["outputs"]
    ]
    return "\n".join("".join(text) for text in texts)


def number(text: str) -> float:
    """Read a figure as the cells print it: ``"1,048,576"``."""
    return float(text.replace(",", "").replace("\N{MINUS SIGN}", "-"))


def found(pattern: str, text: str) -> list[float]:
    """Every figure that a pattern finds."""
    return [number(each) for each in re.findall(pattern, text, re.MULTILINE)]


def answer(kind: str, entry: dict[str, Any], text: str) -> float | int | list[float] | None:
    """Return what an output says to a field, or None where it says nothing to judge by."""
    if kind == "choice":
        right = [
            re.search(each, text, re.MULTILINE) is not None for each in entry["options"].values()
        ]
        return right.index(True) if right.count(True) == 1 else None
    if kind == "sketch":
        points = [found(each, text)[:1] for each in entry["points"].values()]
        return [one[0] for one in points] if all(points) else None
    if kind == "words" or not (figures := found(entry["find"], text)):
        return None
    one = sum if entry.get("sum") else max if entry.get("largest") else next
    value = one(iter(figures))
    if "over" not in entry:
        return value
    divisors = found(entry["over"], text)
    return value / divisors[0] * (100 if entry.get("percent") else 1) if divisors else None


def read(page: str, folder: Path = CHAPTERS) -> list[Box]:
    """Return the boxes of a page in their order; none if it has no file of entries.

    Parameters
    ----------
    page : str
        The page's name, such as ``"04-tiled"``.
    folder : Path
        Where the chapters lie.

    Raises
    ------
    KeyError
        For a box without an entry, or an entry that names a cell which the page hasn't.
    """
    path = predictions_of(page, folder)
    if not path.is_file():
        return []
    entries = tomllib.loads(path.read_text("utf-8"))
    cells = json.loads(path_of(page, folder).read_text("utf-8"))["cells"]
    named = {cell["id"]: cell for cell in cells}
    boxes = []
    for place, cell in enumerate(cells):
        if PREDICT not in "".join(cell["source"]):
            continue
        entry = entries[cell["id"]]
        after = (each["id"] for each in cells[place:] if each.get("outputs"))
        default = entry.get("cell") or next(after)
        fields = [asked(each, named, default) for each in entry["ask"]]
        further = entry.get("tells_itself", False), entry.get("through", "")
        boxes.append(Box(cell["id"], fields, *further))
    return boxes


def asked(entry: dict[str, Any], cells: dict[str, Any], default: str) -> Field:
    """Read one field of an entry."""
    kind = next(kind for kind in KINDS if kind in entry)
    name = entry.get("cell", default)
    cell = cells[name]
    return Field(
        kind=kind,
        label=entry[kind],
        unit=entry.get("unit", ""),
        cell=name,
        answer=answer(kind, entry, text_of(cell)),
        recorded=not entry.get("computed")
        and "nbval-ignore-output" in cell["metadata"].get("tags", []),
        said=entry,
    )
