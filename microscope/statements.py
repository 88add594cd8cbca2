"""Statements that hold no others: one method each. They run the same for types as for values."""

from __future__ import annotations

import ast

import numpy as np

from .errors import KernelError, Unsupported
from .expressions import Expressions
from .lanes import Mask
from .memory import Array
from .variables import convert


class Statements(Expressions):
    """The side of a runner that assigns."""

    def assign(self, s: ast.Assign, m: Mask):
        v = self.evaluate(s.value, m)
        for target in s.targets:
            self.store(target, v, m)
        return m

    def annotated(self, s: ast.AnnAssign, m: Mask):
        if s.value is not None:
            self.store(s.target, self.evaluate(s.value, m), m)
        return m

    def augmented(self, s: ast.AugAssign, m: Mask):
        target = s.target
        if isinstance(target, ast.Name):
            old = self.evaluate_name(target, m)
            self.store(target, self.combined(s, old, m), m)
        elif isinstance(target, ast.Subscript):
            array, index = self.evaluate(target.value, m), self.index(target.slice, m)
            old = self.part(array, index, m, target)
            self.memory.put(array, index, self.combined(s, old, m), m, target, checked=True)
        elif isinstance(target, ast.Attribute):
            record = self.record_of(target, m)
            old = self.memory.field(record, target.attr, m, target)
            self.memory.put_field(record, target.attr, self.combined(s, old, m), m, target)
        else:
            raise Unsupported(s.lineno, f"cannot assign to {ast.unparse(target)}")
        return m

    def record_of(self, target: ast.Attribute, m: Mask) -> Array:
        """The record to whose field something is assigned."""
        owner = None if self.is_constant(target.value) else self.evaluate(target.value, m)
        if not isinstance(owner, Array) or target.attr not in (owner.dtype.names or ()):
            raise Unsupported(target.lineno, f"cannot assign to {ast.unparse(target)}")
        return owner

    def combined(self, s: ast.AugAssign, old, m: Mask):
        """What ``old += value`` makes of a value."""
        v = self.binary(s, old, self.evaluate(s.value, m), m)
        widened = self.frame.compiled.widened
        return convert(widened[s], v) if s in widened else v

    def expression(self, s: ast.Expr, m: Mask):
        if not isinstance(s.value, ast.Constant):
            self.unused = s.value
            self.evaluate(s.value, m)
        return m

    def nothing(self, s, m: Mask):
        return m

    def store(self, target, v, m: Mask) -> None:
        """Assign to a name, an element, or a tuple of them."""
        if isinstance(target, ast.Name):
            self.store_name(target, v)
        elif isinstance(target, ast.Subscript):
            array, index = self.evaluate(target.value, m), self.index(target.slice, m)
            self.memory.put(array, index, v, m, target)
        elif isinstance(target, ast.Attribute):
            self.memory.put_field(self.record_of(target, m), target.attr, v, m, target)
        elif isinstance(target, (ast.Tuple, ast.List)):
            if isinstance(v, Array):
                v = self.elements_of(v, len(target.elts), m, target)
            if not isinstance(v, tuple) or len(v) != len(target.elts):
                raise Unsupported(
                    target.lineno,
                    f"{len(target.elts)} names on the left, but the right side is "
                    + (f"a tuple of {len(v)}" if isinstance(v, tuple) else "no tuple"),
                )
            for t, x in zip(target.elts, v, strict=True):
                self.store(t, x, m)
        else:
            raise Unsupported(target.lineno, f"cannot assign to {ast.unparse(target)}")

    def elements_of(self, a: Array, count: int, m: Mask, target) -> tuple:
        """What ``x, y, z = a`` takes from an array: as many elements, or rows, as there are."""
        what = f"line {target.lineno}: {count} names on the left, but {a.name} has another length"
        self.memory.check_sizes(np.all(a.shape[0] == count), KernelError(what))
        return tuple(self.memory.load(a, (np.int64(k),), m, target) for k in range(count))

    def store_name(self, target: ast.Name, v) -> None:
        """Give a variable its value in the lanes that are here; others have variables of theirs."""
        if target.id not in self.frame.code.locals:
            raise Unsupported(
                target.lineno, f"a kernel cannot change the global {target.id}: pass an array"
            )
        if isinstance(v, Array) and v.buffer.name is None:
            v.buffer.name = target.id
        self.frame.env[target.id] = v

    SIMPLE = {
        ast.Assign: assign,
        ast.AugAssign: augmented,
        ast.AnnAssign: annotated,
        ast.Expr: expression,
        ast.Pass: nothing,
        ast.Global: nothing,
    }
