"""Values with Numba's types: what an operator makes of two of them.

A value is a NumPy scalar when all threads agree on it, and otherwise an array over
(block, z, y, x) that has length 1 along every axis on which it does not depend. NumPy's
broadcasting does the rest. Both carry their type in `dtype`, as Numba's variables do.

The rules are those that numba-cuda's own typing reports: integer arithmetic happens in 64 bits and
is signed if either side is, an integer meeting a float makes a float64 (one of 8 bits, or an int16,
leaves a float32 as it is), a literal such as ``0.5`` is a float64, and so is ``float32 * 0.5``.
"""

from __future__ import annotations

import ast
import operator
import sys
from enum import Enum
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

BOOL, INT64, UINT64 = np.dtype(bool), np.dtype(np.int64), np.dtype(np.uint64)
INT32 = np.dtype(np.int32)
FLOAT16 = np.dtype(np.float16)
FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
# Numba's table of safe conversions; uint16 is not in it.
FITS_FLOAT16 = ("bool", "int8")
FITS_FLOAT32 = ("bool", "int8", "uint8", "int16")

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor)
SHIFTS = (ast.LShift, ast.RShift)
ROUNDED = (ast.FloorDiv, ast.Mod, ast.Pow)  # what float16 has no instructions for
DIVISIONS = (ast.FloorDiv, ast.Mod)
INT_MIN = -(2**63)
MULTIPLIED = 0x10000  # the highest exponent for which Numba multiplies
#: Python 3.11 compiles both results of Numba's loop for powers of integers, the whole number and
#: its reciprocal, to one: a float64.
POWERS_ARE_FLOATS = sys.version_info < (3, 12)

COMPARISONS = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


class TupleType(NamedTuple):
    """A type whose values are a few items with names: a vector, or a named tuple.

    Attributes
    ----------
    title : str
    names : tuple of str
    element : dtype or None
        Of a vector: the type of its items.
    """

    title: str
    names: tuple[str, ...]
    element: np.dtype | None = None


class Parts(tuple):
    """A tuple whose items have names; `kind` says which."""

    kind: TupleType

    def __new__(cls, items, kind: TupleType):
        made = super().__new__(cls, items)
        made.kind = kind
        return made

    def named(self) -> SimpleNamespace:
        """The items as attributes."""
        return SimpleNamespace(**dict(zip(self.kind.names, self, strict=True)))

    def __eq__(self, other):
        return tuple.__eq__(self, other) and self.kind == getattr(other, "kind", None)

    def __hash__(self):
        return hash((tuple(self), self.kind))


def rebuilt(like: tuple, items):
    """A tuple of other items, of the same kind as `like`."""
    return Parts(items, like.kind) if isinstance(like, Parts) else tuple(items)


def same_kind(a: tuple, b: tuple) -> bool:
    """Say whether two tuples have as many items, of the same names."""
    return len(a) == len(b) and getattr(a, "kind", None) == getattr(b, "kind", None)


class Literal(np.int64):
    """An integer that the compiler knows: what is computed from it is an int64 like any other."""


class Member(np.int64):
    """A member of an `IntEnum`: an integer that is identical to members of its own kind only.

    Attributes
    ----------
    kind : type
        The `IntEnum`.
    """

    kind: type


def _member(v: Enum):
    """A member of an enumeration: an integer, or what has a value."""
    if isinstance(v, int):
        made = Member(int(v))
        made.kind = type(v)
        return made
    return Parts((literal(v.value),), TupleType(type(v).__name__, ("value",)))


def sample(d: np.dtype):
    """A number that stands for its type."""
    return d.type(1)


def is_value(v) -> bool:
    """Say whether `v` is a number or a vector of numbers."""
    return isinstance(v, (np.generic, np.ndarray))


def literal(v):
    """Give a Python number, or those of a tuple, the type Numba gives it: int64 and float64."""
    if isinstance(v, Enum):
        return _member(v)
    if isinstance(v, bool):
        return np.bool_(v)
    if isinstance(v, int):
        return np.int64(v) if -(2**63) <= v < 2**63 else np.uint64(v)
    if isinstance(v, float):
        return np.float64(v)
    if isinstance(v, complex):
        return np.complex128(v)
    if isinstance(v, tuple) and hasattr(v, "_fields"):
        return Parts(map(literal, v), TupleType(type(v).__name__, v._fields))
    return rebuilt(v, map(literal, v)) if isinstance(v, tuple) else v


def wide(d: np.dtype) -> np.dtype:
    """The type in which integers of type `d` are computed; other types stay."""
    if d.kind == "u":
        return UINT64
    return INT64 if d.kind in "ib" else d


@lru_cache(maxsize=None)
def operand_types(op: type, a: np.dtype, b: np.dtype) -> tuple[np.dtype, np.dtype]:
    """Types both operands take before the operator is applied.

    Raises
    ------
    TypeError
        If the operator has no meaning for them, such as ``<<`` for floats.
    """
    ints = a.kind in "iub" and b.kind in "iub"
    if op in SHIFTS or op in BITWISE:
        if not ints:
            raise TypeError(f"{a.name} and {b.name}")
        if op in SHIFTS:
            return wide(a), wide(a)
        if a == b == BOOL:
            return a, b
    if FLOAT16 in (a, b) and op in ROUNDED:
        a, b = (FLOAT32 if d == FLOAT16 else d for d in (a, b))
    if ints:
        if op is ast.Div:
            return FLOAT64, FLOAT64
        common = UINT64 if a.kind == b.kind == "u" else INT64
        return common, common
    return _beside(a, b), _beside(b, a)


@lru_cache(maxsize=None)
def range_type(*arguments: np.dtype) -> np.dtype:
    """The type that a loop over ``range()`` counts in, from the types of its arguments.

    Of int32, int64 and uint64 Numba takes the one that its arguments fit best: with the fewest
    conversions that could lose something, then the fewest that change the kind.
    """

    def losses(counter: np.dtype) -> tuple[int, int, int]:
        others = [d for d in arguments if d != counter]
        fitting = [d for d in others if np.can_cast(d, counter)]
        alike = [d for d in fitting if d.kind == counter.kind]
        return len(others) - len(fitting), len(fitting) - len(alike), len(alike)

    return min((INT32, INT64, UINT64), key=losses)


def _beside(d: np.dtype, other: np.dtype) -> np.dtype:
    """Type a number of type `d` takes beside a float: integers of few bits fit into a float32."""
    if d.kind not in "iub":
        return d
    if other == FLOAT16 and d.name in FITS_FLOAT16:
        return FLOAT16
    return FLOAT32 if other in (FLOAT16, FLOAT32) and d.name in FITS_FLOAT32 else FLOAT64


def binary(op: type, a, b):
    """``a op b`` with Numba's types; `op` is a node type such as ``ast.Add``."""
    da, db = a.dtype, b.dtype
    if op is ast.Pow:
        return power(a, b)
    if da is not db or da.kind != "f":
        ta, tb = operand_types(op, da, db)
        if ta is not da:
            a = a.astype(ta)
        if tb is not db:
            b = b.astype(tb)
    if op in DIVISIONS:
        return divided(op, a, b)
    return OPERATORS[op](a, b)


def divided(op: type, a, b):
    """``//`` and ``%``, at whose edges the GPU gives something else than Python and NumPy do."""
    v = OPERATORS[op](a, b)
    if v.dtype.kind == "f":  # its remainder is a difference: of infinities there is none
        endless = np.isinf(b)
        return np.where(endless, np.nan, v).astype(v.dtype)[()] if np.any(endless) else v
    if op is ast.FloorDiv and v.dtype.kind == "i":
        over = (b == -1) & (a == INT_MIN)
        return np.where(over, 0, v)[()] if np.any(over) else v
    return v


def power(a, b):
    """``a ** b``."""
    if b.dtype.kind in "iub" and a.dtype.kind in "iub":
        d = UINT64 if a.dtype.kind == b.dtype.kind == "u" else INT64
        a = a.astype(d)
        exponent = b.astype(wide(b.dtype))
        v = _multiplied(a, np.abs(exponent))
        if POWERS_ARE_FLOATS:
            v = cast(d, v.astype(FLOAT64))
        v = np.where(
            np.abs(exponent) > MULTIPLIED,
            cast(d, np.power(a.astype(FLOAT64), b.astype(FLOAT64))),
            v,
        )
        return np.where(exponent < 0, _inverted(a, v), v)[()]
    if b.dtype.kind in "iub" and (b.dtype.kind == "u" or b.dtype == INT64):
        v = _multiplied(a, np.abs(b.astype(wide(b.dtype))))
        return np.where(b < 0, a.dtype.type(1) / v, v)[()]
    if b.dtype.kind in "iub":
        return np.power(a, b.astype(a.dtype))
    return np.power(a.astype(_beside(a.dtype, b.dtype)), b.astype(_beside(b.dtype, a.dtype)))


def _multiplied(a, n):
    """`a` to the power of whole numbers, by squaring as Numba does it."""
    v = np.ones(np.broadcast_shapes(np.shape(a), np.shape(n)), a.dtype)
    while np.any(n):
        v = np.where(n & 1, v * a, v)
        n, a = n >> 1, a * a
    return v[()]


def _inverted(a, v):
    """A negative power of an integer: only those of 1 and -1 are integers."""
    of_zero = np.array(INT_MIN, INT64).astype(v.dtype)
    return np.where(a == 0, of_zero, np.where((a == 1) | (cast(INT64, a) == -1), v, 0))[()].astype(
        v.dtype
    )


def negative(v):
    """``-v``: an integer changes its sign before it is widened."""
    if v.dtype == BOOL:
        v = v.astype(INT64)
    return (-v).astype(wide(v.dtype))


def inverted(v):
    """``~v``."""
    return ~v if v.dtype == BOOL else (~v).astype(wide(v.dtype))


def truth(v):
    """`v` as a condition: a Python bool where all threads agree, or a bool vector."""
    if isinstance(v, np.ndarray):
        return v if v.dtype == BOOL else v != 0
    return bool(v)


def cast(d: np.dtype, v):
    """`v` converted to type `d`, as a call such as ``float32(v)`` or a store does."""
    if v.dtype is d:
        return v
    return clamped(d, v) if v.dtype.kind == "f" and d.kind in "iu" else v.astype(d)


def clamped(d: np.dtype, v):
    """Floats cut off to integers of type `d`; the GPU clamps what does not fit.

    It converts to 16 bits at least, and rounds a float16. NaN becomes 0, or the lowest integer
    where either type has 64 bits.
    """
    v = np.rint(v) if v.dtype == FLOAT16 else v
    wider = np.dtype(f"{d.kind}{max(d.itemsize, 2)}")
    limits = np.iinfo(wider)
    beyond = 2.0 ** (8 * wider.itemsize - (d.kind == "i"))
    below = -beyond if d.kind == "i" else 0.0
    inside = (
        (v > below - 1) & (v < beyond)
        if below == 0 or beyond < 2**53
        else ((v >= below) & (v < beyond))
    )
    if np.all(inside):
        return v.astype(wider).astype(d)
    whole = np.where(inside, v, 0).astype(wider)
    whole = np.where(v >= beyond, wider.type(limits.max), whole)
    whole = np.where(v < below, wider.type(limits.min), whole)
    if max(wider.itemsize, v.dtype.itemsize) == 8:
        top = 1 << 8 * wider.itemsize - 1
        none = wider.type(-top if d.kind == "i" else top)
    else:
        none = wider.type(0)
    return np.where(np.isnan(v), none, whole).astype(d)[()]


def to_int(v):
    """``int(v)``: integers keep their type, floats are cut off."""
    return v if v.dtype.kind in "iu" else cast(INT64, v)


def to_float(v):
    """``float(v)``: floats keep their type.

    Raises
    ------
    TypeError
        For a bool, which Numba does not convert.
    """
    if v.dtype.kind not in "iuf":
        raise TypeError(v.dtype.name)
    return v if v.dtype.kind == "f" else v.astype(FLOAT64)


def extreme(less: bool, numbers: list):
    """``min(...)`` (`less`) or ``max(...)``.

    Raises
    ------
    TypeError
        For a bool among other numbers.
    """
    kinds = {v.dtype.kind for v in numbers}
    if "b" in kinds and (len(kinds) > 1 or len(numbers) > 2) or "c" in kinds:
        raise TypeError(", ".join(v.dtype.name for v in numbers))
    result = numbers[0]
    if kinds == {"f"} and len(numbers) == 2:
        return of_floats(less, *numbers)
    for v in numbers[1:]:
        d = np.promote_types(result.dtype, v.dtype)
        result, v = cast(d, result), cast(d, v)
        result = np.where(v < result if less else v > result, v, result)[()]
    return result


def fused(a: Any, b: Any, c: Any) -> Any:
    """a·b + c rounded once, as a GPU's fused multiply-add does.

    Parameters
    ----------
    a, b, c : numbers or arrays of one type: float16, float32 or float64

    Notes
    -----
    Boldo and Melquiond, *Emulation of FMA and correctly rounded sums: proved algorithms using
    rounding to odd* (2008). Near the ends of float64's range, where a part of the product is no
    number of float64, the product is rounded first.
    """
    dtype = a.dtype
    a, b, c = (np.asarray(v, np.float64) for v in (a, b, c))
    with np.errstate(all="ignore"):
        high = a * b
        plain = high + c
        if dtype != np.float64:  # the product is exact
            total = _rounded_to_odd(*_sum_and_error(high, c))
        else:
            middle, last = _sum_and_error(c, _product_error(a, b, high))
            total, rest = _sum_and_error(high, middle)
            total = total + _rounded_to_odd(*_sum_and_error(last, rest))
        # A zero keeps its sign; what isn't finite has no rest.
        return np.where((total != 0) & np.isfinite(total), total, plain).astype(dtype)[()]


def _sum_and_error(a: Any, b: Any) -> tuple[Any, Any]:
    """a + b as float64 has it, and what that lacks (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _product_error(a: Any, b: Any, product: Any) -> Any:
    """What a product of two float64 lacks (Dekker); 0 where it can't be had."""
    (ah, al), (bh, bl) = ((h := v * 134217729.0 - (v * 134217729.0 - v), v - h) for v in (a, b))
    error = ((ah * bh - product) + ah * bl + al * bh) + al * bl
    return np.where(np.isfinite(error), error, 0.0)


def _rounded_to_odd(total: Any, rest: Any) -> Any:
    """total + rest, its last bit set where something is left: no later rounding sees a tie."""
    even = total.view(np.int64) & 1 == 0
    return np.where((rest != 0) & even, np.nextafter(total, np.copysign(np.inf, rest)), total)


def of_floats(less: bool, a, b):
    """The lesser or the greater of two floats: of a number and NaN the number, -0.0 below 0.0."""
    v = (np.fmin if less else np.fmax)(a, b)
    a, b = a.astype(v.dtype), b.astype(v.dtype)
    zeros = (a == 0) & (b == 0)
    if not np.any(zeros):
        return v
    negative = (np.signbit(a) | np.signbit(b)) if less else np.signbit(a) & np.signbit(b)
    return np.where(zeros, np.where(negative, v.dtype.type(-0.0), v.dtype.type(0.0)), v)[()]


def rounded(v):
    """``round(v)``: to an int64, halves to even."""
    return cast(INT64, np.rint(v.astype(FLOAT64)))


def rounded_to(v, digits: int):
    """``round(v, digits)``, by the algorithm that Numba compiles."""
    d = v.dtype if v.dtype.kind == "f" else FLOAT32 if v.dtype.name in FITS_FLOAT32 else FLOAT64
    x = v.astype(d)
    scale, rest = 10.0 ** min(abs(digits), 22), 10.0 ** max(0, abs(digits) - 22)
    y = x * np.float64(scale * rest if digits < 0 else rest) * np.float64(scale)
    if digits < 0:
        y = x / np.float64(scale)
    z = rounded(y)
    halfway = np.abs(y - z) == 0.5
    z = np.where(halfway, 2.0 * rounded(y / 2.0), z)
    z = z * scale if digits < 0 else z / scale / rest
    keep = ~np.isfinite(x) | (np.isinf(y) & (digits >= 0))
    return np.where(keep, x, z).astype(d)[()]


def poison(d: np.dtype):
    """What memory holds that nobody has written: NaN, or a conspicuous integer."""
    if d.kind in "fc":
        return d.type(np.nan)
    if d.names:
        return np.frombuffer(b"\xcd" * d.itemsize, d)[0]
    if d.kind == "b":
        return d.type(True)
    return np.frombuffer(b"\xcd" * d.itemsize, d)[0]


def dtype_of(t) -> np.dtype | None:
    """The NumPy type a type object stands for: NumPy's, Numba's, or a name; None if it is none."""
    if isinstance(t, np.dtype):
        return t
    if isinstance(getattr(t, "dtype", None), np.dtype) and hasattr(t, "fields"):  # Numba's record
        return t.dtype
    if isinstance(t, type) and issubclass(t, np.generic):
        return np.dtype(t)
    if t in (int, float, bool) and isinstance(t, type):
        return np.dtype(t)
    name = t if isinstance(t, str) else getattr(t, "name", None)
    module = type(t).__module__
    if isinstance(t, str) or (isinstance(name, str) and module.startswith(("numba", "numba_cuda"))):
        try:
            return np.dtype("bool" if name == "boolean" else name)
        except TypeError:
            return None
    return None
