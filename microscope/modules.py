"""``complex``, and the functions of `cmath` and `operator`."""

from __future__ import annotations

import ast
import cmath
import operator

import numpy as np

from . import values
from .errors import Unsupported

CMATH = {
    cmath.acos: np.arccos,
    cmath.acosh: np.arccosh,
    cmath.asin: np.arcsin,
    cmath.asinh: np.arcsinh,
    cmath.atan: np.arctan,
    cmath.atanh: np.arctanh,
    cmath.cos: np.cos,
    cmath.cosh: np.cosh,
    cmath.exp: lambda z: np.where(np.isneginf(z.real) & ~np.isfinite(z.imag), 0, np.exp(z))[()],
    cmath.log: np.log,
    cmath.log10: np.log10,
    cmath.sin: np.sin,
    cmath.sinh: np.sinh,
    cmath.sqrt: np.sqrt,
    cmath.tan: np.tan,
    cmath.tanh: np.tanh,
    cmath.isfinite: np.isfinite,
    cmath.isinf: np.isinf,
    cmath.isnan: np.isnan,
    cmath.phase: np.angle,
    cmath.polar: lambda z: (np.abs(z), np.angle(z)),
}
BINARY = {function: node for node, function in values.OPERATORS.items()}
BINARY |= {
    getattr(operator, f"i{function.__name__.strip('_')}"): node for function, node in BINARY.items()
}
COMPARISONS = {function: node for node, function in values.COMPARISONS.items()}
UNARY = {
    operator.neg: values.negative,
    operator.pos: lambda v: v.astype(values.wide(v.dtype)),
    operator.invert: values.inverted,
    operator.not_: lambda v: np.logical_not(values.truth(v)),
}


def operator_call(run, target, n: ast.Call, m):
    """A function of `operator`."""
    if target in UNARY:
        (v,) = numbers(run.exactly(n, m, 1), n)
        return UNARY[target](v)
    a, b = run.exactly(n, m, 2)
    if target in COMPARISONS:
        return run.compare(COMPARISONS[target](), a, b, n)
    return run.binary(
        ast.copy_location(ast.BinOp(n.args[0], BINARY[target](), n.args[1]), n), a, b, m
    )


def cmath_call(run, target, n: ast.Call, m):
    """A function of `cmath`."""
    if target is cmath.rect:
        length, angle = numbers(run.exactly(n, m, 2), n)
        lost = (length == 0) & ~np.isfinite(angle)
        across = np.where(angle == 0, np.copysign(1, length) * angle, length * np.sin(angle))
        sides = length * np.cos(angle), across.astype((length * angle).dtype)[()]
        return make_complex([np.where(lost, np.abs(length) * 0, v)[()] for v in sides])
    arguments = numbers(run.arguments(n, m), n)
    if target is cmath.log and len(arguments) == 2:
        logarithms = [np.log(make_complex([v])) for v in arguments]
        return values.binary(ast.Div, *logarithms)
    (v,) = arguments if len(arguments) == 1 else run.exactly(n, m, 1)
    if run.tracer is not None:
        run.tracer.special += m.n
    return CMATH[target](make_complex([v]))


def complex_call(run, target, n: ast.Call, m):
    """``complex(real, imag)``."""
    arguments = numbers(run.arguments(n, m), n)
    if len(arguments) not in (1, 2):
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: takes a real and an imaginary part")
    if len(arguments) == 2 and any(v.dtype.kind == "c" for v in arguments):
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: the two parts are real numbers")
    return make_complex(arguments)


def make_complex(parts: list):
    """A complex number: of two float32 a complex64, and a complex128 of all else."""
    if parts[0].dtype.kind == "c":
        return parts[0]
    dtypes = {v.dtype for v in parts}
    single = dtypes <= {values.FLOAT32, *map(np.dtype, values.FITS_FLOAT32)}
    kind = np.complex64 if single and values.FLOAT32 in dtypes else np.complex128
    real, *imaginary = parts
    shape = np.broadcast_shapes(*map(np.shape, parts))
    result = np.zeros(shape, kind)
    result.real = real
    if imaginary:  # no sum, which would lose the sign of a zero
        result.imag = imaginary[0]
    return result[()]


def numbers(arguments: list, n: ast.Call) -> list:
    """The arguments, refused if one is no number."""
    if not all(values.is_value(v) for v in arguments):
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: takes numbers")
    return arguments


CALLS = dict.fromkeys((*BINARY, *COMPARISONS, *UNARY), operator_call)
CALLS |= dict.fromkeys((*CMATH, cmath.rect), cmath_call)
CALLS[complex] = complex_call
