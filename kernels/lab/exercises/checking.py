"""`check` and `judge`: find the exercise, read the answer, judge it, give a hint."""

from __future__ import annotations

import difflib
import inspect
import math
import numbers
from collections import Counter
from dataclasses import replace

from . import keeping
from .catalogue import EXERCISES
from .exercise import Exercise, FunctionExercise, KernelExercise, NumberExercise
from .flaws import RANK, Flaw
from .grading import Grade, grade
from .limits import FUNCTION_SECONDS, SECONDS, OverTime, time_limit
from .result import Finding, Result
from .submission import UNTOUCHED, Refused, check_own, function_of, is_body, is_start

#: Hints of an exercise's own that this Python has given, by exercise.
GIVEN: Counter[str] = Counter()


#: The hint that follows from what is wrong; where there is none, the exercise's next.
HINTS = {
    Flaw.TRANSPOSED: "`cuda.grid(2)` returns x, then y: x is the column, y is the row.",
    Flaw.SWAPPED: "Pick one thread, such as tx = 1, ty = 0. Write down which element it loads,"
    " where it stores it, and which row and column it multiplies.",
    Flaw.WRONG_OPERAND: "Read each line aloud with its arrays. Which one should it read?",
    Flaw.ONLY_SQUARE: "Write M, N or K beside every size and every bound. Which one counts rows?",
    Flaw.MISSING_GUARD: "The grid covers more than the matrix. Who has nothing to do there?",
    Flaw.DIVERGENT_BARRIER: "Every thread of a block must reach each barrier: move it out of the"
    " `if`, and let no thread return before it.",
    Flaw.MISSING_BARRIER: "Look at the two lines. Is there a barrier between them on the way"
    " forward, and on the way round the loop?",
    Flaw.RACE: "Two threads reach the same element. Which one should, or what keeps them apart?",
    Flaw.UNINITIALISED: "Shared memory holds anything at first. Who stores this element?",
    Flaw.SAME_TILE: "Write down what this thread loads in the first step and in the second: these"
    " lie T apart.",
    Flaw.DROPPED_TILE: "Count the steps with K = 17 and tiles of 16: rounded up, they're two.",
    Flaw.LOST_SUM: "`=` forgets what was there. Where does the sum begin, and where does it go on?",
    Flaw.FLOAT64: "Follow the types. Which number isn't float32?",
}
#: The third of an exercise's hints is nearly the solution: who wants it unfolds it.
LAST = "It comes closest to the solution. Unfold it under the cell when you want it."
#: What is no try: nothing was judged, so no hint is due.
NO_TRY = {
    Flaw.EMPTY, Flaw.UNTOUCHED, Flaw.SYNTAX, Flaw.NO_KERNEL, Flaw.SIGNATURE, Flaw.NOT_COMPILED,
}  # fmt: skip


class UnknownExercise(KeyError):
    """No exercise has this name; the message lists near ones."""

    def __str__(self) -> str:
        return self.args[0]


def named(name: str) -> Exercise:
    """Return an exercise by its name."""
    if name not in EXERCISES:
        near = difflib.get_close_matches(str(name), EXERCISES, 3) or list(EXERCISES)
        raise UnknownExercise(f"no exercise {name!r}: use one of {', '.join(near)}")
    return EXERCISES[name]


def check(name: str, answer=None, **options) -> Result:
    """Check an answer, give a hint if it is wrong, and keep the progress.

    The hint follows from what is wrong; where that has none, it's the next of the exercise's first
    two, and then a word on where the third is.

    Parameters
    ----------
    name : str
        The exercise, such as ``"tiled"``.
    answer : kernel, function, str or number
        What the exercise asks for; several numbers as a dict.
    **options
        What the exercise lets you choose beside the kernel, such as ``grid``.

    Returns
    -------
    Result
        True if the answer is right. Prints as text.

    Raises
    ------
    UnknownExercise, TypeError
        For a name or an option that there is not.
    """
    result = judge(name, answer, **options)
    started = result.kind not in NO_TRY and not _is_start(name, answer)
    if started:
        if not result.right:
            hint, number = result.findings[0].hint or HINTS.get(result.kind), 0
            if not hint:
                number = GIVEN[name] = min(GIVEN[name] + 1, 3)
                hint = (*named(name).hints[:2], LAST)[number - 1]
            result = replace(result, hint=hint, hint_number=number)
        note = keeping.keep(name, result.right)
        result = replace(result, note=". ".join(filter(None, (result.note, note))))
    return result


def judge(name: str, answer=None, **options) -> Result:
    """Judge an answer as `check` does, without hints and without keeping anything."""
    task = named(name)
    known = task.options if isinstance(task, KernelExercise) else ()
    for option in options:
        if option not in known:
            allowed = ", ".join(known) or "no options"
            raise TypeError(f"{name} has no option {option!r}: it takes {allowed}")
    seconds = FUNCTION_SECONDS if isinstance(task, FunctionExercise) else SECONDS
    try:
        with time_limit(seconds):
            verdict = _verdict(task, answer, options)
    except Refused as refused:
        source = _source_line(answer, refused.line)
        verdict = Grade([Finding(refused.kind, str(refused), refused.line, source)])
    except OverTime:
        text = f"stopped after {seconds:g} s: look for what takes so long"
        verdict = Grade([Finding(Flaw.TOO_SLOW, text)])
    findings = tuple(sorted(verdict.findings, key=lambda finding: RANK[finding.kind]))
    return Result(
        name,
        not findings,
        findings,
        verdict.tried,
        tuple(verdict.spent),
        after="" if findings else task.after,
        note="" if findings else verdict.note,
    )


def _verdict(task: Exercise, answer, options: dict) -> Grade:
    if isinstance(task, KernelExercise):
        return grade(function_of(answer, task.names), task, answer, **options)
    if isinstance(task, NumberExercise):
        return Grade(list(_numbers_wrong(task, answer)))
    return Grade(_function_wrong(task, answer))


def _is_start(name: str, answer) -> bool:
    """Say whether a kernel is still the one to mend: looking at what is wrong with it is no try."""
    task = named(name)
    return isinstance(task, KernelExercise) and is_start(function_of(answer, task.names), task)


def _source_line(answer, line: int | None) -> str:
    """A line of the answer, by the number that Python gives it."""
    if line is None:
        return ""
    if isinstance(answer, str):
        lines, first = inspect.cleandoc("x\n" + answer).split("\n")[1:], 1
    else:
        try:
            lines, first = inspect.getsourcelines(getattr(answer, "py_func", answer))
        except (OSError, TypeError):
            return ""
    return lines[line - first].strip() if 0 <= line - first < len(lines) else ""


# ---------------------------------------------------------------------------------------- numbers


def _numbers_wrong(task: NumberExercise, answer):
    names = list(task.answers)
    if not isinstance(answer, dict):
        if len(names) > 1 and answer is not None and answer is not ...:
            raise Refused(Flaw.SIGNATURE, f"pass the numbers by name: dict({_form(names)})")
        answer = {names[0]: answer} if len(names) == 1 else dict.fromkeys(names)
    missing = [n for n in names if answer.get(n) is None or answer.get(n) is ...]
    unknown = [n for n in answer if n not in names]
    if unknown:
        raise Refused(Flaw.SIGNATURE, f"{unknown[0]!r} is not asked for: {', '.join(names)} are")
    if len(missing) == len(names):
        raise Refused(Flaw.EMPTY, "there is no number yet: write yours in place of the dots")
    for name in names:
        if name in missing:
            yield Finding(Flaw.WRONG, f"{name} is still missing")
            continue
        given, want = _number(name, answer[name]), task.answers[name]
        if math.isclose(given, want, rel_tol=task.allowance, abs_tol=0.0):
            continue
        reason = _reason(task, name, given)
        text = f"{name} is not {given:g}" + (f": {reason}" if reason else "")
        yield Finding(Flaw.WRONG, text)


def _reason(task: NumberExercise, name: str, given: float) -> str:
    """Why somebody may have said so."""
    near = max(task.allowance, 1e-9)
    for (asked, value), reason in task.mistakes.items():
        if asked == name and math.isclose(given, value, rel_tol=near):
            return reason
    return ""


def _form(names) -> str:
    return ", ".join(f"{n}=…" for n in names)


def _number(name: str, value) -> float:
    if hasattr(value, "item") and getattr(value, "size", 2) == 1:
        value = value.item()
    if not isinstance(value, numbers.Real):
        raise Refused(Flaw.NOT_A_NUMBER, f"{name} must be a number, got {value!r}")
    if not math.isfinite(value):
        raise Refused(Flaw.NOT_A_NUMBER, f"{name} is {value}: give a finite number")
    return float(value)


# -------------------------------------------------------------------------------------- functions


def _function_wrong(task: FunctionExercise, answer):
    if isinstance(answer, str) or not callable(answer):
        function_of(answer, {})  # says what is missing
    function = answer if callable(answer) else function_of(answer, {})
    if task.start and is_body(function, task.start):
        raise Refused(Flaw.UNTOUCHED, UNTOUCHED)
    try:
        inspect.signature(function).bind(*task.parameters)
    except (TypeError, ValueError):
        wanted = ", ".join(task.parameters)
        raise Refused(Flaw.SIGNATURE, f"the function must take ({wanted})") from None
    check_own(function)
    return [Finding(kind, sentence) for kind, sentence in task.judge(function)]
