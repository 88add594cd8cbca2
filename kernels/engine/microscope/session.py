"""What the runners of one launch share, and how they ask to wait for each other."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .lanes import Mask, Scope
from .memory import Array, of_argument
from .sites import WARP
from .source import Code, code_of
from .tracer import Tracer


@dataclass(eq=False)
class Barrier:
    """A request to wait for the whole block.

    `reduce` is None, "count", "and" or "or"; the launch puts the answer into `result`.
    """

    line: int
    mask: Mask
    runner: Any  # the `interpreter.Runner` that waits
    reduce: str | None = None
    predicate: object = None
    result: object = None


@dataclass(eq=False)
class Frame:
    """One call of a function.

    `scopes` says under which mask a variable was last assigned whole: outside it the variable
    holds nothing that counts, so that it may be overwritten without merging. `settled` holds the
    values of those parts of the current statement that had to be found ahead (see `waiting`).
    """

    code: Code
    env: dict
    scopes: dict[str, Scope] = field(default_factory=dict)
    loops: list[Loop] = field(default_factory=list)
    returned: object = None
    exited: Mask | None = None
    settled: dict[ast.AST, object] = field(default_factory=dict)


@dataclass(eq=False)
class Loop:
    """Lanes that left the current iteration of a loop."""

    broken: Mask | None = None
    continued: Mask | None = None


class Session:
    """What the runners of one launch share.

    Attributes
    ----------
    grid, block : tuple of int
    tracer : Tracer or None
        None in a plain launch, where problems are errors.
    limits : Limits
        What the launch may ask for.
    """

    def __init__(self, grid, block, tracer: Tracer | None, shared_bytes: int, limits):
        self.grid, self.block, self.tracer = grid, block, tracer
        self.limits = limits
        self.dynamic_bytes = shared_bytes
        self.static_bytes = 0
        self.local_bytes: dict[ast.AST, int] = {}
        self.layout: dict[ast.AST, int] = {}  # shared arrays: base address of each declaration
        self.codes: dict[object, Code] = {}
        self.constants: dict[ast.AST, object] = {}
        self.jumps: dict[ast.AST, bool] = {}
        self.waits: dict[ast.AST, bool] = {}
        self.constant_arrays: dict[int, Array] = {}
        self.printed = 0
        self.trips = 0
        self.current: ast.stmt | None = None  # the statement that runs
        self.warps_per_block = -(-math.prod(block) // WARP)
        self.padded_threads = self.warps_per_block * WARP  # so that a number names one warp

    def code(self, function) -> Code:
        """The code of a device function, read once."""
        code = self.codes.get(function)
        if code is None:
            code = self.codes[function] = code_of(function)
        return code

    def constant_array(self, a: np.ndarray, name: str) -> Array:
        """A global array: Numba copies it into constant memory."""
        array = self.constant_arrays.get(id(a))
        if array is None:
            array = of_argument(np.ascontiguousarray(a), name, 0, "constant")
            self.constant_arrays[id(a)] = array
        return array
