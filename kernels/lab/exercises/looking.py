"""One launch under the microscope: what it left, whether it is right, and where to point."""

from __future__ import annotations

import numpy as np

from microscope import KernelError, Limits, Trace, trace
from microscope import Kind as Seen

from .exercise import Trial
from .flaws import Flaw
from .limits import LOOPS
from .result import Finding
from .submission import not_compiled


def look(function, trial: Trial, schedule: str = "lockstep", limits: Limits = LOOPS) -> Trace:
    """Trace a kernel on the arguments of a trial."""
    arguments = trial.arguments.values()
    try:
        return trace(
            function, trial.grid, trial.block, *arguments, schedule=schedule, limits=limits
        )
    except KernelError as error:
        raise not_compiled(error) from None


def outputs(trial: Trial, seen: Trace) -> dict[str, np.ndarray]:
    """The arrays after the launch, by the names of the exercise; the learner's may differ."""
    arrays = [name for name, value in trial.arguments.items() if isinstance(value, np.ndarray)]
    return dict(zip(arrays, seen.outputs.values(), strict=False))


def name_in(trial: Trial, seen: Trace, name: str) -> str:
    """What the learner calls an array of the exercise."""
    arrays = [n for n, value in trial.arguments.items() if isinstance(value, np.ndarray)]
    return list(seen.outputs)[arrays.index(name)]


def agree(got: np.ndarray, want: np.ndarray, bound: np.ndarray | None = None) -> np.ndarray:
    """Where a result is right: equal, or within its bound; NaN is right where NaN is wanted."""
    with np.errstate(invalid="ignore"):
        near = got == want if bound is None else abs(got - want) <= bound
    return near | ((got != got) & (want != want))


def sound(trial: Trial, seen: Trace) -> bool:
    """Is there no problem, and every number right, those of the inputs included?

    A negative index is no problem by itself: Numba counts it from the end.
    """
    if any(problem.kind is not Seen.NEGATIVE_INDEX for problem in seen.problems):
        return False
    return all(
        agree(array, trial.expected.get(name, trial.arguments[name]), trial.bounds.get(name)).all()
        for name, array in outputs(trial, seen).items()
    )


def store_line(trial: Trial, seen: Trace, name: str) -> int | None:
    """The first line that stores an array of the exercise."""
    own = name_in(trial, seen, name)
    return next((s.line for s in seen.sites if s.array == own and s.op != "load"), None)


def finding_at(
    kind: Flaw, message: str, trial: Trial, seen: Trace, line: int | None = None
) -> Finding:
    """A finding of a launch, with the source of its line and the sizes."""
    return Finding(kind, message, line, source(seen, line), place(trial))


def source(seen: Trace, line: int | None) -> str:
    """The text of a line, by the number that Python gives it."""
    offset = -1 if line is None else line - seen.first_line
    return seen.source[offset].strip() if 0 <= offset < len(seen.source) else ""


def place(trial: Trial) -> str:
    """The sizes of a launch."""
    size = " × ".join(map(str, trial.block))
    return f"{trial.label}, blocks of {size} threads"
