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
import math
import operator
from functools import lru_cache

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

COMPARISONS = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}

# Python's math name -> NumPy's. On the GPU floor, ceil and trunc give a float back.
MATH = {
    name: getattr(np, name)
    for name in (
        "sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh floor ceil trunc fabs "
        "hypot fmod copysign isnan isinf isfinite ldexp nextafter cbrt"
    ).split()
}
MATH |= {
    "pow": np.power,
    "acos": np.arccos,
    "asin": np.arcsin,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "acosh": np.arccosh,
    "asinh": np.arcsinh,
    "atanh": np.arctanh,
    "radians": np.radians,
    "degrees": np.degrees,
    "erf": lambda x: _each(math.erf, x),
    "erfc": lambda x: _each(math.erfc, x),
    "gamma": lambda x: _each(math.gamma, x),
    "lgamma": lambda x: _each(math.lgamma, x),
    "remainder": lambda x, y: x - np.rint(x / y) * y,
    "frexp": lambda x: _pair(*np.frexp(x)),
    "modf": lambda x: _pair(*np.modf(x)),
}
# These cost no special-function unit.
PLAIN_MATH = {"fabs", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite", "copysign"}


def _each(function, x):
    """Apply a function of `math` element by element; where it has no value, NaN."""

    def safe(v):
        try:
            return function(v)
        except (ValueError, OverflowError):
            return math.inf if v > 0 else math.nan

    return np.vectorize(safe, otypes=[x.dtype])(x)[()]


def _pair(a, b) -> tuple:
    return a[()], b[()]


class Literal(np.int64):
    """An integer that the compiler knows: what is computed from it is an int64 like any other."""


def sample(d: np.dtype):
    """A number that stands for its type."""
    return d.type(1)


def is_value(v) -> bool:
    """Say whether `v` is a number or a vector of numbers."""
    return isinstance(v, (np.generic, np.ndarray))


def literal(v):
    """Give a Python number, or those of a tuple, the type Numba gives it: int64 and float64."""
    if isinstance(v, bool):
        return np.bool_(v)
    if isinstance(v, int):
        return np.int64(v) if -(2**63) <= v < 2**63 else np.uint64(v)
    if isinstance(v, float):
        return np.float64(v)
    if isinstance(v, complex):
        return np.complex128(v)
    return tuple(map(literal, v)) if isinstance(v, tuple) else v


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
        common = UINT64 if a.kind == b.kind == "u" else INT64
        return common, common
    if op is ast.Pow and a.kind in "fc" and b.kind in "iub":
        return a, a
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
    if da is not db or da.kind != "f":
        ta, tb = operand_types(op, da, db)
        if ta is not da:
            a = a.astype(ta)
        if tb is not db:
            b = b.astype(tb)
        if op is ast.Pow and b.dtype.kind == "i":
            return np.where(b < 0, 0, a ** np.maximum(b, 0))[()]
    return OPERATORS[op](a, b)


def negative(v):
    """``-v``."""
    return -v.astype(wide(v.dtype))


def inverted(v):
    """``~v``."""
    return ~v if v.dtype == BOOL else ~v.astype(wide(v.dtype))


def truth(v):
    """`v` as a condition: a Python bool where all threads agree, or a bool vector."""
    if isinstance(v, np.ndarray):
        return v if v.dtype == BOOL else v != 0
    return bool(v)


def cast(d: np.dtype, v):
    """`v` converted to type `d`, as a call such as ``float32(v)`` does."""
    if v.dtype is d:
        return v
    return np.rint(v).astype(d) if v.dtype is FLOAT16 and d.kind in "iu" else v.astype(d)


def to_int(v):
    """``int(v)``: integers keep their type, floats are cut off (and float16 rounded)."""
    return v if v.dtype.kind in "iu" else cast(INT64, v)


def to_float(v):
    """``float(v)``: floats keep their type."""
    return v if v.dtype.kind == "f" else v.astype(FLOAT64)


def extreme(ufunc, values):
    """``min(...)`` or ``max(...)``: an integer beside a float as in arithmetic."""
    result = values[0]
    for v in values[1:]:
        if "f" in result.dtype.kind + v.dtype.kind:
            a, b = _beside(result.dtype, v.dtype), _beside(v.dtype, result.dtype)
            result, v = cast(a, result), cast(b, v)
        result = ufunc(result, v)
    return result


def math_call(name: str, arguments):
    """A function of `math` (or NumPy's of that meaning): integers become float64 first."""
    floats = [a if a.dtype.kind in "fc" else a.astype(FLOAT64) for a in arguments]
    if name == "ldexp":
        floats[1] = arguments[1].astype(np.int32)
    return MATH[name](*floats)


def poison(d: np.dtype):
    """What memory holds that nobody has written: NaN, or a conspicuous integer."""
    if d.kind in "fc":
        return d.type(np.nan)
    if d.kind == "b":
        return d.type(True)
    return np.frombuffer(b"\xcd" * d.itemsize, d)[0]


def dtype_of(t) -> np.dtype | None:
    """The NumPy type a type object stands for: NumPy's, Numba's, or a name; None if it is none."""
    if isinstance(t, np.dtype):
        return t
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
