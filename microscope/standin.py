"""``numba.cuda`` for a while: programs that are written for Numba run in the interpreter.

Where Numba is installed, only its ``cuda`` is replaced; its types and its ``njit`` stay. Where it
isn't, a small ``numba`` stands in that has scalar types, ``jit``, ``njit`` and ``prange``.
"""

from __future__ import annotations

import functools
import importlib
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from . import api
from .signatures import ArrayType

SCALARS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128"
OTHER_NAMES = {"boolean": "bool", "bool_": "bool", "intp": "int64", "uintp": "uint64"}


class ScalarType:
    """A type as ``numba`` names it: it converts, and makes the types of arrays and signatures."""

    __module__ = "numba"  # so that it is known for one of Numba's

    def __init__(self, name: str):
        self.name = name

    def __call__(self, *given):
        if given and all(hasattr(g, "name") or isinstance(g, ArrayType) for g in given):
            return types.SimpleNamespace(args=given, return_type=self)
        return np.dtype(self.name).type(*given)

    def __getitem__(self, axes) -> ArrayType:
        return ArrayType(np.dtype(self.name), len(axes) if isinstance(axes, tuple) else 1)

    def __repr__(self) -> str:
        return self.name


class HostFunction:
    """What ``njit`` makes of a function: Python runs it, and kernels may call it."""

    def __init__(self, function):
        self.py_func = function
        functools.update_wrapper(self, function)

    def __call__(self, *args, **named):
        return self.py_func(*args, **named)


def _jit(function=None, *signature, **options):
    return HostFunction(function) if isinstance(function, types.FunctionType) else HostFunction


def _small_numba() -> types.ModuleType:
    """The ``numba`` of an environment without Numba."""
    numba = types.ModuleType("numba", "The part of Numba that kernels need.")
    names = {name: ScalarType(name) for name in SCALARS.split()}
    names |= {name: ScalarType(meant) for name, meant in OTHER_NAMES.items()}
    names |= {"void": ScalarType("none"), "none": ScalarType("none")}
    vars(numba).update(names, types=types.SimpleNamespace(**names))
    vars(numba).update(jit=_jit, njit=_jit, prange=range, __path__=[])

    def lacking(name: str):
        raise AttributeError(
            f"numba.{name} is not in the microscope's small numba: install numba-cuda"
        )

    numba.__getattr__ = lacking
    return numba


def _available() -> bool:
    """Say that there is a GPU, for programs that go another way without one."""
    return True


@contextmanager
def stand_in_for_numba() -> Iterator[None]:
    """Let ``from numba import cuda`` give the interpreter, for the time of a with block.

    What is imported meanwhile keeps it, and ``cuda.is_available()`` says yes until the end. Kernels
    that are decorated with signatures need this where there is no GPU: numba-cuda would compile
    them at once, for the GPU of the machine.
    """
    try:
        numba = importlib.import_module("numba")
        importlib.import_module("numba.cuda")
    except ImportError:
        numba = _small_numba()
    modules = {
        "numba": numba,
        "numba.cuda": api,
        "numba.cuda.bf16": api.bf16,
        "numba.cuda.random": api.random,
        "numba.types": numba.types,
    }
    before = {name: sys.modules.get(name) for name in modules}
    own, asked = vars(numba).get("cuda"), api.is_available
    sys.modules.update(modules)
    numba.cuda = api
    api.is_available = _available
    api.__path__ = getattr(own, "__path__", [])  # where its other modules are found
    try:
        yield
    finally:
        api.is_available = asked
        del api.__path__
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
        if own is not None:
            numba.cuda = own
