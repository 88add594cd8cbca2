"""NumPy's functions that make one number of an array: ``a.sum()``, ``np.mean(a)``, ``np.any(a)``.

Each thread goes through all elements by itself, one after another, as the loop that Numba compiles
does: sums are of the order and the type of that loop, not of NumPy's.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable
from functools import partial

import numpy as np

from . import values
from .errors import Unsupported
from .memory import Array
from .variables import select

#: What turns on Numba's reference counting: it compiles some functions only with it.
COUNTING = "NUMBA_CUDA_ENABLE_NRT"


def call(run, name: str, a: Array, n: ast.Call, m):
    """The function of a name, of all elements of an array."""
    if a.dtype.kind not in "biufc" or a.dtype.kind == "c" and name in ORDERED:
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: not of elements of type {a.dtype.name}")
    if name in COUNTED and not _counts_references():
        raise Unsupported(
            n.lineno,
            f"{ast.unparse(n)}: Numba compiles it only where {COUNTING}=1 is set, so write a loop",
        )
    return FUNCTIONS[name](run, a, n, m)


def named(target) -> str | None:
    """Which function of an array a function of NumPy is; None if it is none of them."""
    name = getattr(target, "__name__", "")
    return name if name in FUNCTIONS and getattr(np, name) is target else None


def _counts_references() -> bool:
    """Say whether Numba would count references."""
    config = getattr(sys.modules.get("numba.cuda"), "config", None)
    return getattr(config, "CUDA_ENABLE_NRT", os.environ.get(COUNTING) == "1") in (True, 1)


def _folded(run, a: Array, n, m, first, step: Callable, goes_on: Callable | None = None):
    """What `step` makes of a value and each element in turn, in the lanes that still go on.

    Parameters
    ----------
    first : lane value or tuple of them
    step : callable
        From what is there, an element, and the element's number, to what is there afterwards.
    goes_on : callable, optional
        From what is there to a condition: lanes in which it fails are done.
    """
    total = first
    for k, (index, here) in enumerate(run.memory.each(a, m)):
        if goes_on is not None:
            here, _ = run.lanes.split(values.truth(goes_on(total)), here)
            if here is None:
                continue
        new = step(total, run.memory.load(a, index, here, n), np.int64(k))
        total = (
            new if here is m else select(run.array_of(here), _as(new, total), _as(total, new), n)
        )
    return total


def _as(v, other):
    """A value with the type that it has in common with another."""
    if isinstance(v, tuple):
        return tuple(map(_as, v, other))
    return v.astype(np.promote_types(v.dtype, other.dtype))


def _operate(run, op: type, n, m, a, b):
    """``a op b``, which the tracer counts."""
    v = values.binary(op, a, b)
    if run.tracer is not None and v.dtype.kind in "fc":
        run.tracer.count_flops(v.dtype.name, m.n, n.lineno)
    return v


def _total(d: np.dtype) -> np.dtype:
    """The type of a sum: integers are summed in 64 bits."""
    return values.wide(d)


def _is_number(v):
    return ~np.isnan(v) if v.dtype.kind in "fc" else np.bool_(True)


def _accumulate(op: type, first: int, kind: Callable, skips: bool, run, a: Array, n, m):
    """The sum or the product of all elements; without those that are NaN, if it `skips` them."""
    d = kind(a.dtype)
    fixed = op is ast.Add and not skips  # the result of a sum has the type that it begins with

    def step(total, v, k):
        new = _operate(run, op, n, m, total, v)
        new = values.cast(d, new) if fixed else new
        return np.where(_is_number(v), new, total)[()] if skips else new

    return _folded(run, a, n, m, d.type(first), step)


def _mean(run, a: Array, n, m):
    d = a.dtype if a.dtype.kind in "fc" else values.FLOAT64
    total = _folded(run, a, n, m, d.type(0), lambda t, v, k: _operate(run, ast.Add, n, m, t, v))
    return _operate(run, ast.Div, n, m, total, _size(a))


def _size(a: Array):
    size = np.int64(1)
    for length in a.shape:
        size = size * length
    return size


def _square(run, n, m, v, mean):
    """The square of a number's distance from the mean."""
    apart = _operate(run, ast.Sub, n, m, v, mean)
    return np.real(_operate(run, ast.Mult, n, m, apart, np.conjugate(apart)))


def _variance(run, a: Array, n, m):
    mean = _mean(run, a, n, m)

    def step(total, v, k):
        return _operate(run, ast.Add, n, m, total, _square(run, n, m, v, mean))

    return _operate(run, ast.Div, n, m, _folded(run, a, n, m, np.int64(0), step), _size(a))


def _mean_of_numbers(run, a: Array, n, m):
    """``nanmean``."""

    def step(state, v, k):
        total, count = state
        is_number = _is_number(v)
        new = _operate(run, ast.Add, n, m, total, v)
        return np.where(is_number, new, total)[()], count + is_number

    total, count = _folded(run, a, n, m, (np.float64(0), np.int64(0)), step)
    return _operate(run, ast.Div, n, m, total, count)


def _variance_of_numbers(run, a: Array, n, m):
    """``nanvar``."""
    mean = _mean_of_numbers(run, a, n, m)

    def step(state, v, k):
        total, count = state
        is_number = _is_number(v)
        new = _operate(run, ast.Add, n, m, total, _square(run, n, m, v, mean))
        return np.where(is_number, new, total)[()], count + is_number

    total, count = _folded(run, a, n, m, (np.float64(0), np.int64(0)), step)
    return _operate(run, ast.Div, n, m, total, count)


def _deviation(variance: Callable, run, a: Array, n, m):
    return _operate(run, ast.Pow, n, m, variance(run, a, n, m), np.float64(0.5))


def _place(less: bool, run, a: Array, n, m):
    """``argmin`` and ``argmax``: the first of the least or greatest, or of the NaN."""

    def step(state, v, k):
        best, place, first = state
        ahead = (v < best if less else v > best) | (k == 0) | ~_is_number(v)
        return tuple(np.where(ahead, x, y)[()] for x, y in ((v, best), (k, place), (v, first)))

    start = (a.dtype.type(0), np.int64(0), a.dtype.type(0))
    return _folded(run, a, n, m, start, step, lambda state: _is_number(state[0]))[1]


def _extreme(less: bool, run, a: Array, n, m):
    """``min`` and ``max``: NaN if there is one."""

    def step(best, v, k):
        ahead = (v < best if less else v > best) | (k == 0) | ~_is_number(v)
        return np.where(ahead, v, best)[()]

    return _folded(run, a, n, m, a.dtype.type(0), step, _is_number)


def _extreme_of_numbers(less: bool, run, a: Array, n, m):
    """``nanmin`` and ``nanmax``."""

    def step(best, v, k):
        stays = best < v if less else best > v
        return np.where((k == 0) | _is_number(v) & ~stays, v, best)[()]

    return _folded(run, a, n, m, a.dtype.type(0), step)


def _all(run, a: Array, n, m):
    holds = lambda so_far, v, k: v != 0  # noqa: E731
    return _folded(run, a, n, m, np.bool_(True), holds, lambda so_far: so_far)


def _any(run, a: Array, n, m):
    holds = lambda so_far, v, k: v != 0  # noqa: E731
    return _folded(run, a, n, m, np.bool_(False), holds, lambda so_far: ~so_far)


def _count(run, a: Array, n, m):
    return _folded(run, a, n, m, np.int64(0), lambda count, v, k: count + (v != 0))


def _same(d: np.dtype) -> np.dtype:
    return d


def _whole(d: np.dtype) -> np.dtype:
    """The type of a sum without NaN: of integers an int64."""
    return values.INT64 if d.kind in "iu" else d


FUNCTIONS: dict[str, Callable] = {
    "sum": partial(_accumulate, ast.Add, 0, _total, False),
    "prod": partial(_accumulate, ast.Mult, 1, _same, False),
    "nansum": partial(_accumulate, ast.Add, 0, _whole, True),
    "nanprod": partial(_accumulate, ast.Mult, 1, _whole, True),
    "mean": _mean,
    "var": _variance,
    "std": partial(_deviation, _variance),
    "nanmean": _mean_of_numbers,
    "nanvar": _variance_of_numbers,
    "nanstd": partial(_deviation, _variance_of_numbers),
    "argmin": partial(_place, True),
    "argmax": partial(_place, False),
    "min": partial(_extreme, True),
    "max": partial(_extreme, False),
    "nanmin": partial(_extreme_of_numbers, True),
    "nanmax": partial(_extreme_of_numbers, False),
    "all": _all,
    "any": _any,
    "count_nonzero": _count,
}
#: Of these an array has no method.
NO_METHODS = (
    "nansum",
    "nanprod",
    "nanmean",
    "nanvar",
    "nanstd",
    "nanmin",
    "nanmax",
    "count_nonzero",
)
ORDERED = ("argmin", "argmax", "min", "max", "nanmin", "nanmax")
COUNTED = ("min", "max", "nanmin", "nanmax")
