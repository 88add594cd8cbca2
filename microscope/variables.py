"""Variables where threads of different branches join: one type, one value, and who has none.

A variable has the type that all branches can agree on, as Numba unifies it: an integer here and a
float there make a float64. Threads on whose branch nothing was assigned hold garbage:
`PossiblyUnbound`.
"""

from __future__ import annotations

import ast

import numpy as np

from . import values
from .errors import Unsupported
from .lanes import Lanes, Mask
from .memory import Array

MISSING = object()


class PossiblyUnbound:
    """A variable that some lanes never assigned.

    Attributes
    ----------
    value : object
        Poison in those lanes.
    unbound : ndarray of bool
        These lanes.
    line : int
        Where others assign it.
    """

    __slots__ = ("value", "unbound", "line")

    def __init__(self, value, unbound: np.ndarray, line: int):
        self.value, self.unbound, self.line = value, unbound, line


# -- types


def type_of(v):
    """The type of a value: a dtype, of a tuple the types of its items, of an array its make."""
    if values.is_value(v):
        return v.dtype
    if isinstance(v, tuple):
        return values.rebuilt(v, map(type_of, v))
    if isinstance(v, Array):
        return ("array", v.dtype, v.ndim, v.contiguous, v.buffer.space)
    return v


def convert(t, v):
    """`v` with the type `t`, as `type_of` gives it."""
    if isinstance(t, np.dtype):
        return v if v.dtype is t else v.astype(t)
    if isinstance(t, tuple) and isinstance(v, tuple):
        return values.rebuilt(v, map(convert, t, v))
    return v


def item_at(values: list, path: tuple[int, ...]):
    """The argument, or the part of a tuple, at a path."""
    found = values
    for k in path:
        found = found[k]
    return found


# -- values


def select(where: np.ndarray, new, old, n: ast.AST):
    """`new` in the lanes of a bool vector, `old` in the others; both of one type."""
    if new is old or _equal(new, old):
        return new
    if isinstance(new, tuple) and isinstance(old, tuple) and values.same_kind(new, old):
        return values.rebuilt(new, (select(where, a, b, n) for a, b in zip(new, old, strict=True)))
    if values.is_value(new) and values.is_value(old):
        return np.where(where, new, old)
    if isinstance(new, Array) and isinstance(old, Array) and new.buffer is old.buffer:
        if new.strides == old.strides:
            shape = tuple(
                a if a is b else np.where(where, a, b)
                for a, b in zip(new.shape, old.shape, strict=True)
            )
            return Array(new.buffer, np.where(where, new.offset, old.offset), shape, new.strides)
    raise Unsupported(
        n.lineno,
        "a variable would be one array in some threads and another in others, which a GPU can do "
        "and the interpreter cannot: index them in the two branches",
    )


def _equal(a, b) -> bool:
    """Say whether two values are the same number for all threads."""
    numbers = isinstance(a, np.generic) and isinstance(b, np.generic)
    return numbers and a.tobytes() == b.tobytes()


def garbage(t):
    """What a variable of a type holds that nobody has assigned."""
    if isinstance(t, tuple) and t[:1] != ("array",):
        return values.rebuilt(t, map(garbage, t))
    return values.poison(t) if isinstance(t, np.dtype) else None


class Join:
    """A place where lanes join, each group with its variables.

    Parameters
    ----------
    types : dict of str to type
        Variables that count from here on.
    lines : dict of str to int
        Where each is assigned first.
    lanes : Lanes
    parent : Mask
        All who may come.
    n : ast.AST
        The statement behind which they join.

    Attributes
    ----------
    mask : Mask or None
        Who has come.
    env : dict
        Their variables.
    """

    __slots__ = ("types", "lines", "lanes", "parent", "n", "mask", "env")

    def __init__(self, types: dict, lines: dict[str, int], lanes: Lanes, parent: Mask, n: ast.AST):
        self.types, self.lines, self.lanes, self.parent, self.n = types, lines, lanes, parent, n
        self.mask: Mask | None = None
        self.env: dict[str, object] = {}

    def arrive(self, m: Mask | None, env: dict) -> None:
        """Lanes come, none of whom was here before."""
        if m is None:
            return
        here, before = self.env, self.mask
        for name, t in self.types.items():
            v = env.get(name, MISSING)
            if before is None:
                here[name] = self.alone(name, t, v)
            elif v is not here[name]:
                here[name] = self.beside(m.array, t, v, name)
        self.mask = self.lanes.union(before, m, self.parent)

    def alone(self, name: str, t, v):
        if v is MISSING:
            return PossiblyUnbound(garbage(t), np.ones((1, 1, 1, 1), bool), self.lines[name])
        if type(v) is PossiblyUnbound:
            return PossiblyUnbound(convert(t, v.value), v.unbound, v.line)
        return convert(t, v)

    def beside(self, where: np.ndarray, t, v, name: str):
        """A variable of lanes that come, `where`, beside that of those who are here."""
        old, new = self.env[name], self.alone(name, t, v)
        if type(old) is not PossiblyUnbound and type(new) is not PossiblyUnbound:
            return select(where, new, old, self.n)
        lacking = np.where(where, _lacking(new), _lacking(old))
        old, new = _value(old), _value(new)
        if old is None or new is None:  # an array, and none
            value = new if old is None else old
        else:
            value = select(where, new, old, self.n)
        return PossiblyUnbound(value, lacking, self.lines[name])


def _lacking(v):
    return v.unbound if type(v) is PossiblyUnbound else np.False_


def _value(v):
    return v.value if type(v) is PossiblyUnbound else v
