"""Wrong answers and right ones, made from the solutions: a table for each exercise.

``tests/chapters/chNN_name/answers`` has a module for each exercise of the chapter, named like it
(with ``_`` for ``-``). It has

- ``WRONG``: rows ``(what, old, new, kind)``. Where the solution says `old` the wrong kernel says
  `new`, and `kind` is what the grader must call it. A tuple of two kinds allows either.
- ``OPTIONS``, if it needs any: what `judge` gets beside the kernel.
- ``RIGHT``: rows ``(what, old, new)`` of other ways to do it right, or ``(what, text)``.

An `old` that occurs more than once is replaced everywhere. ``equivalent.toml`` beside it lists
mutants of the solutions that are right (see ``mutants.py``).
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from kernels.lab.exercises import EXERCISES, Flaw
from kernels.lab.exercises.exercise import KernelExercise
from kernels.lab.pages import folder_of

#: The tests of the chapters, a folder for each.
CHAPTERS = Path(__file__).parents[2] / "chapters"
KERNELS = {name: e for name, e in EXERCISES.items() if isinstance(e, KernelExercise)}


@dataclass(frozen=True)
class Answer:
    """A kernel's text, what is special about it, and what the grader must say (None: right)."""

    exercise: str
    what: str
    text: str
    kinds: tuple[Flaw, ...] = ()

    @property
    def id(self) -> str:
        """For the name of a test."""
        return f"{self.exercise}: {self.what}"


def options(name: str) -> dict:
    """What an exercise's answers choose beside the kernel."""
    return getattr(table(name), "OPTIONS", {})


def file(name: str) -> Path:
    """Where an exercise's tables stand."""
    chapter = folder_of(KERNELS[name].chapter).name
    return CHAPTERS / chapter / "answers" / f"{name.replace('-', '_')}.py"


def table(name: str):
    """The module with an exercise's tables; empty tables, as long as there is no such file."""
    if not file(name).exists():
        return SimpleNamespace(WRONG=[], RIGHT=[])
    return importlib.import_module(
        f"tests.chapters.{file(name).parents[1].name}.answers.{file(name).stem}"
    )


def changed(name: str, what: str, old: str, new: str) -> str:
    """The solution with `old` replaced; an error if it is not there."""
    text = KERNELS[name].solution_text
    if old not in text:
        row = f"{file(name).name}, row {what!r}"
        raise LookupError(f"{row}: the solution does not say {old!r}")
    start = "from numpy import float16\n" if "float16" in new else ""
    return start + text.replace(old, new)


def wrong(name: str) -> list[Answer]:
    """All wrong kernels of an exercise."""
    return [
        Answer(
            name, what, changed(name, what, old, new), kind if isinstance(kind, tuple) else (kind,)
        )
        for what, old, new, kind in table(name).WRONG
    ]


def right(name: str) -> list[Answer]:
    """The solution and the other right kernels."""
    found = [Answer(name, "the solution", KERNELS[name].solution_text)]
    for what, *change in table(name).RIGHT:
        text = changed(name, what, *change) if len(change) == 2 else change[0]
        found.append(Answer(name, what, text))
    return found
