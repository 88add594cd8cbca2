"""Explicit signatures: the types that a kernel's arguments take, whatever is passed.

``@cuda.jit("void(int32[:], int32)")`` makes an int32 of a number as C does, and turns away arrays
of other types, as Numba does.
"""

from __future__ import annotations

import ast
import operator
from functools import lru_cache

import numpy as np

from . import values
from .errors import KernelError
from .memory import Array
from .wording import describe_value

NAMES = {
    "boolean": "bool",
    "bool_": "bool",
    "intp": "int64",
    "uintp": "uint64",
    "double": "float64",
}


def parse(signature) -> list[list]:
    """The types of each signature's parameters: a dtype, for an array (dtype, axes), or None.

    None stands for a type that is not known here, and is anything.

    Parameters
    ----------
    signature : object
        A text, what Numba makes of one, a tuple of types, or a list of any of them.
    """
    if isinstance(signature, list):
        return [types for one in signature for types in parse(one)]
    if isinstance(signature, str):
        return [_of_text(signature)]
    given = getattr(signature, "args", signature)
    return [[_made(p) for p in given]] if isinstance(given, tuple) else []


@lru_cache
def _of_text(signature: str) -> list:
    tree = ast.parse(signature, mode="eval").body
    parameters = tree.args if isinstance(tree, ast.Call) else getattr(tree, "elts", [])
    return [_written(p) for p in parameters]


def _written(n: ast.expr):
    """A type from its text, such as ``float32[:, :]``."""
    if isinstance(n, ast.Subscript):
        axes = n.slice.elts if isinstance(n.slice, ast.Tuple) else [n.slice]
        element = _written(n.value)
        return None if element is None else (element, len(axes))
    name = n.id if isinstance(n, ast.Name) else getattr(n, "attr", "")
    return values.dtype_of(NAMES.get(name, name)) if name else None


def _made(t):
    """A type from Numba's object."""
    if hasattr(t, "ndim") and hasattr(t, "dtype") and not isinstance(t, np.dtype):
        element = values.dtype_of(t.dtype)
        return None if element is None else (element, t.ndim)
    return values.dtype_of(t)


def of_kernel(kernel) -> list[list]:
    """The signatures that a kernel was given; none if it takes its types from its arguments."""
    if getattr(kernel, "_can_compile", True) is False:  # Numba's own kernel
        return [list(map(_made, types)) for types in kernel.overloads]
    signature = getattr(kernel, "signature", None)
    return [] if signature is None else parse(signature)


def applied(kernel, name: str, arguments: list) -> list:
    """The arguments as the kernel's signature wants them.

    Raises
    ------
    KernelError
        If none of its signatures takes them.
    """
    known = of_kernel(kernel)
    if not known:
        return arguments
    fitting = [
        types
        for types in known
        if len(types) == len(arguments) and all(map(_fits, types, arguments))
    ]
    if fitting:
        made = [list(map(_converted, types, arguments)) for types in fitting]
        return min(made, key=lambda them: sum(map(operator.is_not, them, arguments)))
    raise KernelError(
        f"{name} was compiled for ({', '.join(map(_text, known[0]))}) and got "
        f"({', '.join(map(describe_value, arguments))}): pass arrays of these types, or leave out "
        "the signature"
    )


def passed(function, name: str, given: dict) -> dict:
    """The arguments of a device function as its signature wants them."""
    return dict(zip(given, applied(function, name, list(given.values())), strict=True))


def _fits(t, a) -> bool:
    """Say whether an argument can become a parameter's type."""
    if isinstance(t, tuple):
        return isinstance(a, Array) and (a.dtype, a.ndim) == t
    return t is None or values.is_value(a) and (a.dtype.kind != "c" or t.kind == "c")


def _converted(t, a):
    """A number of the type that the signature names."""
    return values.cast(t, a) if isinstance(t, np.dtype) else a


def _text(t) -> str:
    if t is None:
        return "…"
    return f"{t[0].name}[{', '.join(':' * t[1])}]" if isinstance(t, tuple) else t.name
