"""Search the tiles of a rung for one shape on one GPU, and keep what is found best.

The search has three parts. *List*: every combination of the rung's options that the rung and the
GPU accept. *Prune*: `predict` says how long each should take; those that it expects to be
far slower than the best are left out, each with its reason. *Measure*: the rest in the order of
their prediction, checked against a float64 product first; then the fastest few once more, longer
and beside the rung's defaults. What has been measured is kept at once, so an interrupted search
resumes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from kernels.backend import cupy
from kernels.basics import data_sheets
from kernels.basics.files import replace_text, slug
from kernels.host import tuned
from kernels.host.rung import Rung, Values
from kernels.host.tuned import Tuned
from kernels.tuning.predict import Prediction, predict

#: How many candidates are measured, and how much slower than the best prediction they may be.
MOST, WITHIN = 40, 2.0
#: How many of the fastest are measured again.
FINALISTS = 4
Shape = tuple[int, int, int]


@dataclass(frozen=True)
class Candidate:
    """One set of options: what is predicted of it, or why it is left out."""

    options: Values
    prediction: Prediction | None = None
    reason: str = ""


@dataclass(frozen=True)
class Candidates:
    """What a search will measure, in this order, and what it leaves out."""

    rung: Rung
    engine: str
    dtype: str
    shape: Shape
    gpu: data_sheets.Gpu
    kept: tuple[Candidate, ...]
    pruned: tuple[Candidate, ...]


@dataclass(frozen=True)
class Timed:
    """What one candidate showed: seconds (median and quartiles), or what went wrong."""

    options: Values
    seconds: dict[str, float] | None
    note: str = ""


def plan(
    rung: Rung,
    shape: Shape,
    gpu: data_sheets.Gpu,
    engine: str = "numba",
    dtype: str = "",
    most: int = MOST,
    within: float = WITHIN,
) -> Candidates:
    """List the legal options of a rung and leave out those that cannot win.

    Parameters
    ----------
    rung : Rung
    shape : (int, int, int)
        M, N and K.
    gpu : kernels.basics.data_sheets.Gpu
        Whose limits hold, as `kernels.budget.here.gpu_here` gives them.
    engine, dtype : str
    most : int
        How many candidates are kept.
    within : float
        Kept are predictions up to this many times the best one.

    Returns
    -------
    Plan
        The rung's own choices are always kept, before all others.

    Raises
    ------
    ValueError
        If the rung is not written in that language, or takes no such numbers.
    """
    dtype = dtype or rung.dtypes[0]
    if engine not in rung.engines:
        raise ValueError(f"{rung.name} is not written in {engine}: use {' or '.join(rung.engines)}")
    if dtype not in rung.dtypes:
        raise ValueError(f"{rung.name} takes no {dtype}: use {' or '.join(rung.dtypes)}")
    own = rung.chosen(engine)
    combinations = [
        dict(zip(rung.options, values, strict=True)) for values in product(*rung.options.values())
    ]
    listed = [*own, *(options for options in combinations if options not in own)]
    fitting, pruned = [], []
    for options in listed:
        try:
            fitting.append(Candidate(options, predict(rung, options, *shape, gpu)))
        except (TypeError, ValueError) as error:
            pruned.append(Candidate(options, reason=f"not legal: {error}"))
    best = min((c.prediction.seconds for c in fitting), default=0.0)
    fitting.sort(key=lambda c: (c.options not in own, c.prediction.seconds))
    kept = []
    for candidate in fitting:
        slower = candidate.prediction.seconds / best
        if candidate.options in own or (slower <= within and len(kept) < most):
            kept.append(candidate)
        elif slower > within:
            why = f"predicted {slower:.1f} times as slow as the best: {limit(candidate.prediction)}"
            pruned.append(Candidate(candidate.options, candidate.prediction, why))
        else:
            why = f"predicted {slower:.2f} times as slow as the best: {most} others come first"
            pruned.append(Candidate(candidate.options, candidate.prediction, why))
    return Candidates(rung, engine, dtype, shape, gpu, tuple(kept), tuple(pruned))


def limit(found: Prediction) -> str:
    """What a prediction is limited by, in words."""
    largest = max(found.compute, found.l2, found.dram)
    if largest == found.dram:
        return "memory"
    if largest == found.l2:
        return "traffic between the L2 cache and the SMs"
    if found.tail < 0.6:
        return f"{found.blocks} blocks leave SMs idle"
    return f"{found.resident.warps} warps an SM, {found.footprint.outputs} outputs a thread"


# ------------------------------------------------------------------------------------- the search


class Interrupted(KeyboardInterrupt):
    """A search was stopped: what it measured is kept."""


def unfinished(gpu: str) -> Path:
    """Where a search keeps what it has measured until it is done."""
    return tuned.folder() / f"{slug(gpu)}.unfinished.json"


def search(
    todo: Candidates,
    measure: Callable[[Values, bool], dict[str, float]],
    about: dict[str, Any],
    report: Callable[[Values, int, int], None] = lambda options, done, total: None,
) -> tuple[Tuned, list[Timed]]:
    """Measure the kept candidates and store the best.

    Parameters
    ----------
    todo : Plan
    measure : callable
        Called with options, and whether it is the longer measurement; returns ``median``, ``q1``,
        ``q3`` and ``n``. What it raises (a wrong product, a kernel that does not compile) rules
        the options out.
    about : dict
        Provenance: gpu, driver, versions, date.
    report : callable
        Called with the options, how many are done, and how many there are.

    Returns
    -------
    (Tuned, list of Measured)
        What was stored, and all that was measured, the fastest first.

    Raises
    ------
    Interrupted
        After Ctrl-C; another call resumes.
    RuntimeError
        If there is no candidate, or none that gave a right product.
    """
    if not todo.kept:
        raise RuntimeError(f"no set of options is left to measure: {todo.pruned[0].reason}")
    gpu = about["gpu"]
    tuned.read(tuned.path(gpu), gpu)  # a file that cannot be added to is told of before, not after
    file, same = unfinished(gpu), _identity(todo, about)
    done = _resume(file, same)
    defaults = todo.rung.default(todo.engine)
    total = len(todo.kept) + FINALISTS

    def once(options: Values, longer: bool) -> Timed:
        known = next((m for m, long in done if m.options == options and long == longer), None)
        if known is None:
            report(options, len(done), total)
            try:
                known = Timed(options, measure(options, longer))
            except Exception as error:
                known = Timed(options, None, " ".join(f"{error}".split())[:200])
            done.append((known, longer))
            _keep(file, same, done)
        return known

    try:
        first = [once(candidate.options, False) for candidate in todo.kept]
        right = sorted((m for m in first if m.seconds), key=lambda m: m.seconds["median"])
        if not right:
            raise RuntimeError(
                f"none of {len(first)} sets of options gave a right product: {first[0].note}"
            )
        finalists = [m.options for m in right[:FINALISTS]]
        if defaults not in finalists and any(m.options == defaults for m in right):
            finalists[-1] = defaults
        last = [once(options, True) for options in finalists]
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted: {len(done)} of {total} measurements are kept; "
            "the same command goes on from there"
        ) from None
    last = sorted((m for m in last if m.seconds), key=lambda m: m.seconds["median"])
    if not last:
        raise RuntimeError("the fastest options failed when they were measured again")
    best = last[0]
    usual = next((m for m in (*last, *right) if m.options == defaults), best)
    found = Tuned(
        rung=todo.rung.name,
        engine=todo.engine,
        dtype=todo.dtype,
        shape=tuned.shape_class(*todo.shape),
        options=best.options,
        size=list(todo.shape),
        seconds=best.seconds["median"],
        default_seconds=usual.seconds["median"],
        tried=len(first),
        provenance=about,
    )
    tuned.write(found, gpu)
    file.unlink(missing_ok=True)
    again = [m for m in right if m.options not in [one.options for one in last]]
    return found, [*last, *again, *(m for m in first if not m.seconds)]


def _identity(todo: Candidates, about: dict[str, Any]) -> dict[str, Any]:
    """What must be the same for a search to resume: else its figures are of something else."""
    return {
        "rung": todo.rung.name, "engine": todo.engine, "dtype": todo.dtype,
        "shape": list(todo.shape),
        "about": {name: value for name, value in about.items() if name != "date"},
    }  # fmt: skip


def _resume(file: Path, same: dict[str, Any]) -> list[tuple[Timed, bool]]:
    """What an interrupted search of the same kind has measured; a spoilt file is measured anew."""
    try:
        held = json.loads(file.read_text(encoding="utf-8"))
        if held["same"] != same:
            return []
        return [
            (Timed(dict(one["options"]), one["seconds"], str(one["note"])), bool(one["longer"]))
            for one in held["measured"]
            if one["seconds"] is None or one["seconds"]["median"] > 0
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _keep(file: Path, same: dict[str, Any], done: list[tuple[Timed, bool]]) -> None:
    measured = [
        {"options": m.options, "seconds": m.seconds, "note": m.note, "longer": longer}
        for m, longer in done
    ]
    replace_text(file, json.dumps({"same": same, "measured": measured}))


def stopwatch(todo: Candidates) -> Callable[[Values, bool], dict[str, float]]:
    """What measures the candidates of a plan on the GPU: each is checked, then timed."""
    from kernels.measure.bench.case_of_bytes import case_of
    from kernels.measure.bench.resources import used

    case = case_of(*todo.shape, todo.dtype, todo.rung.out_dtype)

    def measure(options: Values, longer: bool) -> dict[str, float]:
        launch = case.launch(todo.rung, todo.engine, options)
        launch()
        spilled = used(todo.rung, todo.engine, options)["local_bytes"]
        if spilled and not todo.rung.chosen(todo.engine).count(options):
            raise ValueError(f"too few registers: {spilled} bytes per thread in local memory")
        row = case.measure(launch, limit=0.5 if longer else 0.1, rest=0)
        cupy.cuda.Device().synchronize()
        if not row["correct"]:
            raise ValueError("a wrong product")
        return row["seconds"]

    return measure
