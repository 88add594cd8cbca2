"""The functions of `math`, and NumPy's of the same meaning, with Numba's types.

Where the interpreter's last digits differ from the GPU's, it is because the two libraries round
differently: by three units in the last place at most, but for gamma and lgamma.
"""

from __future__ import annotations

import math

import numpy as np

from . import values
from .values import FITS_FLOAT32, FLOAT32, FLOAT64

# Python's name -> NumPy's function. On the GPU floor, ceil and trunc give a float back.
UNARY = {
    name: getattr(np, name)
    for name in (
        "sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh floor ceil trunc fabs "
        "isnan isinf isfinite radians"
    ).split()
}
UNARY |= {
    "acos": np.arccos,
    "asin": np.arcsin,
    "atan": np.arctan,
    "acosh": np.arccosh,
    "asinh": np.arcsinh,
    "atanh": np.arctanh,
    "degrees": lambda x: x * x.dtype.type(180 / math.pi),
    "erf": lambda x: _each(math.erf, x),
    "erfc": lambda x: _each(math.erfc, x),
    "gamma": lambda x: _each(math.gamma, x),
    "lgamma": lambda x: _each(math.lgamma, x),
    "modf": lambda x: _pair(*np.modf(x)),
}
SMALL = {  # small integers become float32
    "cbrt": np.cbrt,
    "frexp": lambda x: _pair(*np.frexp(x)),
    "pow": np.power,
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "fmod": lambda x, y: np.where(np.isinf(y), np.nan, np.fmod(x, y)).astype(x.dtype)[()],
    "remainder": lambda x, y: _each(math.remainder, x, y),
    "copysign": np.copysign,
    "nextafter": np.nextafter,
    "ldexp": lambda x, n: np.ldexp(x, n.astype(np.int32)),
}
FUNCTIONS = UNARY | SMALL
WIDE = ("atan2", "hypot")  # of integers alone float64
# These cost no special-function unit.
PLAIN = {"fabs", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite", "copysign"}
# NumPy's functions that Numba's CUDA target knows by another name than `math` does.
ALSO = {
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "arctan2": "atan2",
    "deg2rad": "radians",
    "rad2deg": "degrees",
}
NUMPY = set(ALSO) | set(
    "sin cos tan hypot sinh cosh tanh radians degrees greater greater_equal less less_equal "
    "not_equal equal logical_and logical_or logical_xor logical_not maximum minimum fmax fmin "
    "bitwise_and bitwise_or bitwise_xor invert left_shift right_shift log log2 log10 isnan "
    "conjugate divide true_divide".split()
)


def _each(function, *arguments):
    """Apply a function of `math` element by element; where it has no value, NaN."""

    def safe(*numbers):
        try:
            return function(*numbers)
        except (ValueError, OverflowError):
            return math.inf if len(numbers) == 1 and numbers[0] > 0 else math.nan

    return np.vectorize(safe, otypes=[arguments[0].dtype])(*arguments)[()]


def _pair(a, b) -> tuple:
    return a[()], b[()]


def call(name: str, arguments: list):
    """A function of `math`.

    Raises
    ------
    TypeError
        For a wrong number of arguments.
    """
    return FUNCTIONS[name](*_converted(name, arguments))


def _converted(name: str, arguments: list) -> list:
    """The arguments as floats of one type."""
    if any(a.dtype.kind == "c" for a in arguments):
        return arguments
    if name == "ldexp":
        return [*_converted("", arguments[:1]), *arguments[1:]]
    ints = all(a.dtype.kind in "iub" for a in arguments)
    d = FLOAT64
    if name in UNARY or name in WIDE and ints:
        d = FLOAT64 if ints else arguments[0].dtype if len(arguments) == 1 else _common(arguments)
    else:
        d = _common(arguments)
    return [values.cast(d, a) for a in arguments]


def _common(arguments: list) -> np.dtype:
    small = all(a.dtype == FLOAT32 or a.dtype.name in FITS_FLOAT32 for a in arguments)
    return FLOAT32 if small else FLOAT64


def numpy_call(ufunc: np.ufunc, arguments: list):
    """One of NumPy's functions: its loops are those of float32 and float64, not of float16."""
    name = ALSO.get(ufunc.__name__, ufunc.__name__)
    if name not in FUNCTIONS or name == "isnan":
        return ufunc(*arguments)
    kinds = [a.dtype for a in arguments]
    if any(d.kind == "c" for d in kinds):
        single = all(np.can_cast(d, np.complex64) for d in kinds)
        d = np.dtype(np.complex64 if single else np.complex128)
        return ufunc(*(values.cast(d, a) for a in arguments))
    d = FLOAT64 if any(not np.can_cast(d, FLOAT32) for d in kinds) else FLOAT32
    return FUNCTIONS[name](*(values.cast(d, a) for a in arguments))
