"""A kernel with one place of its text changed, as a reader would edit it."""

from __future__ import annotations

import inspect
import linecache
import textwrap
from collections.abc import Callable
from itertools import count
from typing import Any

__all__ = ["changed"]

_numbers = count(1)


def changed(make: Callable[..., Any], before: str, after: str) -> Callable[..., Any]:
    """Return a function like `make` whose text has `after` where it had `before`.

    Raises
    ------
    ValueError
        If `before` is not in the text exactly once.
    """
    source = textwrap.dedent(inspect.getsource(make))
    found = source.count(before)
    if found != 1:
        raise ValueError(f"{make.__name__} has {found} places {before!r}: name one that is unique")
    name = f"<{make.__name__}, changed {next(_numbers)}>"
    source = source.replace(before, after)
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    scope = dict(inspect.unwrap(make).__globals__)
    exec(compile(source, name, "exec"), scope)
    return scope[make.__name__]
