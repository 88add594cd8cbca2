"""The types of expressions: evaluated with numbers that stand for their types.

A few numbers are known to the compiler, as Numba's is: literals, constants, and variables that hold
one. They decide conditions, whose other way is never looked at. Types of one piece of source only
ever widen, from pass to pass and from branch to branch (`unify`).
"""

from __future__ import annotations

import ast
from typing import NamedTuple

import numpy as np

from . import values
from .describing import describe, describe_value
from .errors import KernelError, Unsupported
from .lanes import Mask
from .memory import Array
from .session import Frame
from .statements import Statements
from .typed_memory import TypedMemory, sample_array
from .values import Literal
from .variables import MISSING, type_of

END = (1 << 31, 0)  # behind the last line


class Missing(KernelError):
    """A variable has no type: it may get one in the next pass."""


class Folded(NamedTuple):
    """A number that the compiler knows a variable to have; one for each assignment.

    What a comparison has given is known where it is a condition, and nowhere else.
    """

    number: object
    compared: bool = False


def folded_name(name: str) -> str:
    """Where the variables keep what is `Folded` of one: no name of Python's."""
    return f"{name}="


class TypedExpressions(Statements):
    """Evaluates expressions of one function.

    Parameters
    ----------
    memory : TypedMemory
    frame : Frame
        Its `compiled` is filled.

    Attributes
    ----------
    seen : dict
        What each expression and each join has been, over all passes.
    first : dict of str to tuple
        Where each variable is assigned first, and what it is.
    errors : list of KernelError
        What lacked a type in this pass.
    untyped : set of str
        Variables whose assignment has failed.
    changed : bool
        Whether a type has widened in this pass.
    final : bool
        Whether a variable that is not there by now never will be.
    """

    def __init__(self, memory: TypedMemory, frame: Frame):
        super().__init__(memory)
        self.memory: TypedMemory
        self.frame, self.compiled = frame, frame.compiled
        self.seen: dict[object, object] = {}
        self.first: dict[str, tuple] = {}
        self.errors: list[KernelError] = []
        self.untyped: set[str] = set()
        self.changed = self.final = False

    @property
    def env(self) -> dict:
        return self.frame.env

    def evaluate(self, n, m: Mask):
        handler = self.EXPRESSIONS.get(type(n))
        if handler is None:
            raise Unsupported(n.lineno, f"{describe(n)} cannot be used in a kernel")
        return self.noted(n, handler(self, n, m))

    # -- types that widen

    def noted(self, n: ast.AST, v):
        """A value with all types that this piece of source has had."""
        wide = self.widened(n, v)
        if type_of(wide) != type_of(v):
            self.compiled.widened[n] = type_of(wide)
        return wide

    def widened(self, key, v):
        """A stand-in for all types that something has had: they only ever widen."""
        if isinstance(v, tuple):
            return values.rebuilt(v, (self.widened((key, k), x) for k, x in enumerate(v)))
        if not values.is_value(v):
            return v
        old = self.seen.get(key, v)
        d = np.promote_types(old.dtype, v.dtype)
        if d != v.dtype or type(v) is Literal and not (type(old) is Literal and old == v):
            v = values.sample(d)
        if key not in self.seen or (d, type(v)) != (old.dtype, type(old)):
            self.seen[key], self.changed = v, True
        return v

    def phi(self, name: str, incoming: list, n: ast.AST):
        """A stand-in for the type that all values have in common which come together."""
        v, *others = incoming
        for other in others:
            v = self.unify(v, other, n, name)
        return v

    def unify(self, a, b, n: ast.AST, name: str):
        """A stand-in for the type that two values have in common."""
        if a is b:
            return a
        if values.is_value(a) and values.is_value(b):
            if type(a) is Literal and type(b) is Literal and a == b:
                return a
            return values.sample(np.promote_types(a.dtype, b.dtype))
        if isinstance(a, tuple) and isinstance(b, tuple) and values.same_kind(a, b):
            return values.rebuilt(a, (self.unify(x, y, n, name) for x, y in zip(a, b, strict=True)))
        if isinstance(a, Array) and isinstance(b, Array) and (a.dtype, a.ndim) == (b.dtype, b.ndim):
            if a.buffer is b.buffer:
                return a if a.strides == b.strides else b
            array = sample_array(a if not a.contiguous else b)
            self.memory.derive(array, a, b)
            return array
        raise Unsupported(
            n.lineno,
            f"{name} would be {describe_value(a)} in some threads and {describe_value(b)} in "
            "others: give it one type",
        )

    def one_of(self, items: tuple, n: ast.expr):
        """A stand-in for any item of a tuple: they must have one type."""
        if not items:
            raise Unsupported(n.lineno, f"{ast.unparse(n)}: the tuple is empty")
        kinds = {str(type_of(x)) for x in items}
        if len(kinds) > 1 and not all(type(x) is Literal for x in items):
            what = ", ".join(dict.fromkeys(map(describe_value, items)))
            raise Unsupported(
                n.lineno,
                f"{ast.unparse(n)}: the items must have one type to be taken in turn, and are "
                f"{what}: convert them, as in float32(...)",
            )
        return self.plain(items[0])

    # -- numbers that the compiler knows

    def folded_test(self, n: ast.expr) -> bool | None:
        """The truth of a condition that the compiler decides: it never looks at the other way."""
        if not isinstance(n, ast.Compare):
            entry = self.env.get(folded_name(n.id)) if isinstance(n, ast.Name) else None
            v = self.folded(n) if entry is None else entry.number
            return None if v is MISSING else bool(v)
        sides = [self.folded(x) for x in (n.left, *n.comparators)]
        links = [
            None if a is MISSING or b is MISSING else bool(self.compare(op, a, b, n))
            for op, a, b in zip(n.ops, sides, sides[1:], strict=False)
        ]
        return False if False in links else None if None in links else True

    def folded_condition(self, n: ast.expr) -> bool | None:
        """Which way a condition goes with what is known here, if anything is."""
        if isinstance(n, ast.BoolOp):
            ends = isinstance(n.op, ast.Or)
            outcomes = [self.folded_condition(x) for x in n.values]
            return ends if ends in outcomes else None if None in outcomes else not ends
        if isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.Not):
            outcome = self.folded_condition(n.operand)
            return None if outcome is None else not outcome
        return self.folded_test(n)

    def folded(self, n: ast.expr):
        """A number, a text or None that the compiler knows; `MISSING` if it does not."""
        code = self.frame.code
        if isinstance(n, ast.IfExp):
            outcome = self.folded_condition(n.test)
            return MISSING if outcome is None else self.folded(n.body if outcome else n.orelse)
        if isinstance(n, ast.Name) and folded_name(n.id) in self.env:
            entry = self.env[folded_name(n.id)]
            return MISSING if entry.compared else entry.number
        if isinstance(n, ast.Name) and n.id in code.parameters:
            return None if self.env.get(n.id, MISSING) is None else MISSING
        if isinstance(n, ast.Name) and n.id in code.flow.once:
            return self.folded(code.flow.once[n.id])
        if isinstance(n, ast.Constant):
            return values.literal(n.value)
        if not isinstance(n, ast.Name) or n.id in code.locals:  # nor an attribute such as math.pi
            return MISSING
        v = self.constant(n)
        return v if isinstance(v, (np.generic, str, type(None))) else MISSING

    @classmethod
    def plain(cls, v):
        """A value whose numbers the compiler has forgotten."""
        if isinstance(v, tuple):
            return values.rebuilt(v, map(cls.plain, v))
        return np.int64(v) if type(v) is Literal else v

    def evaluate_constant(self, n: ast.Constant, m: Mask):
        v = super().evaluate_constant(n, m)
        return Literal(v) if type(v) is np.int64 else v

    def constant(self, n):
        return self.literal(super().constant(n))

    def literal(self, v):
        """A constant whose numbers the compiler knows."""
        if isinstance(v, tuple):
            return values.rebuilt(v, map(self.literal, v))
        return Literal(v) if type(v) is np.int64 else v

    def must_be_known(self, v, n: ast.expr) -> None:
        for x in v if isinstance(v, tuple) else (v,):
            if type(x) is not Literal:
                raise Unsupported(
                    n.lineno,
                    f"{ast.unparse(n)} must be known when the kernel is compiled: use a number, a "
                    "global, or a kernel made by a function",
                )

    # -- conditions

    def condition(self, n: ast.expr) -> bool | None:
        """Check a condition; which way it goes, if the compiler knows it.

        Each part of ``and`` and ``or`` is a branch of its own: what stands behind one whose way is
        known is never looked at.
        """
        if isinstance(n, ast.BoolOp):
            return self.conditions(n)
        if isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.Not):
            outcome = self.condition(n.operand)
            return None if outcome is None else not outcome
        try:
            self.tested(n)
        except Missing as error:
            self.errors.append(error)
            return None
        return self.folded_test(n)

    def conditions(self, n: ast.BoolOp) -> bool | None:
        self.compiled.unified[n] = values.BOOL
        ends = isinstance(n.op, ast.Or)
        outcomes = []
        for x in n.values:
            outcomes.append(self.condition(x))
            if outcomes[-1] is ends:
                return ends
        return None if None in outcomes else not ends

    def tested(self, n: ast.expr):
        """The value of an expression that must be a number."""
        v = self.evaluate(n, self.lanes.all)
        if not values.is_value(v):
            raise Unsupported(
                n.lineno,
                f"{ast.unparse(n)}: a condition is a number, not {describe_value(v)}: compare it",
            )
        return v

    # -- variables

    def evaluate_name(self, n: ast.Name, m: Mask):
        code = self.frame.code
        lost, early = n.id in code.locals and n.id not in self.env, n in code.flow.early
        if lost and not early and self.final and n.id not in self.untyped:
            _, v = self.first.get(n.id, (END, MISSING))
            if v is not MISSING:
                self.compiled.unbound[n] = type_of(v)
                return v
        if lost or early:
            raise Missing(
                f"line {n.lineno}: {n.id} is used before any thread gives it a value: assign it "
                "further up"
            )
        return self.env[n.id] if n.id in self.env else self.outer(n)

    def store_name(self, target: ast.Name, v) -> None:
        super().store_name(target, v)
        if values.is_value(v):
            v = self.widened(("stored", target), self.plain(v))
            self.note_first(target, v)

    def note_first(self, target: ast.Name, v) -> None:
        """Keep the type of a variable's first assignment, which is that of reads before any.

        Where all threads come to an assignment, Numba begins a new variable.
        """
        place = target.lineno, target.col_offset
        first, known = self.first.get(target.id, (END, MISSING))
        if place < self.frame.code.flow.renewed.get(target.id, END) and place <= first:
            self.first[target.id] = place, known if v is MISSING and place == first else v

    # -- operators

    def binary(self, n, a, b, m: Mask):
        v = super().binary(n, a, b, m)
        return self.noted(n, v) if isinstance(n, ast.AugAssign) else v

    def evaluate_bool(self, n: ast.BoolOp, m: Mask):
        ends, incoming = isinstance(n.op, ast.Or), []
        for x in n.values:
            v, outcome = self.tested(x), self.folded_test(x)
            if outcome is not (not ends) or x is n.values[-1]:
                incoming.append(v)
            if outcome is ends:
                break
        return self.unified(n, incoming)

    def evaluate_ternary(self, n: ast.IfExp, m: Mask):
        known = self.condition(n.test)
        sides = [n.body] if known is True else [n.orelse] if known is False else [n.body, n.orelse]
        incoming, lacking = [], None
        for x in sides:  # a side that has no type yet leaves it to the other
            try:
                incoming.append(self.evaluate(x, m))
            except Missing as error:
                self.errors.append(error)
                lacking = error
        if not incoming:
            raise lacking
        return self.unified(n, incoming)

    def unified(self, n: ast.expr, incoming: list):
        """A stand-in for an expression that has one of several values."""
        v = self.phi(ast.unparse(n), incoming, n)
        self.compiled.unified[n] = type_of(v)
        return v

    def evaluate_compare(self, n: ast.Compare, m: Mask):
        sides = [n.left, *n.comparators]
        operands = [self.evaluate(x, m) for x in sides]
        result = None
        for op, left, right in zip(n.ops, operands, operands[1:], strict=False):
            v = self.compare(op, left, right, n)
            result = v if result is None else result & v
        return result

    def contains(self, left, right, n):
        if isinstance(right, tuple):
            self.one_of(right, n)
        return super().contains(left, right, n)

    def item_of(self, a: tuple, index: tuple, m: Mask, n):
        if type(index[0]) is Literal or isinstance(index[0], slice):
            return self.known_item(a, index, n)
        self.check_item(a, index, n)
        return self.one_of(a, n)

    EXPRESSIONS = Statements.EXPRESSIONS | {
        ast.Constant: evaluate_constant,
        ast.Name: evaluate_name,
        ast.BoolOp: evaluate_bool,
        ast.IfExp: evaluate_ternary,
        ast.Compare: evaluate_compare,
    }
