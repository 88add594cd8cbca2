"""What expressions are worth in every lane: who needs an operand, and who lacks a variable."""

from __future__ import annotations

import ast

import numpy as np

from . import bfloat16, values
from .errors import KernelError, OutOfBounds, raised
from .lanes import Mask
from .memory import Array, Buffer
from .sites import Kind, Problem
from .statements import Statements
from .variables import MISSING, PossiblyUnbound, convert, garbage, select


class LaneExpressions(Statements):
    """The side of a runner that computes values."""

    def evaluate(self, n, m: Mask):
        hoisted = self.frame.hoisted
        if hoisted and n in hoisted:
            return hoisted[n]
        v = self.EXPRESSIONS[type(n)](self, n, m)
        widened = self.frame.compiled.widened
        return convert(widened[n], v) if widened and n in widened else v

    # -- variables

    def evaluate_name(self, n: ast.Name, m: Mask):
        v = self.frame.env.get(n.id, MISSING)
        if v is not MISSING:
            return self.bound(v, n, m) if type(v) is PossiblyUnbound else v
        if n in self.frame.compiled.unbound:
            return self.bound(self.unbound(n), n, m)
        if n.id in self.frame.code.locals:
            raise KernelError(f"line {n.lineno}: {n.id} is used before any thread gives it a value")
        return self.outer(n)

    def unbound(self, n: ast.Name) -> PossiblyUnbound:
        """A variable that no thread has assigned."""
        frame = self.frame
        value = garbage(frame.compiled.unbound[n])
        return PossiblyUnbound(value, np.ones((1, 1, 1, 1), bool), frame.code.flow.lines[n.id])

    def bound(self, v: PossiblyUnbound, n: ast.Name, m: Mask):
        """The value of a variable that some lanes never assigned: none of them may be here."""
        lacking = v.unbound if m.array is None else v.unbound & m.array
        if lacking.any():
            self.never_assigned(v, lacking, n)
        return v.value

    def never_assigned(self, v, lacking: np.ndarray, n: ast.Name) -> None:
        """Note lanes that read a variable to which only others, or none, have given a value."""
        block, thread, _ = self.lanes.first(lacking)
        message = (
            f"thread {thread} of block {block} reads {n.id}, which it has never assigned: line "
            f"{v.line} "
            "does so for other threads only, or for none; give it a value on every way here"
        )
        problem = Problem(
            Kind.UNINITIALISED,
            line=n.lineno,
            other_line=v.line,
            block=block,
            thread=thread,
            message=message,
        )
        self.problem((Kind.UNINITIALISED, n), problem, self.lane_count(lacking))

    # -- operators

    def binary(self, n, a, b, m: Mask):
        if self.session.debug and type(n.op) in (ast.Div, ast.FloorDiv, ast.Mod):
            self.check_divisor(n, b, m)
        v = super().binary(n, a, b, m)
        if self.tracer is not None and bfloat16.is_one(v):
            self.tracer.count_flops(v.kind.title, m.n, n.lineno)
        elif self.tracer is not None and not isinstance(v, tuple) and v.dtype.kind == "f":
            self.tracer.count_flops(v.dtype.name, m.n, n.lineno)
        return v

    def check_divisor(self, n, b, m: Mask) -> None:
        """A division by zero ends the run, as it does on a GPU under ``debug=True``."""
        zero = bfloat16.plain(b) == 0
        if m.array is not None:
            zero = zero & m.array
        if np.any(zero):
            block, thread, _ = self.lanes.first(
                np.asarray(zero).reshape(np.shape(zero) or (1,) * 4)
            )
            raise raised(
                ZeroDivisionError,
                f"line {n.lineno}: {ast.unparse(n)} divides by zero in thread {thread} of block "
                f"{block}",
            )

    def evaluate_bool(self, n: ast.BoolOp, m: Mask):
        is_and = isinstance(n.op, ast.And)
        v = self.evaluate(n.values[0], m)
        for x in n.values[1:]:
            condition = values.truth(v)
            yes, no = self.lanes.split(condition, m)
            need = yes if is_and else no
            if need is None:
                break
            other = self.evaluate(x, need)
            if need is m:
                v = other
            elif v.dtype == other.dtype == values.BOOL:
                v = (v & other) if is_and else (v | other)
            else:
                t = self.frame.compiled.unified[n]
                v, other = convert(t, v), convert(t, other)
                v = np.where(condition, other, v) if is_and else np.where(condition, v, other)
        return convert(self.frame.compiled.unified[n], v)

    def evaluate_compare(self, n: ast.Compare, m: Mask):
        left, result = self.evaluate(n.left, m), None
        for op, x in zip(n.ops, n.comparators, strict=True):
            if result is not None:
                m, _ = self.lanes.split(values.truth(result), m)
                if m is None:
                    return result
            right = self.evaluate(x, m)
            v = self.compare(op, left, right, n)
            result = v if result is None else result & v
            left = right
        return result

    def evaluate_ternary(self, n: ast.IfExp, m: Mask):
        condition = values.truth(self.evaluate(n.test, m))
        yes, no = self.lanes.split(condition, m)
        t = self.frame.compiled.unified[n]
        if no is None:
            return convert(t, self.evaluate(n.body, m))
        if yes is None:
            return convert(t, self.evaluate(n.orelse, m))
        a, b = convert(t, self.evaluate(n.body, yes)), convert(t, self.evaluate(n.orelse, no))
        return select(yes.array, a, b, n)

    # -- tuples

    def item_of(self, a: tuple, index: tuple, m: Mask, n):
        i = index[0]
        if not isinstance(i, np.ndarray):
            return self.known_item(a, index, n)
        self.check_item(a, index, n)
        i, bad = self.memory.wrap(i, len(a), m, n, Array(_items(len(a)), 0, (len(a),), (1,)))
        if bad is not None:
            raise OutOfBounds(f"line {n.lineno}: {ast.unparse(n)} is outside a tuple of {len(a)}")
        found = a[0]
        for k, item in enumerate(a[1:], 1):
            found = select(i == k, item, found, n)
        return found

    def must_be_known(self, v, n: ast.expr) -> None:
        """Nothing: the compiler has refused it."""

    EXPRESSIONS = Statements.EXPRESSIONS | {
        ast.Name: evaluate_name,
        ast.BoolOp: evaluate_bool,
        ast.Compare: evaluate_compare,
        ast.IfExp: evaluate_ternary,
    }


def _items(n: int) -> Buffer:
    """The items of a tuple as if they were an array, for messages."""
    return Buffer("the tuple", "local", np.dtype(np.int64), n, np.empty(0), 0, (n,), (1,))
