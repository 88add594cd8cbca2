"""What a kernel can call besides ``cuda``: types, `math`, NumPy's functions, builtins, methods."""

from __future__ import annotations

import ast
import math
import types

import numpy as np

from . import bfloat16, maths, memory, modules, names, ufuncs, values, whole_arrays
from .describing import describe_value
from .errors import KernelError, Unsupported
from .iterables import Enumerate, Range, Zip, iterable
from .memory import Array

PRINT_LIMIT = 10_000  # lines one launch may print


def python_call(run, target, n: ast.Call, m):
    """Call something that is not of ``cuda``: a type, `math`, NumPy, a builtin."""
    builtin = BUILTINS.get(target) if isinstance(target, _HASHABLE) else None
    if builtin is not None:
        arguments = run.arguments(n, m)
        if target is float and len(arguments) == 1 and isinstance(arguments[0], str):
            return _written(arguments[0], n)
        if target in OF_FLOAT32:
            arguments = [bfloat16.plain(a) for a in arguments]
        for a in arguments:
            if not values.is_value(a) and target not in WITH_ITEMS:
                raise Unsupported(n.lineno, f"{ast.unparse(n)}: takes numbers")
        try:
            return builtin(run, n, m, arguments)
        except TypeError:
            what = ", ".join(map(describe_value, arguments))
            bools = any(values.is_value(a) and a.dtype == values.BOOL for a in arguments)
            instead = ": make an integer of the bool with int(...)" if bools else ""
            raise Unsupported(n.lineno, f"{ast.unparse(n)}: not for {what}{instead}") from None
    dtype = values.dtype_of(target)
    if dtype is not None:
        arguments = run.arguments(n, m)
        if len(arguments) == 1 and bfloat16.is_one(arguments[0]):
            return bfloat16.converted(dtype, arguments[0], n)
        if len(arguments) != 1 or not values.is_value(arguments[0]):
            raise Unsupported(
                n.lineno,
                f"{ast.unparse(n)}: a conversion takes one number: convert the rest on the host",
            )
        if arguments[0].dtype.kind == "c" and dtype.kind != "c":
            raise Unsupported(n.lineno, f"{ast.unparse(n)}: take .real or .imag of it first")
        return values.cast(dtype, arguments[0])
    call = modules.CALLS.get(target) if isinstance(target, _HASHABLE) else None
    if call is not None:
        return call(run, target, n, m)
    if isinstance(target, np.ufunc):
        return ufuncs.ufunc_call(run, target, n, m)
    if isinstance(target, type) and issubclass(target, tuple) and hasattr(target, "_fields"):
        items, named = run.passed(n, m)
        items += [named[k] for k in target._fields[len(items) :] if k in named]
        if len(items) != len(target._fields):
            raise Unsupported(n.lineno, f"{ast.unparse(n)}: takes {', '.join(target._fields)}")
        return values.Parts(items, values.TupleType(target.__name__, target._fields))
    if _is_math(target):
        arguments = run.arguments(n, m)
        if len(arguments) == 1 and bfloat16.is_one(arguments[0]) and target in bfloat16.MATH:
            return bfloat16.function(run, bfloat16.MATH[target], arguments, n, m)
        arguments = [bfloat16.plain(a) for a in arguments]
        return math_function(run, target.__name__, modules.numbers(arguments, n), n, m)
    called = ast.unparse(n.func)
    home = getattr(target, "__module__", None) or ""
    if home.startswith(names.CUDA_MODULES):
        instead = ": use math, or an operator" if "libdevice" in home else ""
        instead = ": keep its bits in a uint8" if "fp8" in home else instead
        raise Unsupported(n.lineno, f"{called} is not known to the interpreter{instead}")
    if isinstance(target, types.FunctionType) and not home.startswith("numpy"):
        raise Unsupported(
            n.lineno,
            f"a kernel cannot call {called}, a plain function: put @cuda.jit(device=True) above it",
        )
    if whole_arrays.named(target):
        if len(n.args) + len(n.keywords) != 1:
            raise Unsupported(
                n.lineno, f"{called}(...): takes an array whole, no axis: write a loop over an axis"
            )
        (a,) = run.exactly(n, m, 1)
        if isinstance(a, Array):
            return whole_arrays.call(run, target.__name__, a, n, m)
    if home.startswith("numpy"):
        why = "NumPy's functions of whole arrays stay outside kernels, so write a loop"
        raise Unsupported(n.lineno, f"a kernel cannot call {called}: {why}")
    instead = INSTEAD.get(target) if isinstance(target, _HASHABLE) else None
    if instead is None:
        instead = WITHOUT.get(home, ": do it on the host and pass what comes out")
    raise Unsupported(n.lineno, f"a kernel cannot call {called}{instead}")


#: What to write instead of some builtins.
INSTEAD = {
    getattr(math, "cbrt", None): ": use cuda.cbrt",
    isinstance: ": write a version of the kernel for each type",
    tuple: ": write the items between brackets, (a, b)",
    list: ": write the items between brackets, (a, b)",
    sorted: ": write a sorting network, or sort on the host",
    reversed: ": count down in a range(...)",
    any: ": write a loop",
    all: ": write a loop",
    map: ": write a loop",
    filter: ": write a loop with an if",
    iter: ": write a loop over range(...)",
    next: ": write a loop over range(...)",
    str: ": print the number",
    slice: ": write a[start:stop]",
    type: ": name the type, as in int32(...)",
}
#: And of the functions of a module.
WITHOUT = {
    "math": ": write it with other functions of math, or a loop",
    "_operator": ": write the operator, or the brackets",
    "numba.misc.special": ": write a loop over range(...)",
}


def _written(text: str, n):
    """``float("inf")``: a number that the source spells out."""
    try:
        return np.float64(text)
    except ValueError:
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: {text!r} is no number") from None


_HASHABLE = (type, types.BuiltinFunctionType, types.FunctionType)


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
        row = [_printable(_of_lane(run, a, tuple(position))) for a in arguments]
        print(*row)


def _of_lane(run, v, position: tuple):
    """What one lane has of a value that is printed."""
    if isinstance(v, names.Dim3):
        v = tuple(run.coordinate(c) for c in (v.x, v.y, v.z))
    if bfloat16.is_one(v):
        return f"{run.lanes.at(v[0], position):f}"
    if isinstance(v, tuple):
        return tuple(_of_lane(run, x, position) for x in v)
    return run.lanes.at(v, position)


def check_print(n: ast.Call, arguments: list) -> None:
    """Refuse what Numba cannot print."""
    if len(arguments) > 32:
        what = f"{len(arguments)} values, and a GPU prints 32 at most: use several prints"
        raise Unsupported(n.lineno, f"print(...) of {what}")
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
            if values.is_value(arguments[0]) or bfloat16.is_one(arguments[0]):
                raise Unsupported(n.lineno, f"{ast.unparse(n)}: takes two numbers or more")
            arguments = _items(run, arguments[0], n, m)
        if len(arguments) == 2 and all(map(bfloat16.is_one, arguments)):
            return bfloat16.of(values.extreme(less, [v[0] for v in arguments]))
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
    return [items.item(run, k, m, n.args[0]) for k in range(length)]


def _pow(run, n, m, arguments):
    if len(arguments) != 2:
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: takes two numbers: take % of the power")
    base, exponent = arguments
    return values.binary(ast.Pow, base, exponent)


def _divmod(run, n, m, arguments):
    a, b = arguments
    return values.binary(ast.FloorDiv, a, b), values.binary(ast.Mod, a, b)


def _sum(run, n, m, arguments):
    items = modules.numbers(_items(run, arguments[0], n, m), n)
    total = items[0].dtype.type(0) if items else np.int64(0)
    total = arguments[1] if len(arguments) > 1 else total
    for v in items:
        total = values.binary(ast.Add, total, v)
    return total


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
    abs: lambda run, n, m, a: np.abs(a[0] if a[0].dtype != bool else a[0].astype(np.int8)),
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


#: Builtins to which a bfloat16 is a float32.
OF_FLOAT32 = (abs, round, pow, divmod)
#: Builtins that take something else than numbers.
WITH_ITEMS = (print, len, sum, min, max, enumerate, zip)


def math_function(run, name: str, arguments: list, n: ast.Call, m):
    """A function of `math`."""
    try:
        return ufuncs.counted(run, name, m, maths.call(name, arguments))
    except TypeError:
        write = "a quotient of two logarithms" if name == "log" else "fewer arguments"
        what = f"{ast.unparse(n)}: wrong number of arguments: write {write}"
        raise Unsupported(n.lineno, what) from None


def array_method(run, a: Array, name: str, arguments: list, n, m):
    """Methods of an array inside a kernel."""
    if name in whole_arrays.FUNCTIONS and name not in whole_arrays.NO_METHODS and not arguments:
        return whole_arrays.call(run, name, a, n, m)
    if name == "reshape" and arguments:
        return reshaped(run, a, arguments, n)
    if name == "transpose" and not arguments:
        return a.transposed()
    if name == "fill" and len(arguments) == 1:
        run.memory.put_view(a, arguments[0], m, n)
        return None
    if name == "item" and not arguments:
        return run.memory.load(a, tuple(np.int64(0) for _ in a.shape), m, n)
    d = values.dtype_of(arguments[0]) if name == "view" and len(arguments) == 1 else None
    if d is not None:
        return run.memory.reinterpreted(a, d, n)
    if name in ALLOCATES:
        raise Unsupported(
            n.lineno,
            f"{ast.unparse(n)}: a kernel allocates no memory, so copy into a cuda.local.array in a "
            "loop",
        )
    raise Unsupported(
        n.lineno, f"{ast.unparse(n)}: an array has no such method in a kernel: write a loop"
    )


#: Methods that would make an array.
ALLOCATES = ("copy", "astype", "flatten", "nonzero", "repeat")


def reshaped(run, a: Array, arguments: list, n) -> Array:
    """``a.reshape(m, n)``; an axis of -1 takes what the others leave."""
    shape = arguments[0] if isinstance(arguments[0], tuple) else tuple(arguments)
    if not all(values.is_value(s) and s.dtype.kind in "iu" and np.ndim(s) == 0 for s in shape):
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: a shape is whole numbers, one per axis")
    if not a.contiguous:
        raise Unsupported(
            n.lineno, f"{ast.unparse(n)}: only a contiguous array can be reshaped, no part of one"
        )
    shape = [int(s) for s in shape]
    size, given = math.prod(a.shape), math.prod(s for s in shape if s != -1)
    if shape.count(-1) == 1 and given:
        shape[shape.index(-1)] = size // given
    what = f"line {n.lineno}: {ast.unparse(n)}: {a.name} has {size} elements"
    run.memory.check_sizes(math.prod(shape) == size, KernelError(what))
    return Array(a.buffer, a.offset, tuple(shape), memory.row_major(shape))


def number_method(v, name: str, arguments: list, n):
    """Methods of a number inside a kernel."""
    if name == "conjugate" and not arguments:
        return np.conjugate(v)
    if name == "bit_count" and not arguments and v.dtype.kind in "iu":
        return np.bitwise_count(np.abs(v)).astype(values.wide(v.dtype))
    dtype = values.dtype_of(arguments[0]) if name == "view" and len(arguments) == 1 else None
    if dtype is not None and dtype.itemsize == v.dtype.itemsize:
        return v.view(dtype)
    raise Unsupported(
        n.lineno,
        f"{ast.unparse(n)}: a number has no such method in a kernel: use operators, or math",
    )
