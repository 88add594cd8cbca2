"""`check` and `judge`: find the exercise, read the answer, judge it, give the next hint."""

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
from .grading import Verdict, grade
from .kinds import RANK, Kind
from .limits import FUNCTION_SECONDS, SECONDS, OverTime, time_limit
from .result import Finding, Result
from .submission import Refused, check_own, function_of, is_start

#: Failed tries in this Python, by exercise: each gives one more hint.
TRIES: Counter[str] = Counter()


#: What is no try: nothing was judged, so no hint is due.
NO_TRY = {Kind.EMPTY, Kind.UNTOUCHED, Kind.SYNTAX, Kind.NO_KERNEL, Kind.SIGNATURE}


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
    """Check an answer, give the next hint if it is wrong, and keep the progress.

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
            TRIES[name] += 1
            number = min(TRIES[name], 3)
            result = replace(result, hint=named(name).hints[number - 1], hint_number=number)
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
        verdict = Verdict([Finding(refused.kind, str(refused), refused.line, source)])
    except OverTime:
        text = f"stopped after {seconds:g} s: look for what takes so long"
        verdict = Verdict([Finding(Kind.TOO_SLOW, text)])
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


def _verdict(task: Exercise, answer, options: dict) -> Verdict:
    if isinstance(task, KernelExercise):
        return grade(function_of(answer, task.names), task, answer, **options)
    if isinstance(task, NumberExercise):
        return Verdict(list(_numbers_wrong(task, answer)))
    return Verdict(_function_wrong(task, answer))


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
            raise Refused(Kind.SIGNATURE, f"pass the numbers by name: dict({_form(names)})")
        answer = {names[0]: answer} if len(names) == 1 else dict.fromkeys(names)
    missing = [n for n in names if answer.get(n) is None or answer.get(n) is ...]
    unknown = [n for n in answer if n not in names]
    if unknown:
        raise Refused(Kind.SIGNATURE, f"{unknown[0]!r} is not asked for: {', '.join(names)} are")
    if len(missing) == len(names):
        raise Refused(Kind.EMPTY, "there is no number yet: write yours in place of the dots")
    for name in names:
        if name in missing:
            yield Finding(Kind.WRONG, f"{name} is still missing")
            continue
        given, want = _number(name, answer[name]), task.answers[name]
        if math.isclose(given, want, rel_tol=task.allowance, abs_tol=0.0):
            continue
        reason = _reason(task, name, given)
        text = f"{name} is not {given:g}" + (f": {reason}" if reason else "")
        yield Finding(Kind.WRONG, text)


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
        raise Refused(Kind.NOT_A_NUMBER, f"{name} must be a number, got {value!r}")
    if not math.isfinite(value):
        raise Refused(Kind.NOT_A_NUMBER, f"{name} is {value}: give a finite number")
    return float(value)


# -------------------------------------------------------------------------------------- functions


def _function_wrong(task: FunctionExercise, answer):
    if isinstance(answer, str) or not callable(answer):
        function_of(answer, {})  # says what is missing
    function = answer if callable(answer) else function_of(answer, {})
    try:
        inspect.signature(function).bind(*task.parameters)
    except (TypeError, ValueError):
        wanted = ", ".join(task.parameters)
        raise Refused(Kind.SIGNATURE, f"the function must take ({wanted})") from None
    check_own(function)
    return [Finding(kind, sentence) for kind, sentence in task.judge(function)]
