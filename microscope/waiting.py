"""Expressions that must wait: those that hold a barrier, or call a function that may.

`evaluate` cannot stop in the middle. So what a statement holds up to its last barrier is found
ahead, part by part in Python's order, by generators that yield at the barriers; `evaluate` then
comes upon the values in the frame.
"""

from __future__ import annotations

import ast

import numpy as np

from . import groups, intrinsics, ptx, signatures, values
from .expressions import is_device_function
from .lanes import Mask
from .session import Barrier


class WaitingExpressions:
    """Evaluates what may wait for other threads in the middle of an expression.

    Parameters
    ----------
    run : Runner
        Who evaluates the parts that don't wait, and calls functions.
    """

    def __init__(self, run):
        self.run = run

    def waits(self, n: ast.AST) -> bool:
        """Say whether a piece of source may have to wait."""
        waits = self.run.frame.compiled.waits
        known = waits.get(n)
        if known is None:
            calls = (x for x in ast.walk(n) if isinstance(x, ast.Call))
            known = waits[n] = any(self.is_waiting_call(x) for x in calls)
        return known

    def is_waiting_call(self, n: ast.AST) -> bool:
        """Say whether this is a call of a barrier or a device function."""
        if not isinstance(n, ast.Call):
            return False
        target = self.run.callee(n.func)
        if target is None and groups.is_sync(n):
            return True
        if is_device_function(target) or ptx.waits(target):
            return True
        return getattr(target, "name", None) in intrinsics.BARRIERS

    def value(self, n: ast.expr, m: Mask):
        """The value of an expression that may have to wait (a generator)."""
        if not self.waits(n):
            return self.run.evaluate(n, m)
        yield from self.hoist(n, m)
        v = self.run.evaluate(n, m)
        self.run.frame.hoisted.clear()
        return v

    def hoist(self, n: ast.expr, m: Mask):
        """Find the value of an expression ahead, in Python's order (a generator)."""
        if not self.waits(n) and not isinstance(n, (ast.Tuple, ast.Slice)):
            self.run.frame.hoisted[n] = self.run.evaluate(n, m)
            return
        how = self.HOISTED_IN_TURN.get(type(n))
        if how is not None:
            yield from how(self, n, m)
            return
        for part in parts(n):
            yield from self.hoist(part, m)
        if self.is_waiting_call(n):
            self.run.frame.hoisted[n] = yield from self.wait(n, m)
        elif isinstance(n, ast.Call):
            self.run.frame.hoisted[n] = self.run.evaluate(n, m)

    def hoist_ternary(self, n: ast.IfExp, m: Mask):
        yield from self.hoist(n.test, m)
        yes, no = self.run.lanes.split(values.truth(self.run.evaluate(n.test, m)), m)
        for side, lanes in ((n.body, yes), (n.orelse, no)):
            if lanes is not None:
                yield from self.hoist(side, lanes)

    def hoist_bool(self, n: ast.BoolOp, m: Mask | None):
        for x in n.values:
            yield from self.hoist(x, m)
            yes, no = self.run.lanes.split(values.truth(self.run.evaluate(x, m)), m)
            m = yes if isinstance(n.op, ast.And) else no
            if m is None:
                return

    def hoist_compare(self, n: ast.Compare, m: Mask | None):
        yield from self.hoist(n.left, m)
        left = self.run.evaluate(n.left, m)
        for op, x in zip(n.ops, n.comparators, strict=True):
            yield from self.hoist(x, m)
            right = self.run.evaluate(x, m)
            m, _ = self.run.lanes.split(values.truth(self.run.compare(op, left, right, n)), m)
            if m is None:
                return
            left = right

    def wait(self, n: ast.Call, m: Mask):
        """Call a barrier or a device function (a generator)."""
        target = self.run.callee(n.func)
        if is_device_function(target):
            compiled = self.run.frame.compiled.calls[n]
            name = f"line {n.lineno}: {target.__name__}"
            env = compiled.code.bind(*self.run.passed(n, m), name)
            env, _ = signatures.passed(target, name, env)
            return (yield from self.run.call(compiled, env, m))
        if target is None:
            groups.check_sync(self.run.evaluate(n.func.value, m), n)
            yield Barrier(n.lineno, m, self.run, whole_grid=True)
            return np.int32(0)
        if ptx.waits(target):
            return (yield from ptx.wait(self.run, target, n, m))
        reduce = intrinsics.BARRIERS[target.name]
        arguments = intrinsics.barrier_arguments(self.run, target.name, n, m)
        request = Barrier(
            n.lineno, m, self.run, reduce, values.truth(arguments[0]) if reduce else None
        )
        yield request
        return request.result

    HOISTED_IN_TURN = {
        ast.IfExp: hoist_ternary,
        ast.BoolOp: hoist_bool,
        ast.Compare: hoist_compare,
    }


def parts(n: ast.AST) -> list[ast.expr]:
    """The expressions that a node evaluates, in Python's order."""
    match n:
        case ast.Call():
            return [*map(_unstarred, n.args), *(k.value for k in n.keywords)]
        case ast.Assign():
            return [n.value, *(x for t in n.targets for x in _of_target(t))]
        case ast.AnnAssign():
            return [n.value, *_of_target(n.target)]
        case ast.AugAssign():
            return [*_of_target(n.target), n.value]
    return [x for x in ast.iter_child_nodes(n) if isinstance(x, ast.expr)]


def _unstarred(x: ast.expr) -> ast.expr:
    return x.value if isinstance(x, ast.Starred) else x


def _of_target(target: ast.expr) -> list[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        return [x for t in target.elts for x in _of_target(t)]
    return parts(target) if isinstance(target, ast.Subscript) else []
