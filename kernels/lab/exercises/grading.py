"""Judge a kernel: every launch under the microscope, its numbers, its budget, then the GPU.

The microscope comes first on every machine: it ends an endless loop, keeps an access out of bounds
from doing harm, and says the same everywhere. A GPU is only given a kernel that has passed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import numpy as np

from kernels.engine import cuda, on_gpu
from kernels.engine.microscope import KernelError, Trace, trace
from kernels.engine.microscope import Kind as Seen

from .exercise import MULTIPLE, ODD, SQUARE, KernelExercise, Trial
from .kinds import RANK, Kind
from .limits import GPU_SECONDS, LOOPS
from .result import Finding, Spent
from .submission import Refused, check_kernel, not_compiled

#: What the microscope calls a problem, and what a learner is told.
KINDS = {
    Seen.SHARED_LIMIT: Kind.SHARED_LIMIT,
    Seen.BLOCK_LIMIT: Kind.BLOCK_LIMIT,
    Seen.ENDLESS_LOOP: Kind.ENDLESS,
    Seen.OUT_OF_BOUNDS: Kind.OUT_OF_BOUNDS,
    Seen.NEGATIVE_INDEX: Kind.OUT_OF_BOUNDS,
    Seen.DIVERGENT_BARRIER: Kind.DIVERGENT_BARRIER,
    Seen.BARRIER_AFTER_RETURN: Kind.DIVERGENT_BARRIER,
    Seen.READ_AFTER_WRITE: Kind.MISSING_BARRIER,
    Seen.WRITE_AFTER_READ: Kind.MISSING_BARRIER,
    Seen.WRITE_AFTER_WRITE: Kind.RACE,
    Seen.UNINITIALISED: Kind.UNINITIALISED,
}
STOPS = {Kind.SHARED_LIMIT, Kind.BLOCK_LIMIT, Kind.ENDLESS}


def grade(function, exercise: KernelExercise, jitted=None, **options):
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

    Returns
    -------
    findings : list of Finding
        The most urgent first.
    tried : str
    budget : list of Spent

    Raises
    ------
    Refused
        If the kernel cannot be run at all.
    """
    check_kernel(function, exercise, jitted)
    trials = exercise.trials(**options)
    seen: dict[int, Trace] = {}
    for number, trial in enumerate(trials):
        seen[number] = _look(function, trial)
        if not _sound(exercise, trial, seen[number]):
            findings = _diagnose(function, exercise, trials, number, seen)
            return findings, "", []
    findings = list(_float64(exercise, trials[0], seen[0]))
    at = exercise.counted
    spent = [Spent(b.what, b.count(seen[at]), b.most, b.why) for b in exercise.budgets]
    for s in spent:
        if s.spent > s.most:
            findings.append(Finding(Kind.BUDGET, f"{s}: {s.why}", where=_where(trials[at])))
    if not findings:
        findings = list(_in_other_orders(function, exercise, trials))
    if not findings and on_gpu:
        findings = list(_on_the_gpu(function, exercise, trials, jitted))
    tried = f"{_count(trials)}, the warps in three orders: every number right, no problem found"
    return sorted(findings, key=lambda f: RANK[f.kind]), tried, spent


def _in_other_orders(function, exercise: KernelExercise, trials: list[Trial]) -> Iterator[Finding]:
    """The smallest odd launch again, warp after warp: its numbers must not change."""
    small = min((t for t in trials if t.role == ODD), key=_threads)
    for schedule in ("warps", "warps-reversed"):
        other = _look(function, small, schedule)
        if not _sound(exercise, small, other):
            yield from _problems(small, other)
            message = f"the numbers depend on the order of the warps: wrong in order {schedule}"
            yield Finding(Kind.RACE, message, where=_where(small))
            return


# -------------------------------------------------------------------------------------- looking


def _look(function, trial: Trial, schedule: str = "lockstep") -> Trace:
    arguments = trial.arguments.values()
    try:
        return trace(function, trial.grid, trial.block, *arguments, schedule=schedule, limits=LOOPS)
    except KernelError as error:
        raise not_compiled(error) from None


def _outputs(trial: Trial, seen: Trace) -> dict[str, np.ndarray]:
    """The arrays after the launch, by the names of the exercise; the learner's may differ."""
    arrays = [name for name, value in trial.arguments.items() if isinstance(value, np.ndarray)]
    return dict(zip(arrays, seen.outputs.values(), strict=False))


def _name_in(trial: Trial, seen: Trace, name: str) -> str:
    """What the learner calls an array of the exercise."""
    arrays = [n for n, value in trial.arguments.items() if isinstance(value, np.ndarray)]
    return list(seen.outputs)[arrays.index(name)]


def agree(got: np.ndarray, want: np.ndarray, allowance: float) -> np.ndarray:
    """Where a result is right; NaN is right where NaN is wanted."""
    with np.errstate(invalid="ignore"):
        near = abs(got - want) <= allowance * (abs(want) + 1e-3) if allowance else got == want
    return near | ((got != got) & (want != want))


def _sound(exercise: KernelExercise, trial: Trial, seen: Trace) -> bool:
    if seen.problems:
        return False
    outputs = _outputs(trial, seen)
    for name, array in outputs.items():
        want = trial.expected.get(name, trial.arguments[name])
        allowance = exercise.allowance if name in trial.expected else 0.0
        if not agree(array, want, allowance).all():
            return False
    return True


# ------------------------------------------------------------------------------------- diagnosis


def _diagnose(function, exercise, trials: list[Trial], number: int, seen: dict[int, Trace]):
    """All that is known about a launch that went wrong, the most urgent first."""
    trial, here = trials[number], seen[number]
    findings = list(_problems(trial, here))
    if findings and findings[0].kind in STOPS:
        return findings[:1]
    findings += [*_changed_inputs(trial, here), *_read_outputs(trial, here)]
    roles = {}
    for i, other in enumerate(trials):
        if other.role in (SQUARE, MULTIPLE) and other.role not in roles:
            roles[other.role] = other, seen.get(i) or _look(function, other)
    fits = {role: _sound(exercise, *pair) for role, pair in roles.items()}
    suspect = _suspected(exercise, trial, here)
    for role in (SQUARE, MULTIPLE):
        if suspect is None and role in roles:
            suspect = _suspected(exercise, *roles[role])
    only_square = fits.get(SQUARE) and fits.get(MULTIPLE) is False
    beyond = [i for i, f in enumerate(findings) if f.kind is Kind.OUT_OF_BOUNDS and f.edge]
    for i in beyond:
        if all(fits.values()) and fits:
            text = "Where the block divides the sizes nothing happens: a guard is missing"
            findings[i] = _as(findings[i], Kind.MISSING_GUARD, text)
        elif only_square:
            text = "With square matrices nothing happens: two sizes are mixed up"
            findings[i] = _as(findings[i], Kind.ONLY_SQUARE, text)
    if suspect:
        findings.append(suspect)
    wrong = _wrong(exercise, trial, here)
    if wrong and not suspect and not (findings and wrong.kind is Kind.WRONG):
        if wrong.kind is Kind.WRONG and only_square:
            wrong = _as(wrong, Kind.ONLY_SQUARE, "Square matrices come out right")
        elif wrong.kind is Kind.WRONG and fits and all(fits.values()):
            text = "Where the block divides the sizes it is right: look at the edges"
            wrong = _as(wrong, Kind.ONLY_MULTIPLES, text)
        elif wrong.kind is Kind.UNWRITTEN and only_square:
            wrong = _as(wrong, Kind.ONLY_SQUARE, "Square matrices come out right")
        findings.append(wrong)
    return sorted(findings, key=lambda f: RANK[f.kind])


def _as(finding: Finding, kind: Kind, sentence: str) -> Finding:
    text = f"{finding.message}. {sentence}"
    return Finding(kind, text, finding.line, finding.source, finding.where)


def _problems(trial: Trial, seen: Trace) -> Iterator[Finding]:
    """What the microscope reports, in a learner's words."""
    found = []
    # Of two races the one across warps says more: a barrier of a warp would not mend it.
    for problem in sorted(seen.problems, key=lambda p: p.same_warp is True):
        kind = KINDS[problem.kind]
        array = seen.arrays.get(problem.array)
        if kind is Kind.MISSING_BARRIER and array is not None and array.space == "global":
            kind = Kind.RACE
        many = "" if problem.count == 1 else f" ({problem.count} in all)"
        source = _source(seen, problem.line)
        message = f"{problem.message}{many}"
        edge = kind is Kind.OUT_OF_BOUNDS and array is not None and array.space == "global"
        found.append(Finding(kind, message, problem.line, source, _where(trial), edge))
    yield from sorted(found, key=lambda f: RANK[f.kind])


def _changed_inputs(trial: Trial, seen: Trace) -> Iterator[Finding]:
    for name, after in _outputs(trial, seen).items():
        before = trial.arguments[name]
        if name in trial.expected or agree(after, before, 0.0).all():
            continue
        own = _name_in(trial, seen, name)
        site = next((s for s in seen.sites if s.array == own and s.op != "load"), None)
        n = int(np.count_nonzero(~agree(after, before, 0.0)))
        message = f"{own} is an input, and {n} of its elements have changed: leave it as it is"
        line = site.line if site else None
        yield Finding(Kind.INPUT_CHANGED, message, line, _source(seen, line), _where(trial))


def _read_outputs(trial: Trial, seen: Trace) -> Iterator[Finding]:
    """Outputs that are read although nothing but poison is in them."""
    for name in trial.expected:
        own, poison = _name_in(trial, seen, name), np.asarray(trial.arguments[name])
        site = next((s for s in seen.sites if s.array == own and s.op == "load"), None)
        if site and bool((poison != poison).all()):
            text = f"{own} is read before anything was stored there: start from zero in a register"
            yield Finding(
                Kind.READS_OUTPUT, text, site.line, _source(seen, site.line), _where(trial)
            )


def _suspected(exercise: KernelExercise, trial: Trial, seen: Trace) -> Finding | None:
    """A wrong result that has a name."""
    name, want = next(iter(trial.expected.items()))
    got = _outputs(trial, seen)[name]
    if agree(got, want, exercise.allowance).all():
        return None
    for suspect in trial.suspects():
        same = suspect.result.shape == got.shape
        if same and agree(got, suspect.result, exercise.allowance).all():
            line = _store_line(trial, seen, name)
            source = _source(seen, line)
            return Finding(suspect.kind, suspect.sentence, line, source, _where(trial))
    return None


def _wrong(exercise: KernelExercise, trial: Trial, seen: Trace) -> Finding | None:
    """What is wrong with the numbers themselves."""
    for name, want in trial.expected.items():
        got = _outputs(trial, seen)[name]
        wrong = ~agree(got, want, exercise.allowance)
        if not wrong.any():
            continue
        own, line = _name_in(trial, seen, name), _store_line(trial, seen, name)
        source, where = _source(seen, line), _where(trial)
        heat = seen.arrays.get(own)
        if heat is None or not heat.stores.any():
            return Finding(Kind.NOTHING_WRITTEN, f"no thread stores anything in {own}", where=where)
        missing = heat.stores == 0
        if (missing & wrong).any():
            text = f"nobody stores {_span(missing, own)}: {int(missing.sum())} of {want.size}"
            return Finding(Kind.UNWRITTEN, f"{text} elements", line, source, where)
        first = tuple(int(i) for i in np.argwhere(wrong)[0])
        text = (
            f"{own}[{', '.join(map(str, first))}] is {got[first]:.7g}, expected {want[first]:.7g};"
            f" {int(wrong.sum())} of {wrong.size} elements are wrong{_pattern(got, wrong)}"
        )
        kind = Kind.NOT_A_NUMBER if got[first] != got[first] else Kind.WRONG
        return Finding(kind, text, line, source, where)
    return None


def _span(missing: np.ndarray, name: str) -> str:
    """Name the elements that nobody wrote: rows, columns, or the first of them."""
    if missing.ndim == 2:
        for axis, words in ((1, "row"), (0, "column")):
            lines = np.flatnonzero(missing.all(axis=axis))
            if len(lines) and missing.sum() == len(lines) * missing.shape[axis]:
                return f"{words}s {lines[0]} to {lines[-1]} of {name}"
    first = ", ".join(str(int(i)) for i in np.argwhere(missing)[0])
    return f"{name}[{first}]" + (" and others" if missing.sum() > 1 else "")


def _pattern(got: np.ndarray, wrong: np.ndarray) -> str:
    """Say so if everything is zero, or only the last rows or columns are wrong."""
    if not got.any():
        return ": all of them are zero"
    if wrong.ndim != 2 or wrong.all():
        return ""
    for axis, words in ((1, "rows"), (0, "columns")):
        lines = np.flatnonzero(wrong.any(axis=axis))
        if lines[0] > 0 and lines[-1] == wrong.shape[1 - axis] - 1:
            return f", all in {words} {lines[0]} to {lines[-1]}"
    return ""


def _store_line(trial: Trial, seen: Trace, name: str) -> int | None:
    own = _name_in(trial, seen, name)
    return next((s.line for s in seen.sites if s.array == own and s.op != "load"), None)


def _source(seen: Trace, line: int | None) -> str:
    offset = -1 if line is None else line - seen.first_line
    return seen.source[offset].strip() if 0 <= offset < len(seen.source) else ""


def _where(trial: Trial) -> str:
    size = " × ".join(map(str, trial.block))
    return f"{trial.label}, blocks of {size} threads"


def _threads(trial: Trial) -> int:
    return math.prod(trial.grid) * math.prod(trial.block)


def _count(trials: list[Trial]) -> str:
    return f"{len(trials)} launches" if len(trials) > 1 else "one launch"


# ---------------------------------------------------------------------------- budgets and the GPU


def _float64(exercise: KernelExercise, trial: Trial, seen: Trace) -> Iterator[Finding]:
    n = seen.work.flops.get("float64", 0)
    if not n or exercise.float64:
        return
    line = next(iter(seen.work.flops_by_line), None)
    text = (
        f"{n:,} operations are float64, many times slower on most GPUs: an accumulator that starts"
        " as 0 or 0.0 is not float32, one that starts as float32(0) is"
    )
    yield Finding(Kind.FLOAT64, text, line, _source(seen, line), _where(trial))


def _on_the_gpu(function, exercise, trials: list[Trial], jitted) -> Iterator[Finding]:
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
            raise Refused(Kind.NOT_COMPILED, f"numba-cuda says: {what.strip()}") from None
        done.record()
        end = time.monotonic() + GPU_SECONDS
        while not done.query():
            if time.monotonic() > end:
                text = f"the GPU is not done after {GPU_SECONDS:g} s: restart Python, then look"
                yield Finding(Kind.TOO_SLOW, text, where=_where(trial))
                return
            time.sleep(0.001)
        for name, want in trial.expected.items():
            got = arguments[name].copy_to_host()
            right = agree(got, want, exercise.allowance)
            if not right.all():
                text = f"{int((~right).sum())} of {right.size} elements of {name} are wrong"
                yield Finding(Kind.OTHER_ON_GPU, text, where=_where(trial))
                return
