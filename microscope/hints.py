"""Loads and stores with a hint for the caches, ``cuda.ldcg(a, i)``: it changes nothing here."""

from __future__ import annotations

import ast

from .errors import Unsupported
from .memory import Array

LOADS = ("ldca", "ldcg", "ldcs", "ldlu", "ldcv")
STORES = ("stcg", "stcs", "stwb", "stwt")


def load(run, n: ast.Call, m):
    """``cuda.ldcg(array, index)``."""
    array, index = run.exactly(n, m, 2)
    return run.memory.load(array, _element(array, index, n), m, n)


def store(run, n: ast.Call, m):
    """``cuda.stcg(array, index, value)``."""
    array, index, v = run.exactly(n, m, 3)
    run.memory.put(array, _element(array, index, n), v, m, n)


def _element(array, index, n: ast.Call) -> tuple:
    index = index if isinstance(index, tuple) else (index,)
    if not isinstance(array, Array) or len(index) != array.ndim:
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: takes an array and the index of an element")
    return index


FUNCTIONS = dict.fromkeys(LOADS, load) | dict.fromkeys(STORES, store)
