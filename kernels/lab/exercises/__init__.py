"""Exercises that check themselves: right or wrong, what kind of wrong, where, and a hint.

>>> from kernels import lab
>>> lab.exercises.check("axpy", axpy)        # doctest: +SKIP
axpy: right
...
>>> lab.exercises.progress()                 # doctest: +SKIP
3 of 40 exercises solved
...

`check` gives a hint after a failed try and keeps what is solved; `judge` only judges.
"""

from importlib import import_module
from typing import Any

#: Where the names are, and what they are called there. They are imported when they are asked for:
#: the catalogue imports the chapters' exercises, which import modules of this package.
PLACES = {
    "EXERCISES": ("catalogue", "EXERCISES"),
    "Finding": ("result", "Finding"),
    "Flaw": ("flaws", "Flaw"),
    "Result": ("result", "Result"),
    "Speed": ("speed", "Speed"),
    "UnknownExercise": ("checking", "UnknownExercise"),
    "check": ("checking", "check"),
    "judge": ("checking", "judge"),
    "progress": ("keeping", "Progress"),
    "speed": ("speed", "speed"),
}

__all__ = list(PLACES)


def __getattr__(name: str) -> Any:
    if name in PLACES:
        module, there = PLACES[name]
        found = globals()[name] = getattr(import_module(f"{__name__}.{module}"), there)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
