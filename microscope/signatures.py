"""Explicit signatures: the types that arguments and results take, whatever they are.

``@cuda.jit("void(int32[:], int32)")`` makes an int32 of a number as C does, and turns away arrays
of other types, as Numba does; ``@cuda.jit("float32(float64)", device=True)`` rounds its result.
"""

from __future__ import annotations

import ast
import operator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from . import values
from .errors import KernelError, Unsupported
from .memory import Array, of_argument
from .wording import describe_value

NAMES = {
    "boolean": "bool",
    "bool_": "bool",
    "intp": "int64",
    "uintp": "uint64",
    "double": "float64",
}
NOTHING = "void"


class ArrayType(NamedTuple):
    """An array in a signature."""

    dtype: np.dtype
    ndim: int


class Signature(NamedTuple):
    """One signature.

    A type is a dtype, an `ArrayType`, a tuple of types, `NOTHING` for a result that is none, or
    None for one that is not named or not known here, and is anything.
    """

    parameters: list
    result: object = None


def parse(signature) -> list[Signature]:
    """The signatures that a decorator was given.

    Parameters
    ----------
    signature : object
        A text, what Numba makes of one, a tuple of types, or a list of any of them.
    """
    if isinstance(signature, list):
        return [one for several in signature for one in parse(several)]
    if isinstance(signature, str):
        return [_of_text(signature)]
    given = getattr(signature, "args", signature)
    if not isinstance(given, tuple):
        return []
    return [Signature([_made(p) for p in given], _made(getattr(signature, "return_type", None)))]


@lru_cache
def _of_text(signature: str) -> Signature:
    tree = ast.parse(signature, mode="eval").body
    if isinstance(tree, ast.Call):
        return Signature(list(map(_written, tree.args)), _written(tree.func))
    return Signature(list(map(_written, getattr(tree, "elts", []))))


def _written(n: ast.expr):
    """A type from its text, such as ``float32[:, :]``."""
    if isinstance(n, ast.Subscript):
        axes = n.slice.elts if isinstance(n.slice, ast.Tuple) else [n.slice]
        element = _written(n.value)
        return None if element is None else ArrayType(element, len(axes))
    if isinstance(n, ast.Call) and _name(n.func) == "UniTuple":
        return (_written(n.args[0]),) * ast.literal_eval(n.args[1])
    if isinstance(n, ast.Call) and _name(n.func) == "Tuple":
        return tuple(map(_written, n.args[0].elts))
    name = _name(n)
    if name in (NOTHING, "none"):
        return NOTHING
    return values.dtype_of(NAMES.get(name, name)) if name else None


def _name(n: ast.expr) -> str:
    return n.id if isinstance(n, ast.Name) else getattr(n, "attr", "")


def _made(t):
    """A type from Numba's object."""
    if hasattr(t, "ndim") and hasattr(t, "dtype") and not isinstance(t, np.dtype):
        element = values.dtype_of(t.dtype)
        return None if element is None else ArrayType(element, t.ndim)
    if isinstance(getattr(t, "types", None), tuple):
        return tuple(map(_made, t.types))
    return NOTHING if getattr(t, "name", "") == "none" else values.dtype_of(t)


def of_kernel(kernel) -> list[Signature]:
    """The signatures that a kernel was given; none if it takes its types from its arguments."""
    if getattr(kernel, "_can_compile", True) is False:  # Numba's own
        made = getattr(kernel, "overloads", {}).items()
        return [
            Signature(list(map(_made, types)), _made(getattr(one.signature, "return_type", None)))
            for types, one in made
        ]
    signature = getattr(kernel, "signature", None)
    return [] if signature is None else parse(signature)


def chosen(kernel, name: str, arguments: list) -> tuple[Signature | None, list]:
    """Which of a kernel's signatures takes some arguments, and the arguments as it wants them.

    Raises
    ------
    KernelError
        If none of its signatures takes them.
    """
    known = of_kernel(kernel)
    if not known:
        return None, arguments
    fitting = [
        one
        for one in known
        if len(one.parameters) == len(arguments) and all(map(_fits, one.parameters, arguments))
    ]
    if fitting:
        made = [(one, list(map(_converted, one.parameters, arguments))) for one in fitting]
        return min(made, key=lambda each: sum(map(operator.is_not, each[1], arguments)))
    raise KernelError(
        f"{name} was compiled for ({', '.join(map(_text, known[0].parameters))}) and got "
        f"({', '.join(map(describe_value, arguments))}): pass arrays of these types, or leave out "
        "the signature"
    )


def applied(kernel, name: str, arguments: list) -> list:
    """The arguments as the kernel's signature wants them; errors as `chosen`."""
    return chosen(kernel, name, arguments)[1]


def passed(function, name: str, given: dict) -> tuple[dict, object]:
    """The arguments of a device function as its signature wants them, and its result's type."""
    signature, arguments = chosen(function, name, list(given.values()))
    made = dict(zip(given, arguments, strict=True))
    return made, None if signature is None else signature.result


def returned(t, v, line: int, name: str):
    """A function's result as its signature wants it.

    Raises
    ------
    Unsupported
        If it can't become that, as an array can't become a number.
    """
    if t is None:
        return v
    if v is None and t == NOTHING or v is not None and t != NOTHING and _fits(t, v):
        return _converted(t, v)
    raise Unsupported(
        line,
        f"{name} returns {describe_value(v)} and its signature says {_text(t)}: change one of them",
    )


def _fits(t, a) -> bool:
    """Say whether a value can become a type."""
    if isinstance(t, ArrayType):
        return isinstance(a, Array) and (a.dtype, a.ndim) == t
    if isinstance(t, tuple):
        return isinstance(a, tuple) and len(a) == len(t) and all(map(_fits, t, a))
    return t is None or values.is_value(a) and (a.dtype.kind != "c" or t.kind == "c")


def _converted(t, a):
    """A number, or those of a tuple, of the type that the signature names."""
    if isinstance(t, np.dtype):
        return values.cast(t, a)
    return tuple(map(_converted, t, a)) if isinstance(a, tuple) and t is not None else a


def stand_in(t):
    """A value of a type that a signature names; None if it is not known here."""
    if isinstance(t, ArrayType):
        return of_argument(np.ones((1,) * t.ndim, t.dtype), "array", 0)
    if isinstance(t, tuple):
        items = tuple(map(stand_in, t))
        return None if any(v is None for v in items) else items
    return values.sample(t) if isinstance(t, np.dtype) and not t.names else None


def _text(t) -> str:
    if isinstance(t, ArrayType):
        return f"{t.dtype.name}[{', '.join(':' * t.ndim)}]"
    if isinstance(t, tuple):
        return f"({', '.join(map(_text, t))})"
    return "…" if t is None else getattr(t, "name", t)
