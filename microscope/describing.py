"""How messages name things."""

from __future__ import annotations

import ast

from .memory import Array
from .values import Parts, is_value


def describe(n) -> str:
    """A piece of source."""
    return f"{type(n).__name__} ({ast.unparse(n).splitlines()[0]})"


def describe_value(v) -> str:
    """A value of the kernel."""
    if is_value(v):
        return v.dtype.name
    if isinstance(v, Array):
        return f"the array {v.name}"
    if isinstance(v, Parts) and v.kind.title == "bfloat16":
        return v.kind.title
    if isinstance(v, tuple):
        return f"a tuple of {len(v)}"
    return "None" if v is None else repr(v)
