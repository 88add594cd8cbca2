"""What a `for` may run over: ``range``, tuples, arrays, ``enumerate`` and ``zip`` of them.

Each gives its length, which may differ from lane to lane, and the item of an iteration's number,
which is the same in all of them.
"""

from __future__ import annotations

import ast

import numpy as np

from . import bfloat16, values
from .errors import KernelError, Unsupported
from .memory import Array


class Range:
    """``range(start, stop, step)``.

    Attributes
    ----------
    start, stop, step : lane value of int64
    counter : dtype
        The type of its items.
    """

    def __init__(self, arguments: list, n: ast.Call):
        if not 1 <= len(arguments) <= 3:
            raise Unsupported(n.lineno, f"range() takes 1 to 3 numbers, got {len(arguments)}")
        for v in arguments:
            if not values.is_value(v) or v.dtype.kind not in "iub":
                raise Unsupported(n.lineno, "range() takes integers: use int(...)")
        self.line = n.lineno
        self.counter = values.range_type(*(v.dtype for v in arguments))
        bounds = [values.cast(values.INT64, v) for v in arguments]
        self.start, self.stop = (np.int64(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
        self.step = bounds[2] if len(bounds) == 3 else np.int64(1)

    def length(self):
        """Number of items: an int, or a vector over the lanes."""
        if np.any(self.step == 0):
            raise KernelError(f"line {self.line}: the step of range() is 0")
        bounds = self.start, self.stop, self.step
        if not any(isinstance(x, np.ndarray) for x in bounds):
            return len(range(*map(int, bounds)))
        start, stop, step = bounds
        ahead = np.where(step > 0, stop - start, start - stop)
        stride = np.abs(step)
        return np.maximum(0, (ahead + stride - 1) // stride)

    def contains(self, v):
        """Say whether a number is an item."""
        steps, rest = np.divmod(v - self.start, self.step)
        return (rest == 0) & (steps >= 0) & (steps < self.length())

    def item(self, run, k: int, m, n):
        return values.cast(self.counter, self.start + np.int64(k) * self.step)


class Tuple:
    """The items of a tuple, all of one type."""

    def __init__(self, items: tuple):
        self.items = items

    def length(self):
        return len(self.items)

    def item(self, run, k: int, m, n):
        return self.items[min(k, len(self.items) - 1)]


class Elements:
    """The elements of an array, or its rows."""

    def __init__(self, array: Array):
        self.array = array

    def length(self):
        return self.array.shape[0]

    def item(self, run, k: int, m, n):
        return run.memory.load(self.array, (np.int64(k),), m, n)


class Enumerate:
    """``enumerate(inner, start)``."""

    def __init__(self, inner, start):
        self.inner, self.start = inner, start

    def length(self):
        return self.inner.length()

    def item(self, run, k: int, m, n):
        return self.start + np.int64(k), self.inner.item(run, k, m, n)


class Zip:
    """``zip(*inners)``."""

    def __init__(self, inners: list):
        self.inners = inners

    def length(self):
        lengths = [inner.length() for inner in self.inners]
        if any(isinstance(x, np.ndarray) for x in lengths):
            return np.minimum.reduce(np.broadcast_arrays(*lengths))
        return min(lengths, default=0)

    def item(self, run, k: int, m, n):
        return tuple(inner.item(run, k, m, n) for inner in self.inners)


ITERABLES = (Range, Tuple, Elements, Enumerate, Zip)


def iterable(v, n: ast.expr):
    """What a value yields in a `for`."""
    if isinstance(v, ITERABLES):
        return v
    if isinstance(v, tuple) and not bfloat16.is_one(v):
        return Tuple(v)
    if isinstance(v, Array):
        return Elements(v)
    raise Unsupported(
        n.lineno,
        f"for runs over range(), tuples, arrays, enumerate() and zip() of them, "
        f"not over {ast.unparse(n)}",
    )
