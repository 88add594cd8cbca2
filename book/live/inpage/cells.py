"""Runs cells: each in the page's one set of names, with what it shows as messages to the page.

A message is a dictionary with a ``type``: ``stream`` (``name``, ``text``), ``output`` (``data``, by
type), ``error`` (``name``, ``value``, ``cell``, ``line``, ``traceback``), ``absent`` (``what`` a
cell needs that is not here), ``clear``, and ``comm`` of the widgets.
"""

from __future__ import annotations

import ast
import importlib
import json
import linecache
import re
import sys
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import needs, outputs, widgets

NAME = re.compile(r"<cell (\d+)>")


class Page:
    """The cells of one page.

    Parameters
    ----------
    post : callable
        Takes each message, as JSON.
    """

    def __init__(self, post: Callable[[str], Any]) -> None:
        self._post = post
        module = types.ModuleType("__main__")
        self.names = module.__dict__
        sys.modules["__main__"] = module
        self.streams = [outputs.PageStream(name, self.post) for name in ("stdout", "stderr")]
        sys.stdout, sys.stderr = self.streams
        display = outputs.Display(self.post)
        outputs.stand_in(display, lambda wait=False: self.post({"type": "clear"}))
        widgets.stand_in(self.post)
        self.names["display"] = display
        self.homes: dict[str, int] = {}  # the number of the cell that bound a name last

    def post(self, message: dict[str, Any]) -> None:
        """Send the page a message."""
        self._post(json.dumps(message, default=str))

    def words(self, source: str) -> str:
        """The words of a cell, by which the page knows what else to load first."""
        return json.dumps(sorted(needs.words(source)))

    def survey(self, cells: str, number: int) -> str:
        """The cells to run before one, and those that are out of date: `needs.survey`."""
        return json.dumps(needs.survey(cells, number, self.names))

    def hear(self, told: str) -> None:
        """Pass a widget's message on, and show what comes of it."""
        self._guarded(0, lambda: widgets.hear(json.loads(told)))

    def run(self, number: int, source: str, asked: bool = True) -> bool:
        """Run a cell, and return whether it ended without an error.

        Parameters
        ----------
        number : int
            The place of the cell on the page, from 1.
        source : str
            Its text.
        asked : bool
            Whether the reader asked for it. If not, a cell below does, for a name: then what
            cells between the two have bound stays, as if this one had run before them.
        """
        bound = needs.given(source)
        later = {name for name in bound if self.homes.get(name, 0) > number and not asked}
        kept = {name: self.names[name] for name in later if name in self.names}
        right = self._guarded(number, lambda: self._execute(number, source))
        self.names.update(kept)
        self.homes |= dict.fromkeys(bound - later, number)
        return right

    def _execute(self, number: int, source: str) -> None:
        name = f"<cell {number}>"
        # `inspect` finds the text of a kernel here: the microscope reads it.
        linecache.cache[name] = (len(source), None, f"{source}\n".splitlines(True), name)
        tree = ast.parse(source, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec"), self.names)
        if last:
            value = eval(compile(ast.Expression(last.value), name, "eval"), self.names)
            if value is not None and not source.rstrip().endswith(";"):
                self.names["_"] = value
                self.names["display"](value)

    def _guarded(self, number: int, work: Callable[[], None]) -> bool:
        for stream in self.streams:
            stream.begin()
        try:
            work()
        except BaseException as error:  # an interrupt or an exit ends a cell, not the page
            self._flush()
            what = absent(error)
            self.post({"type": "absent", "what": what} if what else described(error, number))
            return False
        self._flush()
        return True

    def _flush(self) -> None:
        for stream in self.streams:
            stream.flush()


def absent(error: BaseException) -> str:
    """What a cell needs that is not here: a package, or other programs; empty for other errors."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return error.name.partition(".")[0]
    return "other programs" if "does not support processes" in str(error) else ""


def described(error: BaseException, number: int) -> dict[str, Any]:
    """An error as a message: what it says, the line of a cell that leads to it, and all of it."""
    frames = error.__traceback__
    while frames and frames.tb_frame.f_code.co_filename == __file__:
        frames = frames.tb_next
    places = [
        (int(NAME.fullmatch(frame.filename)[1]), frame.lineno)
        for frame in traceback.extract_tb(frames)
        if NAME.fullmatch(frame.filename)
    ]
    if isinstance(error, SyntaxError) and NAME.fullmatch(error.filename or ""):
        places.append((number, error.lineno))
    cell, line = next((place for place in reversed(places) if place[0] == number), (number, None))
    if line is None and places:
        cell, line = places[-1]
    value = error.msg if isinstance(error, SyntaxError) else str(error)
    text = "".join(traceback.format_exception(type(error), error, frames))
    name = type(error).__name__
    return {
        "type": "error", "name": name, "value": value, "cell": cell, "line": line,
        "places": places, "traceback": text,
    }  # fmt: skip


class WaitingModule(types.ModuleType):
    """What ``from package import module`` gives while the module waits for its first use."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(importlib.import_module(self.__name__), name)


def wait_with(name: str) -> None:
    """Let a module load when something of it is first used, not when its package gives it."""
    package, _, short = name.rpartition(".")
    setattr(importlib.import_module(package), short, WaitingModule(name))


def wait_with_drawings() -> None:
    """Let all that draws load when it is first used: the library's plots, each chapter's own."""
    wait_with("kernels.lab.plots")
    (folder,) = importlib.import_module("chapters").__path__
    for path in sorted(Path(folder).glob("*/drawings")):
        wait_with(f"chapters.{path.parent.name}.drawings")
