"""What a cell needs: names that cells above it give, and words that tell which packages it uses."""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Collection, Sequence


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


def cells_above(sources: Sequence[str], number: int, held: Collection[str]) -> list[int]:
    """The cells to run before a cell, so that it finds its names.

    Parameters
    ----------
    sources : sequence of str
        The cells of the page, in order.
    number : int
        The cell to run, from 0.
    held : collection of str
        Names that are there already.

    Returns
    -------
    list of int
        Numbers of cells above it, in order: for each missing name the nearest that binds it, and
        what that one needs.
    """
    there = {*held, *dir(builtins)}
    bound = [given(source) for source in sources[:number]]
    found: set[int] = set()

    def ask(below: int) -> None:
        for name in wanted(sources[below]) - there:
            # What a function reads may be bound below it, as long as that is above the call.
            places = [*reversed(range(below)), *range(below + 1, number)]
            home = next((place for place in places if name in bound[place]), None)
            if home is not None and home not in found:
                found.add(home)
                ask(home)

    ask(number)
    return sorted(found)


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
