"""What an exercise is: a task with its tests, its budget, three hints and a solution.

How to add an exercise
----------------------
1. Write ``chapters/chNN_name/exercises/name.py``, after the model of chapter 2's ``axpy.py`` (a
   kernel) or ``numbers.py``, or of chapter 4's ``better_test.py`` (a function): the solution's text
   with the two marks, what stands between them at first, the launches to try, three hints, what to
   take away.
2. In the chapter, give the cell that sets it ``"exercise": "name.start"`` as metadata and the
   folded one that solves it ``"exercise": "name.solution"``, with the hints folded between them.
   ``tests/lab/exercises/test_cells.py`` says what must stand where.
3. For a kernel, write ``tests/chapters/chNN_name/answers/name.py``: at least twelve wrong kernels,
   each with the name that the grader must give it, and two more right ones.

``pytest tests/lab/exercises -k name`` tries them, and says what is still missing. Then
``python -m tests.lab.exercises.mutants name`` changes the solution in every small way: what the
grader accepts belongs, with the reason, into ``equivalent.toml`` beside the answers, or shows that
it needs another launch.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .flaws import Flaw

#: The two marks around what a learner fills in.
FROM, TO = "# --- yours, from here", "# --- to here"

ODD, FINE, SQUARE, MULTIPLE = "odd", "fine", "square", "multiple"


@dataclass(frozen=True)
class Suspect:
    """A wrong result that has a name.

    Attributes
    ----------
    kind : Flaw
    sentence : str
        What the learner did, as far as the result tells.
    result : ndarray
    at : str
        Where: at the first load of an input, by its name; in the "sum"; where a tile is "turned",
        as it is stored or as it is read; or where the result is stored.
    """

    kind: Flaw
    sentence: str
    result: np.ndarray
    at: str = ""


@dataclass(frozen=True)
class Trial:
    """One launch with the right answer.

    Attributes
    ----------
    label : str
        The sizes, such as ``"M, N, K = 37, 29, 23"``.
    grid, block : tuple of int
    arguments : dict
        Arrays and numbers in the order of the parameters; outputs are poisoned.
    expected : dict of str to ndarray
        The right outputs by the parameter's name.
    bounds : dict of str to ndarray
        How far each element of an output may be off; an output without bounds must be equal.
    suspects : callable, optional
        Returns wrong results of the first output that have a name.
    role : {"odd", "fine", "square", "multiple"}
        Sizes that no block divides; the same, with numbers that use all digits of a float32; a
        square that the block divides; other multiples of it.
    exact : bool
        Whether every thread has work in every step, so that no guard can be what is missing.
    """

    label: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: dict[str, Any]
    expected: dict[str, np.ndarray]
    bounds: dict[str, np.ndarray] = field(default_factory=dict)
    suspects: Callable[[], Iterable[Suspect]] = tuple
    role: str = ODD
    exact: bool = False


@dataclass(frozen=True)
class Quota:
    """The most of something that a kernel may spend in one launch, mostly the first.

    Attributes
    ----------
    what : str
        The name in the text, such as ``"sectors loaded"``.
    most : int
    count : callable
        Takes a `Trace`, returns what the kernel spent.
    why : str
        What to look at where it spent more.
    """

    what: str
    most: int
    count: Callable[[Any], int]
    why: str


@dataclass(frozen=True)
class Exercise:
    """What all exercises have.

    Attributes
    ----------
    name : str
        Its name in `check`.
    title : str
    hints : tuple of str
        Three steps, each closer to the solution.
    after : str
        What to take away once it is solved.
    chapter : str
        The core page of the chapter in whose folder it lies: ``"02-vector-add"``. The page that
        sets it may be a deeper one.
    """

    name: str
    title: str
    hints: tuple[str, str, str]
    after: str
    chapter: str = field(default="", kw_only=True)


@dataclass(frozen=True)
class KernelExercise(Exercise):
    """An exercise whose answer is a kernel.

    Attributes
    ----------
    text : str
        The solution, decorator included, with the two marks around what the learner writes.
    trials : callable
        Returns the launches; takes a seed for their numbers and the options of `options`.
    start : str
        What stands between the marks at first: nothing, or a kernel with something to mend.
    names : dict
        Constants that the text uses, beside those that every kernel may use.
    budgets : tuple of Quota
    counted : int
        Which of the launches the budgets are for.
    options : tuple of str
        What a learner may give to `check` beside the kernel, such as the grid.
    timed : callable, optional
        Takes a size and the options, returns (grid, block) for a product of square matrices.
    faster : float
        How many times as fast as the start the answer should be on a GPU.
    needs : (int, int)
        The least compute capability of a GPU that runs it; on others the microscope alone judges.
    """

    text: str
    trials: Callable[..., list[Trial]]
    start: str = "pass"
    names: dict[str, Any] = field(default_factory=dict)
    budgets: tuple[Quota, ...] = ()
    counted: int = 0
    options: tuple[str, ...] = ()
    timed: Callable[..., tuple] | None = None
    faster: float = 1.0
    needs: tuple[int, int] = (0, 0)

    @property
    def mends(self) -> bool:
        """Does the start hold a kernel that is worth judging?"""
        return self.start != "pass"

    @property
    def solution_text(self) -> str:
        """The kernel as the solution cell shows it."""
        return textwrap.dedent(self.text).strip()

    @property
    def start_text(self) -> str:
        """The kernel as the start cell shows it: the solution with nothing between the marks."""
        lines, kept, inside = self.solution_text.split("\n"), [], False
        for line in lines:
            if line.strip() == TO:
                inside = False
            if not inside:
                kept.append(line)
            if line.strip() == FROM:
                inside = True
                indent = line[: len(line) - len(line.lstrip())]
                start = textwrap.dedent(self.start).strip("\n")
                kept.append(textwrap.indent(start, indent))
        return "\n".join(kept)

    @property
    def function(self) -> str:
        """The kernel's name in the text."""
        return _definition(self.solution_text).name

    @property
    def parameters(self) -> tuple[str, ...]:
        """The kernel's parameters, in order."""
        return tuple(a.arg for a in _definition(self.solution_text).args.args)


@dataclass(frozen=True)
class NumberExercise(Exercise):
    """An exercise whose answer is one number, or several by name.

    Attributes
    ----------
    answers : dict of str to number
        The right numbers by their names.
    mistakes : dict of (str, number) to str
        Wrong numbers that have a reason, and the reason.
    allowance : float
        The relative error allowed; 0 demands equality.
    """

    answers: dict[str, float] = field(default_factory=dict)
    mistakes: dict[tuple[str, float], str] = field(default_factory=dict)
    allowance: float = 0.0


@dataclass(frozen=True)
class FunctionExercise(Exercise):
    """An exercise whose answer is a Python function.

    Attributes
    ----------
    judge : callable
        Takes the function; yields what is wrong with it, as (kind, sentence).
    parameters : tuple of str
    start : str
        What stands between the marks at first, if it isn't worth judging.
    """

    judge: Callable[[Callable], Iterable[tuple[Flaw, str]]] = field(default=tuple)
    parameters: tuple[str, ...] = ()
    start: str = ""


def _definition(text: str) -> ast.FunctionDef:
    return next(n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef))
