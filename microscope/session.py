"""What the runners of one launch share, and how they ask to wait for each other."""

from __future__ import annotations

import ast
import math
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from .compiled import Compiled
from .errors import KernelError, StopRun, Unsupported
from .lanes import Mask
from .sites import WARP
from .source import Code
from .tracer import Tracer
from .variables import Join


@dataclass(eq=False)
class Barrier:
    """A request to wait for the whole block, or for the whole grid.

    `reduce` is None, "count", "and" or "or"; the launch puts the answer into `result`. A barrier of
    the `whole_grid` waits for all blocks.
    """

    line: int
    mask: Mask
    runner: Any  # the `interpreter.Runner` that waits
    reduce: str | None = None
    predicate: object = None
    result: object = None
    whole_grid: bool = False


@dataclass(eq=False)
class Frame:
    """One call of a function.

    `env` holds the variables of the branch that runs. `hoisted` holds the values of those parts of
    the current statement that had to be found ahead (see `waiting`).
    """

    compiled: Compiled
    env: dict
    loops: list[Loop] = field(default_factory=list)
    returned: object = None
    exited: Mask | None = None
    hoisted: dict[ast.AST, object] = field(default_factory=dict)

    @property
    def code(self) -> Code:
        return self.compiled.code


@dataclass(eq=False)
class Loop:
    """A loop that runs: where its lanes go.

    Attributes
    ----------
    behind : Join
        Lanes that have left it.
    next : Join or None
        Lanes that wait for the next iteration.
    """

    behind: Join
    next: Join | None = None


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
        self.alignment = 16  # of dynamic shared memory, in bytes
        self.local_bytes: dict[ast.AST, int] = {}
        self.layout: dict[ast.AST, int] = {}  # shared arrays: base address of each declaration
        self.debug = False  # whether a division by zero is an error
        self.addresses: dict = {}  # numbers of the arrays whose addresses a kernel takes
        self.printed = 0
        self.trips = 0
        self.turns = 0  # how often other warps have run in between
        self.current: ast.stmt | None = None  # the statement that runs
        self.warps_per_block = -(-math.prod(block) // WARP)
        self.padded_threads = self.warps_per_block * WARP  # so that a number names one warp

    @contextmanager
    def explained(self):
        """Name the line for whatever NumPy or Python finds wrong with a statement."""
        try:
            yield
        except (KernelError, StopRun):
            raise
        except (
            TypeError,
            ValueError,
            AttributeError,
            ArithmeticError,
            LookupError,
            MemoryError,
        ) as error:
            what = str(error).partition("\n")[0]
            text = ast.unparse(self.current).partition("\n")[0]
            raise Unsupported(self.current.lineno, f"{text}: {what}") from error
