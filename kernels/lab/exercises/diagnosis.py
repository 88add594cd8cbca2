"""What is wrong with a launch, in a learner's words, the most urgent first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from microscope import Kind as Seen
from microscope import Problem, Trace

from .exercise import FINE, MULTIPLE, SQUARE, Trial
from .flaws import RANK, Flaw
from .limits import LONG_LOOPS, LOOPS
from .looking import agree, finding_at, look, name_in, outputs, sound, source, store_line
from .result import Finding

#: What the microscope calls a problem, and what a learner is told.
KINDS = {
    Seen.SHARED_LIMIT: Flaw.SHARED_LIMIT,
    Seen.BLOCK_LIMIT: Flaw.BLOCK_LIMIT,
    Seen.ENDLESS_LOOP: Flaw.ENDLESS,
    Seen.OUT_OF_BOUNDS: Flaw.OUT_OF_BOUNDS,
    Seen.NEGATIVE_INDEX: Flaw.NEGATIVE_INDEX,
    Seen.DIVERGENT_BARRIER: Flaw.DIVERGENT_BARRIER,
    Seen.BARRIER_AFTER_RETURN: Flaw.DIVERGENT_BARRIER,
    Seen.READ_AFTER_WRITE: Flaw.MISSING_BARRIER,
    Seen.WRITE_AFTER_READ: Flaw.MISSING_BARRIER,
    Seen.WRITE_AFTER_WRITE: Flaw.RACE,
    Seen.UNINITIALISED: Flaw.UNINITIALISED,
    Seen.DEADLOCK: Flaw.DEADLOCK,
    Seen.TOO_EARLY: Flaw.TOO_EARLY,
    Seen.OVERWRITTEN: Flaw.OVERWRITTEN,
}
ALONE = "one thread stores one element after the other while the rest of its warp waits"
TILE = "A tile is a part of a matrix. What does this index run over: one tile, or a whole row?"
STOPS = {Flaw.SHARED_LIMIT, Flaw.BLOCK_LIMIT, Flaw.ENDLESS}


def diagnose(function, trials: list[Trial], number: int, seen: dict[int, Trace]) -> list[Finding]:
    """All that is known about a launch that went wrong, the most urgent first."""
    trial, here = trials[number], seen[number]
    findings = list(problems(trial, here))
    if findings and findings[0].kind is Flaw.ENDLESS:
        return [_unshared(function, trials, findings[0]) or findings[0]]
    if findings and findings[0].kind in STOPS:
        return findings[:1]
    findings += [*_changed_inputs(trial, here), *_read_outputs(trial, here)]
    roles = {}
    for i, other in enumerate(trials):
        if other.role in (SQUARE, MULTIPLE) and other.role not in roles:
            roles[other.role] = other, seen.get(i) or look(function, other)
    fits = {role: sound(*pair) for role, pair in roles.items()}
    suspect = _suspected(trial, here)
    for role in (SQUARE, MULTIPLE):
        if suspect is None and role in roles:
            suspect = _suspected(*roles[role])
    only_square = fits.get(SQUARE) and fits.get(MULTIPLE) is False
    beyond = [i for i, f in enumerate(findings) if f.kind is Flaw.OUT_OF_BOUNDS and f.edge]
    for i in beyond:
        if all(fits.values()) and fits:
            text = "Where the block divides the sizes nothing happens: a guard is missing"
            findings[i] = _as(findings[i], Flaw.MISSING_GUARD, text)
        elif only_square:
            text = "With square matrices nothing happens: two sizes are mixed up"
            findings[i] = _as(findings[i], Flaw.ONLY_SQUARE, text)
    findings += [suspect] if suspect else _unread(trial, here)
    wrong = wrong_numbers(trial, here)
    if wrong and not suspect and not (findings and wrong.kind is Flaw.WRONG):
        if wrong.kind is Flaw.WRONG and only_square:
            wrong = _as(wrong, Flaw.ONLY_SQUARE, "Square matrices come out right")
        elif wrong.kind is Flaw.WRONG and fits and all(fits.values()):
            text = "Where the block divides the sizes it is right: look at the edges"
            wrong = _as(wrong, Flaw.ONLY_MULTIPLES, text)
        elif wrong.kind is Flaw.UNWRITTEN and only_square:
            wrong = _as(wrong, Flaw.ONLY_SQUARE, "Square matrices come out right")
        findings.append(wrong)
    return sorted(findings, key=lambda f: RANK[f.kind])


def _as(finding: Finding, kind: Flaw, sentence: str) -> Finding:
    return replace(finding, kind=kind, message=f"{finding.message}. {sentence}")


def problems(trial: Trial, seen: Trace) -> Iterator[Finding]:
    """What the microscope reports, in a learner's words."""
    found = []
    # Of two races the one across warps says more: a barrier of a warp would not mend it.
    for problem in sorted(seen.problems, key=lambda p: p.same_warp is True):
        # What is left are rules of single instructions: the message names the instruction.
        kind = KINDS.get(problem.kind, Flaw.MISUSED)
        array = seen.arrays.get(problem.array)
        if kind is Flaw.MISSING_BARRIER and array is not None and array.space == "global":
            kind = Flaw.RACE
        many = "" if problem.count == 1 else f" ({problem.count} in all)"
        edge = kind is Flaw.OUT_OF_BOUNDS and array is not None and array.space == "global"
        message = problem.message
        if trial.exact:
            message = message.replace("guard the access with an if", "mend the index")
        finding = finding_at(kind, f"{message}{many}", trial, seen, problem.line)
        hint = _beyond(trial, seen, problem) if kind is Flaw.OUT_OF_BOUNDS and array else ""
        other = problem.other_line
        found.append(
            replace(
                finding, edge=edge, other_line=other, other_source=source(seen, other), hint=hint
            )
        )
    yield from sorted(found, key=lambda f: RANK[f.kind])


def _beyond(trial: Trial, seen: Trace, problem: Problem) -> str:
    """The hint on an index outside a tile, or of a tile beyond the length of the sums."""
    array = seen.arrays[problem.array]
    if array.space != "global":
        return TILE if len(array.shape) == 2 else ""
    ends = {n for i, n in zip(problem.element, array.shape, strict=False) if not 0 <= i < n}
    sizes = {n for want in trial.expected.values() for n in want.shape}
    into = [s for s in seen.sites if s.space == "shared" and s.op == "store"]
    if ends & sizes or all(site.line != problem.line for site in into):
        return ""
    return (
        f"The last tile reaches past the end of {problem.array}, along K. Where nothing is left to"
        " load, which number adds nothing to a sum?"
    )


def lone(trial: Trial, seen: Trace) -> Finding | None:
    """What is wrong where one thread of a warp makes every access, if there are any."""
    # A box by TMA is asked for by one thread, as it should be.
    sites = [s for s in seen.sites if s.space == "global" and s.unit != "TMA"]
    if not sites or any(s.lanes > s.requests for s in sites) or trial.block == (1,):
        return None
    line = next((s.line for s in sites if s.op != "load"), sites[0].line)
    return finding_at(Flaw.UNSHARED, f"{ALONE}: let each take its share of them", trial, seen, line)


def _unshared(function, trials: list[Trial], endless: Finding) -> Finding | None:
    """Where the loop does end if it has time, as one does that does the work of all threads."""
    small = next(t for t in trials if t.role == FINE)
    seen = look(function, small, limits=LONG_LOOPS)
    if any(problem.kind is Seen.ENDLESS_LOOP for problem in seen.problems):
        return None
    own = {name_in(small, seen, name) for name in small.expected}
    stores = [s for s in seen.sites if s.array in own and s.op != "load" and s.unit != "TMA"]
    message = (
        f"this loop ends, but not within {LOOPS.trips} iterations: give each thread its own"
        " elements, and start more threads for more elements"
    )
    if stores and all(s.lanes == s.requests for s in stores):
        message = f"{ALONE}: give each thread its own element"
    return replace(endless, kind=Flaw.UNSHARED, message=message)


def _changed_inputs(trial: Trial, seen: Trace) -> Iterator[Finding]:
    for name, after in outputs(trial, seen).items():
        changed = ~agree(after, trial.arguments[name])
        if name in trial.expected or not changed.any():
            continue
        own = name_in(trial, seen, name)
        message = (
            f"{own} is an input, and {int(changed.sum())} of its elements have changed: leave it"
            " as it is"
        )
        yield finding_at(Flaw.INPUT_CHANGED, message, trial, seen, store_line(trial, seen, name))


def _read_outputs(trial: Trial, seen: Trace) -> Iterator[Finding]:
    """Outputs that are read although nothing but poison is in them."""
    for name in trial.expected:
        own, poison = name_in(trial, seen, name), np.asarray(trial.arguments[name])
        site = next((s for s in seen.sites if s.array == own and s.op == "load"), None)
        if site and bool((poison != poison).all()):
            text = f"{own} is read before anything was stored there: start from zero in a register"
            yield finding_at(Flaw.READS_OUTPUT, text, trial, seen, site.line)


def _unread(trial: Trial, seen: Trace) -> Iterator[Finding]:
    """What is filled or handed in, and then not read: another array was taken in its place.

    Only where the kernel reads something else of the kind in two places, and stores a result.
    """
    inputs = [
        name_in(trial, seen, name)
        for name, value in trial.arguments.items()
        if name not in trial.expected and isinstance(value, np.ndarray)
    ]
    own = [name_in(trial, seen, name) for name in trial.expected]
    stored = {site.array for site in seen.sites if site.op != "load"}
    read = {site.array for site in seen.sites if site.op != "store"}
    shared = [name for name, array in seen.arrays.items() if array.space == "shared"]
    if not stored & {*own}:
        return
    for names, why in ((inputs, "is never read"), (shared, "is filled, and never read")):
        loads = [site.array for site in seen.sites if site.op == "load"]
        taken = [name for name in names if loads.count(name) > 1]
        for name in names:
            if taken and name not in read and (names is inputs or name in stored):
                line = next((s.line for s in seen.sites if s.array == taken[0] and s.op == "load"))
                message = f"{name} {why}: is {taken[0]} in its place?"
                yield finding_at(Flaw.WRONG_OPERAND, message, trial, seen, line)


def _suspected(trial: Trial, seen: Trace) -> Finding | None:
    """A wrong result that has a name."""
    name, want = next(iter(trial.expected.items()))
    got, bound = outputs(trial, seen)[name], trial.bounds.get(name)
    if agree(got, want, bound).all():
        return None
    for suspect in trial.suspects():
        if suspect.result.shape == got.shape and agree(got, suspect.result, bound).all():
            line = _line_of(suspect.at, trial, seen) or store_line(trial, seen, name)
            return finding_at(suspect.kind, suspect.sentence, trial, seen, line)
    return None


def _line_of(at: str, trial: Trial, seen: Trace) -> int | None:
    """The line where a mistake is, as `Suspect` names it."""
    if at == "turned":  # a store that runs down the tile's columns, unless it's the read
        stores = (s for s in seen.sites if s.space == "shared" and s.op == "store")
        down = next((s.line for s in stores if s.conflicts), None)
        if down is not None:
            return down
        at = "sum"
    if at == "sum":
        return max(seen.work.flops_by_line, key=seen.work.flops_by_line.get, default=None)
    if at not in trial.arguments:
        return None
    own = name_in(trial, seen, at)
    return next((s.line for s in seen.sites if s.array == own and s.op == "load"), None)


def wrong_numbers(trial: Trial, seen: Trace) -> Finding | None:
    """What is wrong with the numbers themselves."""
    for name, want in trial.expected.items():
        got = outputs(trial, seen)[name]
        wrong = ~agree(got, want, trial.bounds.get(name))
        if not wrong.any():
            continue
        own, line = name_in(trial, seen, name), store_line(trial, seen, name)
        heat = seen.arrays.get(own)
        if heat is None or not heat.stores.any():
            return finding_at(
                Flaw.NOTHING_WRITTEN, f"no thread stores anything in {own}", trial, seen
            )
        missing = heat.stores == 0
        if (missing & wrong).any():
            text = f"nobody stores {_span(missing, own)}: {int(missing.sum())} of {want.size}"
            return finding_at(Flaw.UNWRITTEN, f"{text} elements", trial, seen, line)
        first = tuple(int(i) for i in np.argwhere(wrong)[0])
        text = (
            f"{own}[{', '.join(map(str, first))}] is {got[first]:.7g}, expected {want[first]:.7g};"
            f" {int(wrong.sum())} of {int((~missing).sum())} elements are wrong"
        )
        if got[first] != got[first]:
            return finding_at(Flaw.NOT_A_NUMBER, text + _pattern(got, wrong), trial, seen, line)
        rounded = _rounded(got, want, wrong)
        if rounded:
            return finding_at(Flaw.ROUNDED, f"{text}: {rounded}", trial, seen, line)
        return finding_at(Flaw.WRONG, text + _pattern(got, wrong), trial, seen, line)
    return None


def _rounded(got: np.ndarray, want: np.ndarray, wrong: np.ndarray) -> str:
    """Say so if a type that is too small for the numbers has rounded them."""
    with np.errstate(invalid="ignore"):
        off = abs(got - want).max() / abs(want).max()
        whole = got.any() and (got == np.floor(got)).all() and (want != np.floor(want)).any()
    if whole and off < 0.25:
        return "all of them are whole, so an integer has cut off the rest"
    if off < 2.0**-6 and wrong.mean() > 0.1:
        return "all of them are nearly right, so a type smaller than float32 has rounded them"
    return ""


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
