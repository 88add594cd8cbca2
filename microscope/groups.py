"""Cooperative groups: ``cuda.cg.this_grid().sync()``, a barrier for all blocks of the grid."""

from __future__ import annotations

import ast

from .errors import Unsupported


class Grid:
    """All threads of a launch: what ``cuda.cg.this_grid()`` gives."""

    def __repr__(self) -> str:
        return "the grid"


GRID = Grid()


def this_grid(run, n: ast.Call, m) -> Grid:
    """``cuda.cg.this_grid()``."""
    run.exactly(n, m, 0)
    return GRID


def is_sync(n: ast.Call) -> bool:
    """Say whether a call looks like the barrier of a group."""
    return isinstance(n.func, ast.Attribute) and n.func.attr == "sync"


def check_sync(owner, n: ast.Call) -> None:
    """Refuse ``.sync()`` of anything but a grid."""
    if owner is not GRID or n.args or n.keywords:
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: only cuda.cg.this_grid() has a sync()")
