"""What is known of a function before it runs, for one set of argument types."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from .source import Code

Types = dict[str, object]


@dataclass(eq=False)
class Compiled:
    """A function compiled for the types of its arguments (see `inference`).

    Attributes
    ----------
    code : Code
    after, head : dict of stmt to dict of str to type
        Types of the variables that matter behind a branch or a loop, and at the head of a loop.
    entry, again : dict of stmt to dict of str to type
        Those variables that have another type when a loop is entered, and when it is repeated.
    unified : dict of expr to type
        Type of a ternary, of ``and`` and ``or``.
    widened : dict of AST to type
        Type of an expression that has another one by its operands alone.
    unbound : dict of Name to type
        Where a name is read that was assigned further up, on branches only that no thread takes.
    calls : dict of Call to Compiled
        Which version of a device function a call means.
    constants : dict of expr to object
        Values of the names from outside, as they were when this was compiled.
    written : set of tuple of int
        Arguments through which an array is changed: positions, and positions in tuples.
    waits : dict of AST to bool
        Whether a piece of source may have to wait for other threads.
    cooperative : bool
        Whether it waits for the whole grid, itself or in what it calls.
    asynchronous : bool
        Whether it has copies, barriers or products of `ptx`: then every warp goes its own way.
    cluster : int
        Blocks of a cluster.
    alignment : int
        Of its dynamic shared memory, in bytes.
    result : type
        Of what the function returns.
    declared : type
        The same by its signature, as `signatures` has it; None if it names none.
    """

    code: Code
    after: dict[ast.stmt, Types] = field(default_factory=dict)
    head: dict[ast.stmt, Types] = field(default_factory=dict)
    entry: dict[ast.stmt, Types] = field(default_factory=dict)
    again: dict[ast.stmt, Types] = field(default_factory=dict)
    unified: dict[ast.expr, object] = field(default_factory=dict)
    widened: dict[ast.AST, object] = field(default_factory=dict)
    unbound: dict[ast.Name, object] = field(default_factory=dict)
    calls: dict[ast.Call, Compiled] = field(default_factory=dict)
    constants: dict[ast.expr, object] = field(default_factory=dict)
    written: set[tuple[int, ...]] = field(default_factory=set)
    waits: dict[ast.AST, bool] = field(default_factory=dict)
    cooperative: bool = False
    asynchronous: bool = False
    cluster: int = 1
    alignment: int = 16
    result: object = None
    declared: object = None
