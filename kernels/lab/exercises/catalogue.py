"""All exercises: what the files in ``chapters/ch*/exercises`` define, in the chapters' order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType

from ..pages import CHAPTERS, core_page_of
from .exercise import Exercise


def find(folder: Path = CHAPTERS) -> dict[str, Exercise]:
    """Return the exercises by name, each with the chapter in whose folder it lies.

    Raises
    ------
    ValueError
        If a file defines no exercise, or if two exercises have one name.
    """
    found: dict[str, Exercise] = {}
    homes: dict[str, str] = {}
    for path in sorted(folder.glob("ch[0-9]*/exercises/*.py")):
        chapter = path.parents[1]
        home = f"chapters/{chapter.name}/exercises/{path.name}"
        exercises = [*defined(import_module(home.removesuffix(".py").replace("/", ".")))]
        if not exercises:
            raise ValueError(f"{home} defines no exercise: give it an EXERCISE")
        for exercise in exercises:
            name = exercise.name
            if name in found:
                raise ValueError(f"{homes[name]} and {home} both define {name!r}: rename one")
            found[name] = replace(exercise, chapter=core_page_of(chapter))
            homes[name] = home
    return found


def defined(module: ModuleType) -> Iterator[Exercise]:
    """The exercises that a module names, one by one or in tuples."""
    for value in vars(module).values():
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, Exercise):
                yield each


EXERCISES = find()
