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

from .catalogue import EXERCISES
from .checking import UnknownExercise, check, judge
from .keeping import Progress as progress
from .kinds import Kind
from .result import Finding, Result
from .speed import Speed, speed

__all__ = [
    "EXERCISES",
    "Finding",
    "Kind",
    "Result",
    "Speed",
    "UnknownExercise",
    "check",
    "judge",
    "progress",
    "speed",
]
