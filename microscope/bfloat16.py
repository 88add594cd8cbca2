"""``bfloat16``, and the functions of ``numba.cuda.bf16``: a float32 of 8 significant bits.

A value is a tuple of one float32 that is always rounded. Beside another type, and in the functions
that Numba has not written for it, it is a float32.
"""

from __future__ import annotations

import ast
import math

import numpy as np

from . import values
from .errors import Unsupported
from .half import PLAIN, UNARY
from .values import FLOAT32, FLOAT64, Parts, TupleType

KIND = TupleType("bfloat16", ("",))  # its number has no name that a kernel could write
BITS = 8  # of the significand, the leading one among them
LEAST, MOST = -125, 128  # exponents of normal numbers, of significands from 0.5 up
TOWARDS = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div)  # of two, which give one

#: Functions of `math` that give one; to the others it is a float32.
MATH = {
    getattr(math, name): f"h{name}"
    for name in (
        "trunc",
        "ceil",
        "floor",
        "sqrt",
        "log",
        "log10",
        "cos",
        "sin",
        "tanh",
        "exp",
        "exp2",
    )
}


def _with_nan(function):
    """A minimum or a maximum that is NaN where either number is."""
    return lambda a, b: np.where(np.isnan(a) | np.isnan(b), np.nan, function(a, b))


def _between(v):
    """A number from 0 to 1; of NaN 0."""
    return np.where(np.isnan(v), 0.0, np.clip(v, 0.0, 1.0))


BINARY = {
    "hadd": np.add,
    "hsub": np.subtract,
    "hmul": np.multiply,
    "hdiv": np.divide,
    "hmax": lambda a, b: values.of_floats(False, a, b),
    "hmin": lambda a, b: values.of_floats(True, a, b),
    "hmax_nan": _with_nan(lambda a, b: values.of_floats(False, a, b)),
    "hmin_nan": _with_nan(lambda a, b: values.of_floats(True, a, b)),
}
BINARY |= {f"{name}_rn": BINARY[name] for name in ("hadd", "hsub", "hmul")}
BINARY |= {
    f"{name}_sat": lambda a, b, function=BINARY[name]: _between(function(a, b))
    for name in ("hadd", "hsub", "hmul")
}
FMA = {
    "hfma": lambda v: v,
    "hfma_sat": _between,
    "hfma_relu": lambda v: np.where(v > 0, v, np.where(np.isnan(v), v, 0.0)),
}
COMPARISONS = {
    "heq": np.equal,
    "hne": lambda a, b: (a < b) | (a > b),
    "hgt": np.greater,
    "hge": np.greater_equal,
    "hlt": np.less,
    "hle": np.less_equal,
}
#: The same, true of NaN.
COMPARISONS |= {
    f"{name}u": lambda a, b, function=function: function(a, b) | np.isnan(a) | np.isnan(b)
    for name, function in COMPARISONS.items()
}
TESTS = {
    "hisnan": np.isnan,
    "hisinf": lambda v: np.where(np.isinf(v), np.sign(v), 0).astype(np.int32)[()],
}
#: Names of integers in C++ and in Numba.
INTEGERS = {
    "short": "int16", "ushort": "uint16", "int": "int32", "uint": "uint32", "ll": "int64",
    "ull": "uint64",
}  # fmt: skip


def _conversions() -> dict[str, tuple[str, np.dtype, str]]:
    """Functions that convert: which way (``"to"`` one, ``"from"`` one, ``"as"`` bits), type, mode.

    ``"bits"`` makes one of bits.
    """
    made: dict[str, tuple[str, np.dtype, str]] = {}
    for short, name in INTEGERS.items():
        d = np.dtype(name)
        for mode in TOWARDS:
            made[f"{short}2bfloat16_{mode}"] = made[f"{name}_to_bfloat16_{mode}"] = "to", d, mode
            made[f"bfloat162{short}_{mode}"] = made[f"bfloat16_to_{name}_{mode}"] = "from", d, mode
    for short, name in (("char", "int8"), ("uchar", "uint8")):
        one = "from", np.dtype(name), "rz"
        made[f"bfloat162{short}_rz"] = made[f"bfloat16_to_{name}_rz"] = one
    for short, name in (("short", "int16"), ("ushort", "uint16")):
        for word in (short, name):
            made[f"bfloat16_as_{word}"] = "as", np.dtype(name), ""
            made[f"{word}_as_bfloat16"] = "bits", np.dtype(name), ""
    for mode in TOWARDS:
        made[f"float2bfloat16_{mode}"] = made[f"float32_to_bfloat16_{mode}"] = "to", FLOAT32, mode
    made["float2bfloat16"] = made["float32_to_bfloat16"] = "to", FLOAT32, "rn"
    made["double2bfloat16"] = made["float64_to_bfloat16"] = "to", FLOAT64, "rn"
    made["bfloat162float"] = made["bfloat16_to_float32"] = "from", FLOAT32, "rn"
    return made


CONVERSIONS = _conversions()
NAMES = (*UNARY, *BINARY, *FMA, *COMPARISONS, *TESTS, *CONVERSIONS)


# -- values


def is_one(v) -> bool:
    """Say whether a value is a bfloat16."""
    return isinstance(v, Parts) and v.kind is KIND


def plain(v):
    """The float32 that a bfloat16 is; any other value as it is."""
    return v[0] if is_one(v) else v


def of(v) -> Parts:
    """The bfloat16 of a float32 that needs no rounding."""
    return Parts((v,), KIND)


def rounded(v, mode: str = "rn"):
    """Numbers with 8 significant bits, as float32.

    Parameters
    ----------
    v : lane value
        Integers or floats, rounded once.
    mode : {"rn", "rz", "rd", "ru"}
        To the nearest (of two the even one), toward zero, down, up.
    """
    with np.errstate(all="ignore"):
        exact = _odd(v) if v.dtype.kind in "iu" else v.astype(FLOAT64)
        _, exponent = np.frexp(exact)
        step = np.ldexp(1.0, np.maximum(exponent, LEAST) - BITS)
        near = TOWARDS[mode](exact / step) * step
        near = np.copysign(near, exact)
        top = np.ldexp(1.0 - 2.0**-BITS, MOST)
        past = np.isfinite(exact) & (np.abs(near) > top)
        outward = {"rn": True, "rz": False, "rd": exact < 0, "ru": exact > 0}[mode]
        edge = np.copysign(np.where(outward, np.inf, top), exact)
        near = np.where(np.isfinite(exact), np.where(past, edge, near), exact)
        return near.astype(FLOAT32)[()]


def _odd(v):
    """Integers as float64; the lowest of 53 bits tells whether any below them was set."""
    size = np.where(v < 0, 0 - v.astype(np.uint64), v.astype(np.uint64)).astype(np.uint64)
    cut = (size >> np.uint64(11)) << np.uint64(11)
    odd = cut | (np.where(size != cut, 1, 0).astype(np.uint64) << np.uint64(11))
    size = np.where(size < 2**53, size, odd)
    return np.copysign(size.astype(FLOAT64), np.where(v < 0, -1.0, 1.0))


def make(v, n: ast.AST) -> Parts:
    """``bfloat16(v)``."""
    if is_one(v):
        return v
    if not values.is_value(v) or v.dtype.kind == "c":
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: takes numbers")
    if v.dtype.name in ("int8", "uint8"):
        raise Unsupported(
            n.lineno,
            f"{ast.unparse(n)}: Numba makes no bfloat16 of {v.dtype.name}: go by int16(...)",
        )
    return of(rounded(v.astype(np.int64) if v.dtype.kind == "b" else v))


def taken(v, n: ast.AST) -> Parts:
    """An argument that is one, or a float; what Numba makes of an integer here isn't its value."""
    if is_one(v) or values.is_value(v) and v.dtype.kind == "f":
        return make(v, n)
    raise Unsupported(n.lineno, f"{ast.unparse(n)}: takes bfloat16: write bfloat16(...) around it")


def converted(d: np.dtype, v: Parts, n: ast.AST):
    """``float32(v)``, ``int32(v)``: integers are cut off, those of 8 bits end at their limits."""
    if d == values.FLOAT16 or d.kind == "c":
        raise Unsupported(
            n.lineno, f"{ast.unparse(n)}: Numba makes no {d.name} of a bfloat16: go by float32(...)"
        )
    number = v[0]
    if d.kind in "iu" and d.itemsize == 1:
        limits = np.iinfo(d)
        number = np.where(np.isnan(number), 0, np.clip(number, limits.min, limits.max))
        return np.trunc(number).astype(d)[()]
    return number != 0 if d.kind == "b" else values.cast(d, number)


def binary(op: type, a: Parts, b: Parts) -> Parts:
    """One of `OPERATORS` of two bfloat16, rounded once."""
    return of(rounded(values.binary(op, a[0].astype(FLOAT64), b[0].astype(FLOAT64))))


def beside(a, b, n: ast.AST) -> tuple:
    """The operands as what they are where one at least is a bfloat16."""
    for v in (a, b):
        if values.is_value(v) and v.dtype.name in ("int8", "uint8"):
            raise Unsupported(
                n.lineno,
                f"{ast.unparse(n)}: Numba takes no {v.dtype.name} beside a bfloat16: go by "
                "int16(...)",
            )
    return plain(a), plain(b)


# -- functions


def call(run, name: str, n: ast.Call, m):
    """A function of ``numba.cuda.bf16``."""
    if name in CONVERSIONS:
        return _convert(*CONVERSIONS[name], run.exactly(n, m, 1)[0], n)
    count = 1 if name in UNARY or name in TESTS else 3 if name in FMA else 2
    return function(run, name, run.exactly(n, m, count), n, m)


def function(run, name: str, arguments: list, n: ast.Call, m):
    """A function of one to three of them."""
    given = [taken(v, n)[0] for v in arguments]
    if name in TESTS:
        return TESTS[name](*given)
    if name in COMPARISONS:
        return COMPARISONS[name](*given)
    if run.tracer is not None and name in UNARY and name not in PLAIN:
        run.tracer.special += m.n
    elif run.tracer is not None and name not in UNARY:
        run.tracer.count_flops(KIND.title, (2 if name in FMA else 1) * m.n, n.lineno)
    if name in UNARY:
        return of(rounded(UNARY[name](given[0])))
    wide = [v.astype(FLOAT64) for v in given]
    if name in FMA:  # float64 holds the product, and the sum nearly always
        a, b, c = wide
        return of(rounded(np.asarray(FMA[name](a * b + c))[()]))
    return of(rounded(np.asarray(BINARY[name](*wide))[()]))


def _convert(way: str, d: np.dtype, mode: str, v, n: ast.Call):
    if way == "from":
        v = taken(v, n)
        if d.kind in "iu" and d.itemsize > 1:
            return values.cast(d, TOWARDS[mode](v[0]))
        return converted(d, v, n)
    if way == "as":
        return (taken(v, n)[0].view(np.uint32) >> np.uint32(16)).astype(np.uint16).view(d)
    v = converted(d, v, n) if is_one(v) else v
    if not values.is_value(v) or v.dtype.kind == "c":
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: takes numbers")
    v = values.cast(d, v)
    if way == "bits":
        bits = v.view(np.uint16).astype(np.uint32) << np.uint32(16)
        return of(bits.view(FLOAT32))
    return of(rounded(v, mode))
