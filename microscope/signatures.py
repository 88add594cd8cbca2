"""Explicit signatures: the types that arguments and results take, whatever they are.

``@cuda.jit("void(int32[:], int32)")`` makes an int32 of an integer as C does, and takes an array
of uint32 for one of int32, as Numba does; ``@cuda.jit("float32(float64)", device=True)`` rounds its
result.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from . import values
from .describing import describe_value
from .errors import KernelError, Unsupported, raised
from .memory import Array, of_argument

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


def of_cpu(function) -> bool:
    """Say whether Numba has compiled a function for the CPU, and for no other types any more."""
    fixed = getattr(function, "_can_compile", True) is False
    return fixed and not type(function).__module__.startswith("numba.cuda")


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


def chosen(
    kernel, name: str, arguments: list, alone: bool = False
) -> tuple[Signature | None, list]:
    """Which of a function's signatures takes some arguments, and the arguments as it wants them.

    Raises
    ------
    KernelError
        If none of its signatures takes them, or if two take them equally well and it must be one
        `alone`; otherwise it is the first of them.
    """
    known = of_kernel(kernel)
    if not known:
        return None, arguments
    fitting = [
        one
        for one in known
        if len(one.parameters) == len(arguments) and all(map(_fits, one.parameters, arguments))
    ]
    if not fitting:
        got = f"({', '.join(map(describe_value, arguments))})"
        raise KernelError(
            f"{name} was compiled for {_list(known[0])} and got {got}: pass arrays of these types, "
            "or leave out the signature"
        )
    costs = [_cost(one, arguments) for one in fitting]
    best = [one for one, cost in zip(fitting, costs, strict=True) if cost == min(costs)]
    if alone and len({str(one.parameters) for one in best}) > 1:
        raise raised(
            TypeError,
            f"Ambiguous overloading for {name}: {_list(best[0])} and {_list(best[1])} fit equally "
            f"well: convert the arguments, as in {_text(_differing(*best[:2]))}(...)",
        )
    return best[0], list(map(_converted, best[0].parameters, arguments))


def _differing(one: Signature, other: Signature):
    """The first type in which two signatures differ."""
    return next(a for a, b in zip(one.parameters, other.parameters, strict=True) if a != b)


def _cost(signature: Signature, arguments: list) -> tuple[int, int, int]:
    """How many arguments lose something, change their kind, and grow: Numba compares in turn."""
    lost = changed = grown = 0
    for t, a in zip(signature.parameters, arguments, strict=True):
        if isinstance(t, np.dtype) and values.is_value(a) and a.dtype != t:
            fits = np.can_cast(a.dtype, t)
            lost += not fits
            changed += fits and a.dtype.kind != t.kind
            grown += fits and a.dtype.kind == t.kind
    return lost, changed, grown


def applied(kernel, name: str, arguments: list) -> list:
    """The arguments of a launch as the kernel's signature wants them.

    Of a kernel with one signature Numba looks at no array's type: it takes the bytes for what the
    signature says. That is done here for elements of the same size.

    Raises
    ------
    KernelError
        As `chosen`; also for a float where the signature has an integer.
    """
    known = of_kernel(kernel)
    if len(known) == 1 and len(known[0].parameters) == len(arguments):
        pairs = list(zip(known[0].parameters, arguments, strict=True))
        arguments = [_reinterpreted(name, t, a) for t, a in pairs]
    signature, made = chosen(kernel, name, arguments, alone=True)
    for t, a in zip(signature.parameters if signature else (), arguments, strict=bool(signature)):
        if (
            isinstance(t, np.dtype)
            and t.kind in "iu"
            and values.is_value(a)
            and a.dtype.kind == "f"
        ):
            raise raised(
                TypeError, f"{name} takes {_list(signature)} and got {a!r}: make it int(...)"
            )
    return made


def _reinterpreted(name: str, t, a):
    """An array whose bytes are taken for elements of the type that the signature names."""
    if not isinstance(t, ArrayType) or not isinstance(a, Array) or a.ndim != t.ndim:
        return a
    if a.dtype == t.dtype or t.dtype.names or a.dtype.names:
        return a
    if a.dtype.itemsize != t.dtype.itemsize:
        raise raised(
            TypeError,
            f"{name} was compiled for {_text(t)} and got {describe_value(a)} of {a.dtype.name}: a "
            f"GPU would take its bytes for {t.dtype.name}: convert it, or leave out the signature",
        )
    buffer = replace(a.buffer, dtype=t.dtype, flat=a.buffer.flat.view(t.dtype))
    return Array(buffer, a.offset, a.shape, a.strides)


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


def _list(signature: Signature) -> str:
    """The types of a signature's parameters."""
    return f"({', '.join(map(_text, signature.parameters))})"


def _text(t) -> str:
    if isinstance(t, ArrayType):
        return f"{t.dtype.name}[{', '.join(':' * t.ndim)}]"
    if isinstance(t, tuple):
        return f"({', '.join(map(_text, t))})"
    return "…" if t is None else getattr(t, "name", t)
