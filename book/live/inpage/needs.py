"""What a cell needs: names that cells above it give, and words that tell which packages it uses.

What the page tells of a cell is a dictionary: its ``source``; whether it is ``unrun``, because its
text was edited and has not run; ``at``, the turn in which it ran last, 0 for never; and ``since``,
the turn in which it first ran with this text.
"""

from __future__ import annotations

import ast
import builtins
import json
import symtable
from collections.abc import Collection, Iterator, Sequence
from typing import Any


def words(source: str) -> set[str]:
    """The names, attributes and modules that a cell uses, and the names that it imports.

    Of the names that it only imports, those of modules that load when they are used are left out:
    ``from kernels.lab import plots`` draws nothing yet.
    """
    found: set[str] = set()
    for node in ast.walk(_tree(source)):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Import):
            found |= {word for name in node.names for word in name.name.split(".")}
        elif isinstance(node, ast.ImportFrom):
            found |= set((node.module or "").split("."))
            found |= {name.name for name in node.names} - {"drawings", "plots"}
    return found


def given(source: str) -> set[str]:
    """The names that a cell binds for the cells below it."""
    top, _ = _tables(source)
    return {name.get_name() for name in top if name.is_assigned() or name.is_imported()}


def wanted(source: str) -> set[str]:
    """The names that a cell reads and does not bind before, those of its functions included."""
    top, nested = _tables(source)
    read = {name.get_name() for name in top if name.is_referenced()}
    read |= {name.get_name() for name in nested if name.is_global() and name.is_referenced()}
    return (read - given(source)) | (_read_first(source) & given(source))


def _read_first(source: str) -> set[str]:
    """Names that a cell reads on an earlier line than it binds them, or on the same one."""
    first: dict[tuple[str, bool], int] = {}
    changed = set()
    for node in ast.walk(_tree(source)):
        if isinstance(node, ast.Name):
            key = (node.id, isinstance(node.ctx, ast.Load))
            first[key] = min(first.get(key, node.lineno), node.lineno)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            changed.add(node.target.id)
    return changed | {
        name for name, read in first if read and first[name, True] <= first.get((name, False), 0)
    }


def changed(source: str) -> set[str]:
    """The names whose values a cell changes in place: what it launches with, or stores into."""
    found: set[str] = set()
    for node in ast.walk(_tree(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
            found |= {each.id for each in node.args if isinstance(each, ast.Name)}
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            found |= {each.id for each in ast.walk(node.value) if isinstance(each, ast.Name)}
    return found


class Cells:
    """The cells of a page, and which of them give a cell its names."""

    def __init__(self, cells: Sequence[dict[str, Any]]) -> None:
        self.cells = cells
        self.bound = [given(cell["source"]) for cell in cells]
        self.wanted = [wanted(cell["source"]) - {*dir(builtins)} for cell in cells]
        self.changed = [changed(cell["source"]) for cell in cells]

    def home(self, name: str, below: int, number: int) -> int | None:
        """The cell that gives a name to a cell: the nearest above that binds it.

        What a function reads may be bound below it, as long as that is above the call, in `number`.
        """
        places = [*reversed(range(below)), *range(below + 1, number)]
        return next((place for place in places if name in self.bound[place]), None)

    def changing(self, name: str, home: int, below: int) -> Iterator[int]:
        """The cells between the two that change the name's value in place."""
        return (place for place in range(home + 1, below) if name in self.changed[place])

    def stale(self) -> set[int]:
        """Cells that were edited and have not run, or ran before one that they use changed."""
        found: set[int] = set()
        for number, cell in enumerate(self.cells):
            if cell["unrun"] or (cell["at"] and any(self._newer(number, found))):
                found.add(number)
        return found

    def _newer(self, number: int, found: set[int]) -> Iterator[bool]:
        at = self.cells[number]["at"]
        for name in self.wanted[number]:
            home = self.home(name, number, number)
            if home is not None:
                for place in (home, *self.changing(name, home, number)):
                    yield place in found or self.cells[place]["since"] > at

    def above(self, number: int, held: Collection[str]) -> list[int]:
        """The cells to run before a cell, so that it finds its names as the page says them now.

        Parameters
        ----------
        number : int
            The cell to run, from 0.
        held : collection of str
            Names that are there already.

        Returns
        -------
        list of int
            Numbers of cells above it, in order: for each name that is missing or stale the nearest
            that binds it, stale ones between the two that change its value, and what those need.
        """
        stale, found = self.stale(), set()

        def ask(below: int) -> None:
            for name in self.wanted[below]:
                home = self.home(name, below, number)
                if home is None:
                    continue
                first = {home} if name not in held or home in stale else set()
                for place in first | (stale & {*self.changing(name, home, below)}):
                    if place not in found:
                        found.add(place)
                        ask(place)

        ask(number)
        return sorted(found)


def survey(told: str, number: int, held: Collection[str]) -> list[list[int]]:
    """The cells to run before a cell, and all that are out of date though their text has run.

    Parameters
    ----------
    told : str
        What the page tells of its cells, in order, as JSON.
    number : int
        The cell to run, from 0.
    held : collection of str
        Names that are there already.
    """
    cells = Cells(json.loads(told))
    out = [each for each in sorted(cells.stale()) if not cells.cells[each]["unrun"]]
    return [cells.above(number, held), out]


def _tree(source: str) -> ast.Module:
    """The tree of a cell; of one that is no Python yet, an empty one."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _tables(source: str) -> tuple[list[symtable.Symbol], list[symtable.Symbol]]:
    """The names of a cell: those on the level of the page, and those of all that is nested."""
    try:
        top = symtable.symtable(source, "<cell>", "exec")
    except (SyntaxError, ValueError):
        return [], []
    nested, waiting = [], top.get_children()
    while waiting:
        table = waiting.pop()
        nested += table.get_symbols()
        waiting += table.get_children()
    return top.get_symbols(), nested
