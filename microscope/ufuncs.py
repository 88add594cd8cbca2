"""NumPy's ufuncs in a kernel: of numbers, and of whole arrays into an output array.

Numba compiles some of them only, and each thread goes through all elements by itself.
"""

from __future__ import annotations

import ast
import math

import numpy as np

from . import maths, values
from .errors import Unsupported
from .memory import Array

#: NumPy's name of a function that Numba lacks -> that of `math`, and the operator.
IN_MATH = {"power": "pow", "absolute": "fabs", "rint": "floor"}
OPERATORS = {"add": "+", "subtract": "-", "multiply": "*", "floor_divide": "//", "remainder": "%"}


def ufunc_call(run, target: np.ufunc, n: ast.Call, m):
    """``np.sin(x)`` of a number, or ``np.sin(x, out)`` of an array."""
    name, called = target.__name__, ast.unparse(n)
    if name not in maths.NUMPY:
        raise Unsupported(
            n.lineno, f"{called}: Numba has no such function in kernels{instead(name)}"
        )
    arguments = run.arguments(n, m)
    whole = any(isinstance(a, Array) for a in arguments)
    if len(arguments) == target.nin and not whole:
        if not all(values.is_value(a) for a in arguments):
            raise Unsupported(n.lineno, f"{called}: takes numbers")
        return of_numbers(run, target, arguments, m)
    if len(arguments) != target.nin + 1 or not isinstance(arguments[-1], Array):
        raise Unsupported(
            n.lineno,
            f"{called}: takes {target.nin} numbers, or arrays and an output array behind them",
        )
    elementwise(run, target, arguments[:-1], arguments[-1], n, m)
    return arguments[-1]


def instead(name: str) -> str:
    """What to write for a function that Numba does not compile."""
    if name in OPERATORS:
        return f": use the operator {OPERATORS[name]}"
    name = IN_MATH.get(name, name)
    if name == "cbrt":
        return ": use cuda.cbrt"
    in_math = name in maths.FUNCTIONS and hasattr(math, name)
    return f": use math.{name}" if in_math else ": write it with operators and math"


def of_numbers(run, target: np.ufunc, arguments: list, m):
    """The function of lane values."""
    return counted(run, target.__name__, m, maths.numpy_call(target, arguments))


def counted(run, name: str, m, v):
    """A result, once the tracer has counted the function."""
    if run.tracer is not None and name not in maths.PLAIN:
        run.tracer.special += m.n
    return v


def elementwise(run, target: np.ufunc, inputs: list, out: Array, n: ast.Call, m) -> None:
    """Every thread goes through all elements of `out`; inputs are broadcast to its shape."""
    shapes = [a.shape for a in (*inputs, out) if isinstance(a, Array)]
    if any(isinstance(s, np.ndarray) for shape in shapes for s in shape):
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: write a loop over the elements")
    for position in run.memory.positions(out.shape, shapes[:-1], n):
        found = [
            run.memory.load(a, _at(a, position), m, n) if isinstance(a, Array) else a
            for a in inputs
        ]
        where = tuple(np.int64(i) for i in position)
        run.memory.put(out, where, of_numbers(run, target, found, m), m, n)


def _at(a: Array, position: tuple) -> tuple:
    """The index in an input that is broadcast."""
    last = position[len(position) - a.ndim :]
    return tuple(np.int64(0 if s == 1 else i) for i, s in zip(last, a.shape, strict=True))
