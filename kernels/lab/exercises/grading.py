"""Judge a kernel: every launch under the microscope, its numbers, its budget, then the GPU.

The microscope comes first on every machine: it ends an endless loop, keeps an access out of bounds
from doing harm, and says the same everywhere. A GPU is only given a kernel that has passed.
"""

from __future__ import annotations

import itertools
import secrets
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kernels.backend import cuda, on_gpu
from kernels.backend.device import device
from microscope import Kind as Seen
from microscope import Trace

from .diagnosis import diagnose, lone, problems, wrong_numbers
from .exercise import FINE, KernelExercise, Trial
from .flaws import RANK, Flaw
from .limits import GPU_SECONDS
from .looking import agree, finding_at, look, place, sound
from .result import Finding, Spent
from .submission import Refused, another_signature, check_kernel, parameters_of


class Grade(NamedTuple):
    """What is wrong, the most urgent first; what was tried; what was spent; what to know."""

    findings: list[Finding]
    tried: str = ""
    spent: list[Spent] = []
    note: str = ""


def grade(function, exercise: KernelExercise, jitted=None, **options) -> Grade:
    """Judge a kernel.

    Parameters
    ----------
    function : function
        The kernel as a plain function.
    exercise : KernelExercise
    jitted : kernel, optional
        What ``cuda.jit`` made of it, for the GPU.
    **options
        What the exercise lets a learner choose, such as the grid.

    Raises
    ------
    Refused
        If the kernel cannot be run at all.
    """
    check_kernel(function, exercise, jitted)
    trials = exercise.trials(**options)
    seen: dict[int, Trace] = {}
    for number, trial in enumerate(trials):
        try:
            seen[number] = look(function, trial)
        except Refused:
            _check_order(function, exercise, trials)
            raise
        if not sound(trial, seen[number]):
            _check_order(function, exercise, trials)
            _check_constants(function, exercise, trial)
            return Grade(diagnose(function, trials, number, seen))
    findings = list(_float64(trials[0], seen[0]))
    at = exercise.counted
    spent = [Spent(b.what, b.count(seen[at]), b.most, b.why) for b in exercise.budgets]
    where = place(trials[at])
    over = [Finding(Flaw.BUDGET, f"{s}: {s.why}", where=where) for s in spent if s.spent > s.most]
    alone = lone(trials[at], seen[at]) if over else None
    findings += [alone] if alone else over
    if not findings:
        findings = list(_with_other_numbers(function, exercise.trials(seed=_any_seed(), **options)))
    if not findings and on_gpu and device().compute_capability >= exercise.needs:
        findings = list(_on_the_gpu(function, trials, jitted))
    many = f"{len(trials)} launches" if len(trials) > 1 else "one launch"
    tried = f"{many}, the warps in three orders: every number right, no problem found"
    findings.sort(key=lambda f: RANK[f.kind])
    return Grade(findings, tried, spent, _on_negative_indices(seen.values()))


def _any_seed() -> int:
    """A seed that nobody knows beforehand."""
    return secrets.randbits(64)


def _check_order(function, exercise: KernelExercise, trials: list[Trial]) -> None:
    """Raise `Refused` if a wrong kernel has its parameters in another order, by name or by use."""
    given, wanted = parameters_of(function), exercise.parameters
    if given == wanted:
        return
    if any(name in wanted and given.index(name) != wanted.index(name) for name in given):
        raise another_signature(function, exercise)
    small = next(t for t in trials if t.role == FINE)
    for order in itertools.islice(itertools.permutations(wanted), 1, None):
        turned = replace(small, arguments={name: small.arguments[name] for name in order})
        try:
            right = sound(turned, look(function, turned))
        except Refused:
            continue
        if right:
            raise another_signature(
                function, exercise, f", and is right if they are ({', '.join(order)})"
            )


def _check_constants(function, exercise: KernelExercise, trial: Trial) -> None:
    """Raise `Refused` if a wrong kernel uses a constant that the launches take to be another."""
    for name, value in exercise.names.items():
        own = function.__globals__.get(name, value)
        if name not in function.__code__.co_names or own == value or not isinstance(own, int):
            continue
        sides = " × ".join(map(str, trial.block))
        again = f"the check launches blocks of {sides} threads, so set {name} = {value} again"
        threads, most = own**2, device().max_threads_per_block
        if trial.block == (value, value) and threads > most:
            text = f"with {name} = {own}, a block of {own} × {own} is {threads} threads"
            raise Refused(Flaw.BLOCK_LIMIT, f"{text}; the limit is {most}. And {again}")
        raise Refused(Flaw.CONSTANT, f"{name} is {own}, but {again}")


def _with_other_numbers(function, trials: list[Trial]) -> Iterator[Finding]:
    """A small launch with numbers never used before, warp after warp, in two orders."""
    small = next(t for t in trials if t.role == FINE)
    for schedule in ("warps", "warps-reversed"):
        other = look(function, small, schedule)
        if sound(small, other):
            continue
        yield from problems(small, other)
        wrong = wrong_numbers(small, look(function, small))
        if wrong:
            message = f"{wrong.message}. Only the numbers are new: does it compute its results?"
            yield replace(wrong, kind=Flaw.REMEMBERED, message=message)
        else:
            message = f"the numbers depend on the order of the warps: wrong in order {schedule}"
            yield Finding(Flaw.RACE, message, where=place(small))
        return


def _on_negative_indices(traces) -> str:
    """What to know of a right answer that counts from the end of an array."""
    for problem in (p for seen in traces for p in seen.problems):
        if problem.kind is Seen.NEGATIVE_INDEX:
            return (
                f"line {problem.line}: a negative index counts from the end of {problem.array} in"
                " Numba, as in Python; in CUDA C++ the same index reads what lies before the array"
            )
    return ""


def _float64(trial: Trial, seen: Trace) -> Iterator[Finding]:
    n = seen.work.flops.get("float64", 0)
    if n:
        line = next(iter(seen.work.flops_by_line), None)
        text = (
            f"{n:,} operations are float64, many times slower on most GPUs: an accumulator that"
            " starts as 0 or 0.0 is not float32, one that starts as float32(0) is"
        )
        yield finding_at(Flaw.FLOAT64, text, trial, seen, line)
    for array in seen.arrays.values():
        if array.dtype == np.float64:
            line = next((s.line for s in seen.sites if s.array == array.name), None)
            text = f"{array.name} holds float64, twice the bytes for the same numbers: use float32"
            yield finding_at(Flaw.FLOAT64, text, trial, seen, line)


def _on_the_gpu(function, trials: list[Trial], jitted) -> Iterator[Finding]:
    """Run a kernel that has passed on the GPU itself, and compare again."""
    kernel = jitted if hasattr(jitted, "py_func") else cuda.jit(function)
    for trial in trials:
        arguments = {
            name: cuda.to_device(value) if isinstance(value, np.ndarray) else value
            for name, value in trial.arguments.items()
        }
        done = cuda.event()
        try:
            kernel[trial.grid, trial.block](*arguments.values())
        except Exception as error:
            what = next((s for s in str(error).splitlines() if s.strip()), type(error).__name__)
            raise Refused(Flaw.NOT_COMPILED, f"numba-cuda says: {what.strip()}") from None
        done.record()
        end = time.monotonic() + GPU_SECONDS
        while not done.query():
            if time.monotonic() > end:
                text = f"the GPU is not done after {GPU_SECONDS:g} s: restart Python, then look"
                yield Finding(Flaw.TOO_SLOW, text, where=place(trial))
                return
            time.sleep(0.001)
        for name, want in trial.expected.items():
            got = arguments[name].copy_to_host()
            right = agree(got, want, trial.bounds.get(name))
            if not right.all():
                text = f"{int((~right).sum())} of {right.size} elements of {name} are wrong"
                yield Finding(Flaw.OTHER_ON_GPU, text, where=place(trial))
                return
