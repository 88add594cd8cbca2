"""What a kernel can call besides ``cuda``: types, `math`, NumPy's functions, builtins, methods."""

from __future__ import annotations

import ast
import math
import types

import numpy as np

from . import maths, memory, values
from .errors import KernelError, Unsupported
from .iterables import Enumerate, Range, Zip, iterable
from .memory import Array
from .wording import describe_value

PRINT_LIMIT = 10_000  # lines one launch may print


def python_call(run, target, n: ast.Call, m):
    """Call something that is not of ``cuda``: a type, `math`, NumPy, a builtin."""
    builtin = BUILTINS.get(target) if isinstance(target, _HASHABLE) else None
    if builtin is not None:
        arguments = run.arguments(n, m)
        for a in arguments:
            if not values.is_value(a) and target not in WITH_ITEMS:
                raise Unsupported(n.lineno, f"{ast.unparse(n)}: takes numbers")
        try:
            return builtin(run, n, m, arguments)
        except TypeError:
            what = ", ".join(map(describe_value, arguments))
            raise Unsupported(n.lineno, f"{ast.unparse(n)}: not for {what}") from None
    dtype = values.dtype_of(target)
    if dtype is not None:
        arguments = run.arguments(n, m)
        if len(arguments) != 1 or not values.is_value(arguments[0]):
            raise Unsupported(n.lineno, f"{ast.unparse(n)}: a conversion takes one number")
        return values.cast(dtype, arguments[0])
    if isinstance(target, np.ufunc) and target.__name__ in maths.NUMPY:
        arguments = _numbers(run, n, m)
        if len(arguments) != target.nin:
            raise Unsupported(n.lineno, f"{ast.unparse(n)}: takes {target.nin} numbers")
        return counted(run, target.__name__, m, maths.numpy_call(target, arguments))
    if _is_math(target):
        return math_function(run, target.__name__, _numbers(run, n, m), n, m)
    called = ast.unparse(n.func)
    if isinstance(target, types.FunctionType):
        raise Unsupported(
            n.lineno,
            f"a kernel cannot call {called}, a plain function: put @cuda.jit(device=True) above it",
        )
    if isinstance(target, np.ufunc):
        raise Unsupported(
            n.lineno,
            f"Numba has no {called} for the GPU: take the function of math, or an operator",
        )
    raise Unsupported(n.lineno, f"a kernel cannot call {called}")


_HASHABLE = (type, types.BuiltinFunctionType, types.FunctionType)


def _numbers(run, n: ast.Call, m) -> list:
    arguments = run.arguments(n, m)
    if not all(values.is_value(a) for a in arguments):
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: takes numbers")
    return arguments


def _is_math(target) -> bool:
    builtin = isinstance(target, types.BuiltinFunctionType) and target.__module__ == "math"
    return builtin and target.__name__ in maths.FUNCTIONS and target.__name__ != "cbrt"


def _print(run, n, m, arguments):
    """``print(...)``: every active thread prints its line."""
    lanes, session = run.lanes, run.session
    active = np.argwhere(lanes.full(run.array_of(m)))
    for position in active:
        session.printed += 1
        if session.printed > PRINT_LIMIT:
            raise KernelError(
                f"line {n.lineno}: this launch has printed {PRINT_LIMIT} lines: "
                "print from one thread only, with an if"
            )
        row = [_printable(lanes.at(a, tuple(position))) for a in arguments]
        print(*row)


def check_print(n: ast.Call, arguments: list) -> None:
    """Refuse what Numba cannot print."""
    for a in arguments:
        if isinstance(a, Array) or a is None:
            raise Unsupported(n.lineno, f"{ast.unparse(n)}: prints numbers, tuples and texts only")


def _printable(v):
    if isinstance(v, tuple):
        return tuple(_printable(x) for x in v)
    return v.item() if isinstance(v, np.generic) else v


def _length(run, n, m, arguments):
    (a,) = arguments
    if isinstance(a, Array):
        return np.int64(0) + a.shape[0]
    if isinstance(a, Range):
        return np.int64(0) + a.length()
    return np.int64(len(a))


def _round(run, n, m, arguments):
    v = arguments[0]
    if len(arguments) == 1:
        return values.rounded(v)
    if isinstance(arguments[1], np.ndarray) or len(arguments) > 2:
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: the digits must be a constant")
    return values.rounded_to(v, int(arguments[1]))


def _extreme(less: bool):
    def extreme(run, n, m, arguments):
        if len(arguments) == 1:
            if values.is_value(arguments[0]):
                raise Unsupported(n.lineno, f"{ast.unparse(n)}: takes two numbers or more")
            arguments = _items(run, arguments[0], n, m)
        if not arguments or not all(map(values.is_value, arguments)):
            raise Unsupported(n.lineno, f"{ast.unparse(n)}: takes numbers")
        return values.extreme(less, arguments)

    return extreme


def _items(run, v, n, m) -> list:
    """The items of a tuple or an array."""
    items = iterable(v, n.args[0])
    length = items.length()
    if isinstance(length, np.ndarray):
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: the length differs between threads")
    if run.only_types:
        length = min(length, 2)
    return [items.item(run, k, m, n.args[0]) for k in range(length)]


def _pow(run, n, m, arguments):
    base, exponent = arguments
    return values.binary(ast.Pow, base, exponent)


def _divmod(run, n, m, arguments):
    a, b = arguments
    return values.binary(ast.FloorDiv, a, b), values.binary(ast.Mod, a, b)


def _sum(run, n, m, arguments):
    items = _items(run, arguments[0], n, m)
    total = items[0].dtype.type(0) if items else np.int64(0)
    for v in items:
        total = values.binary(ast.Add, total, v)
    return total


def _complex(run, n, m, arguments):
    real, imag = (*arguments, np.float32(0))[:2]
    d = np.complex64 if real.dtype == imag.dtype == np.float32 else np.complex128
    return real.astype(d) + imag.astype(d) * d(1j)


def _enumerate(run, n, m, arguments):
    if not 1 <= len(arguments) <= 2:
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: takes what to count, and a start")
    return Enumerate(iterable(arguments[0], n.args[0]), [*arguments, np.int64(0)][1])


def _zip(run, n, m, arguments):
    return Zip([iterable(a, x) for a, x in zip(arguments, n.args, strict=True)])


BUILTINS = {
    range: lambda run, n, m, a: Range(a, n),
    enumerate: _enumerate,
    zip: _zip,
    abs: lambda run, n, m, a: np.abs(a[0]),
    complex: _complex,
    min: _extreme(True),
    max: _extreme(False),
    int: lambda run, n, m, a: values.to_int(a[0]),
    float: lambda run, n, m, a: values.to_float(a[0]),
    bool: lambda run, n, m, a: np.bool_(True) & values.truth(a[0]),
    len: _length,
    round: _round,
    pow: _pow,
    divmod: _divmod,
    sum: _sum,
    print: _print,
}


#: Builtins that take something else than numbers.
WITH_ITEMS = (print, len, sum, min, max, enumerate, zip)


def math_function(run, name: str, arguments: list, n: ast.Call, m):
    """A function of `math`."""
    try:
        return counted(run, name, m, maths.call(name, arguments))
    except TypeError:
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: wrong number of arguments") from None


def counted(run, name: str, m, v):
    """A result, once the tracer has counted the function."""
    if run.tracer is not None and name not in maths.PLAIN:
        run.tracer.special += m.n
    return v


def array_method(run, a: Array, name: str, arguments: list, n):
    """Methods of an array inside a kernel."""
    if name == "reshape" and a.contiguous:
        shape = arguments[0] if isinstance(arguments[0], tuple) else tuple(arguments)
        shape = tuple(int(s) for s in shape)
        if run.only_types or math.prod(shape) == math.prod(a.shape):
            return Array(a.buffer, a.offset, shape, memory.row_major(shape))
    if name in ("ravel", "flatten") and a.contiguous:
        return Array(a.buffer, a.offset, (math.prod(a.shape),), (1,))
    if name == "item" and not arguments:
        return run.load(a, tuple(np.int64(0) for _ in a.shape), run.lanes.all, n)
    raise Unsupported(n.lineno, f"{ast.unparse(n)}: an array has no such method in a kernel")
