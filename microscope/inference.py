"""Finds the types of a function's variables before it runs, as Numba's compiler does.

The function is gone through with numbers that stand for their types, from top to bottom: both sides
of every branch, and every loop once. Types of variables flow back to the head of a loop, so it is
gone through again until none changes; they only ever widen, and what a first pass took for an
integer may leave its mark. Every expression is evaluated by the same code that will run it, so that
it has the same type there, and what Numba refuses is refused here. What is remembered is where
branches join: the type that a variable has from there on (see `compiled`).
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from . import flow, functions, groups, intrinsics, memory, ptx, signatures, values
from .abstract_memory import AbstractMemory, sample_array, stand_in
from .compiled import Compiled
from .errors import KernelError, Unsupported
from .expressions import is_device_function
from .iterables import Elements, Enumerate, Tuple, Zip, iterable
from .lanes import Mask
from .limits import LIMITS
from .memory import Array
from .session import Frame, Session
from .source import Code, code_of, unrolled
from .statements import Statements
from .values import Literal
from .variables import MISSING, item_at, type_of
from .wording import describe, describe_value

Env = dict | None  # None where no thread can come
ANYTHING = replace(LIMITS, shared_bytes=1 << 62)
PASSES = 100  # more than any kernel needs
END = (1 << 31, 0)  # behind the last line


def compile_kernel(code: Code, arguments: list) -> Compiled:
    """Compile a kernel for the types of its arguments.

    Raises
    ------
    KernelError
        If Numba would refuse it, or if the interpreter does not know a construct.
    """
    origins: dict[memory.Buffer, frozenset] = {}
    samples = [stand_in(a, (k,), origins) for k, a in enumerate(arguments)]
    env = code.bind(samples, {}, code.name)
    inference = TypeInference(Compiled(unrolled(code, env)), env, origins, ())
    with np.errstate(all="ignore"), inference.session.explained():
        inference.run()
    inference.compiled.alignment = inference.session.alignment
    return inference.compiled


class Missing(KernelError):
    """A variable has no type: it may get one in the next pass."""


class Known(NamedTuple):
    """A number that the compiler knows a variable to have; one for each assignment.

    What a comparison has given is known where it is a condition, and nowhere else.
    """

    number: object
    compared: bool = False


def known_of(name: str) -> str:
    """Where the variables keep what is `Known` of one: no name of Python's."""
    return f"{name}="


class TypeInference(Statements):
    """Goes through one function.

    Parameters
    ----------
    compiled : Compiled
        Filled.
    env : dict
        The parameters.
    origins : dict
        Of the parameters' arrays, as `stand_in` fills it.
    stack : tuple of TypeInference
        Who called it, from the kernel on.
    """

    def __init__(
        self, compiled: Compiled, env: dict, origins: dict, stack: tuple[TypeInference, ...]
    ):
        session = Session((1, 1, 1), (1, 1, 1), None, 0, ANYTHING)
        if stack:
            session = stack[0].session
        super().__init__(AbstractMemory(session, origins, compiled.written))
        self.memory: AbstractMemory
        self.compiled, self.stack = compiled, stack
        self.frame = Frame(compiled, env)
        declared = compiled.declared
        self.result = values.sample(declared) if isinstance(declared, np.dtype) else MISSING
        self.loops: list[tuple[list[Env], list[Env]]] = []  # variables at each break and continue
        self.key = (declared, *map(type_of, env.values()))
        self.versions: dict[tuple, TypeInference] = stack[0].versions if stack else {}
        self.seen: dict[object, object] = {}  # what each expression and each join has been
        self.backs: dict[ast.stmt, dict[str, list]] = {}  # what the last pass sent to a loop's head
        self.first: dict[str, tuple] = {}  # where each variable is assigned first, and what it is
        self.errors: list[KernelError] = []
        self.untyped: set[str] = set()  # variables whose assignment has failed
        self.changed = False
        self.final = False  # a variable that is not there by now never will be

    @property
    def env(self) -> dict:
        return self.frame.env

    def run(self) -> None:
        """Go through the whole function until no type changes."""
        code, parameters = self.compiled.code, dict(self.env)
        for _ in range(PASSES):
            self.changed, self.errors, self.untyped = False, [], set()
            self.frame.env = dict(parameters)
            falls_through = self.block(code.node.body)
            if not self.changed:
                if self.final or not self.errors:
                    break
                self.final = True
        if self.errors:
            raise self.errors[0]
        if falls_through:
            signatures.returned(self.compiled.declared, None, code.node.lineno, code.name)
        if falls_through and self.result is not MISSING and self.result is not None:
            raise Unsupported(
                code.node.lineno,
                f"{code.name} returns a value in some threads and none in others: end it with a "
                "return",
            )
        self.compiled.result = None if self.result is MISSING else type_of(self.result)

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

    # -- statements

    def block(self, statements) -> bool:
        """Go through statements; say whether a thread can come to their end.

        What lacks a variable's type may have it in the next pass, and is put by until then. What
        Numba refuses for the types of one pass it refuses for good, whatever they become.
        """
        for s in statements:
            self.session.current = s
            simple, compound = self.SIMPLE.get(type(s)), self.COMPOUND.get(type(s))
            try:
                if simple is not None:
                    number = self.assigned_number(s)
                    simple(self, s, self.lanes.all)
                    self.remember(s, number)
                elif compound is None:
                    raise Unsupported(s.lineno, f"{describe(s)} cannot be used in a kernel")
                elif not compound(self, s):
                    return False
            except Missing as error:
                self.errors.append(error)
                for target in flow.targets(s):
                    self.env.pop(target.id, None)
                    self.untyped.add(target.id)
                    self.note_first(target, MISSING)
        return True

    def assigned_number(self, s: ast.stmt) -> Known | None:
        """The number that a statement assigns, if the compiler knows it."""
        if not isinstance(s, ast.Assign) or not all(isinstance(x, ast.Name) for x in s.targets):
            return None
        if isinstance(s.value, ast.Compare) and len(s.value.ops) == 1:
            way = self.known(s.value)
            return None if way is None else Known(way, compared=True)
        number = self.fixed(s.value)
        return None if number is MISSING else Known(number)

    def remember(self, s: ast.stmt, number: Known | None) -> None:
        """Keep what the compiler knows of the variables that a statement assigns."""
        for name in flow.assigned(s):
            if number is None:
                self.env.pop(known_of(name), None)
            else:
                self.env[known_of(name)] = number

    def condition(self, n: ast.expr) -> bool | None:
        """Check a condition; which way it goes, if the compiler knows it.

        Each part of ``and`` and ``or`` is a branch of its own: what stands behind one whose way is
        known is never looked at.
        """
        if isinstance(n, ast.BoolOp):
            return self.conditions(n)
        if isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.Not):
            way = self.condition(n.operand)
            return None if way is None else not way
        try:
            self.tested(n)
        except Missing as error:
            self.errors.append(error)
            return None
        return self.known(n)

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
                n.lineno, f"{ast.unparse(n)}: a condition is a number, not {describe_value(v)}"
            )
        return v

    def known(self, n: ast.expr) -> bool | None:
        """The truth of a condition that the compiler decides: it never looks at the other way."""
        if not isinstance(n, ast.Compare):
            found = self.env.get(known_of(n.id)) if isinstance(n, ast.Name) else None
            v = self.fixed(n) if found is None else found.number
            return None if v is MISSING else bool(v)
        sides = [self.fixed(x) for x in (n.left, *n.comparators)]
        links = [
            None if a is MISSING or b is MISSING else bool(self.compare(op, a, b, n))
            for op, a, b in zip(n.ops, sides, sides[1:], strict=False)
        ]
        return False if False in links else None if None in links else True

    def decided(self, n: ast.expr) -> bool | None:
        """Which way a condition goes with what is known here, if anything is."""
        if isinstance(n, ast.BoolOp):
            ends = isinstance(n.op, ast.Or)
            outcomes = [self.decided(x) for x in n.values]
            return ends if ends in outcomes else None if None in outcomes else not ends
        if isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.Not):
            way = self.decided(n.operand)
            return None if way is None else not way
        return self.known(n)

    def fixed(self, n: ast.expr):
        """A number, a text or None that the compiler knows; `MISSING` if it does not."""
        code = self.frame.code
        if isinstance(n, ast.IfExp):
            way = self.decided(n.test)
            return MISSING if way is None else self.fixed(n.body if way else n.orelse)
        if isinstance(n, ast.Name) and known_of(n.id) in self.env:
            found = self.env[known_of(n.id)]
            return MISSING if found.compared else found.number
        if isinstance(n, ast.Name) and n.id in code.parameters:
            return None if self.env.get(n.id, MISSING) is None else MISSING
        if isinstance(n, ast.Name) and n.id in code.flow.once:
            return self.fixed(code.flow.once[n.id])
        if isinstance(n, ast.Constant):
            return values.literal(n.value)
        if not isinstance(n, ast.Name) or n.id in code.locals:  # nor an attribute such as math.pi
            return MISSING
        v = self.constant(n)
        return v if isinstance(v, (np.generic, str, type(None))) else MISSING

    def branch(self, s: ast.If) -> bool:
        late = self.late(s.test)
        known, before = self.condition(s.test), self.env
        branches = []
        for taken, body in ((True, s.body), (False, s.orelse)):
            if known is not None and known is not taken:
                continue
            self.frame.env = dict(before)
            if self.block(body):
                branches.append(self.env)
        reached = self.join(self.compiled.after, s, self.frame.code.flow.after[s], before, branches)
        return self.unreached(s, late) if reached and known is not None else reached

    def late(self, n: ast.expr) -> bool:
        """Say whether constants alone do not decide a test, for which Numba joins no branches."""
        env, once = self.env, {known_of(name) for name in self.frame.code.flow.once}
        self.frame.env = {k: v for k, v in env.items() if type(v) is not Known or k in once}
        way = self.decided(n)
        self.frame.env = env
        return way is None or any(isinstance(x, ast.IfExp) for x in ast.walk(n))

    def unreached(self, s: ast.stmt, late: bool) -> bool:
        """Refuse variables that are assigned only on a branch that Numba left out `late`.

        It has joined the branches by then, and finds nothing there from which to take a type.
        """
        lacking = self.frame.code.flow.after[s] - self.env.keys() if late else ()
        for name in sorted(lacking):
            what = f"{name} is assigned here only where no thread comes: assign it further up"
            self.errors.append(Missing(f"line {s.lineno}: {what}"))
        return True

    def join(self, into: dict, s: ast.stmt, names, before: dict, branches: list[dict]) -> bool:
        """Go on where branches join, with the types on which they agree."""
        self.frame.env = before
        if not branches:
            return False
        for key in map(known_of, flow.assigned(s)):
            first, *others = (branch.get(key) for branch in branches)
            before.pop(key, None)
            if first is not None and all(other is first for other in others):
                before[key] = first
        for name in sorted(names):
            found = [branch[name] for branch in branches if name in branch]
            if found:
                before[name] = self.widened(("after", s, name), self.agreed(name, found, s))
        into[s] = {name: type_of(before[name]) for name in sorted(names) if name in before}
        return True

    def agreed(self, name: str, found: list, s: ast.stmt):
        """A stand-in for the type that all of some values have in common."""
        v = found[0]
        for other in found[1:]:
            v = self.unify(v, other, s, name)
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

    def for_loop(self, s: ast.For) -> bool:
        items = iterable(self.evaluate(s.iter, self.lanes.all), s.iter)

        def head() -> bool:
            self.store(s.target, self.item(items, s.iter), self.lanes.all)
            return True

        return self.loop(s, head)

    def item(self, items, n: ast.expr):
        """A stand-in for the items of an iterable."""
        match items:
            case Tuple():
                return self.one_of(items.items, n)
            case Elements():
                return self.memory.load(items.array, (np.int64(0),), self.lanes.all, n)
            case Enumerate():
                return np.int64(0), self.item(items.inner, n)
            case Zip():
                return tuple(self.item(inner, n) for inner in items.inners)
        return values.sample(items.counter)

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

    def while_loop(self, s: ast.While) -> bool:
        """Go through a loop; its first test is one of its own, of which more may be known.

        A loop that is known not to be entered is never looked at. A ``continue`` goes to that
        first test, of which no more is known then.
        """
        flow = self.frame.code.flow
        entered = None if s in flow.continued else self.decided(s.test)
        if entered is False:
            late = self.late(s.test)
            self.condition(s.test)
            branches = [self.env] if not s.orelse or self.block(s.orelse) else []
            reached = self.join(self.compiled.after, s, flow.after[s], self.env, branches)
            return self.unreached(s, late) if reached else False
        return self.loop(s, lambda: self.condition(s.test) is not True, entered is True)

    def loop(self, s: ast.For | ast.While, head, entered: bool = False) -> bool:
        """Go through a loop once.

        `head` says whether it may end, and `entered` whether its body surely runs.
        """
        compiled, live = self.compiled, self.frame.code.flow
        for name in flow.assigned(s):
            self.env.pop(known_of(name), None)
        before, back = self.env, self.backs.get(s, {})
        known = {}
        for name in sorted(live.head[s]):
            branches = [before[name]] if name in before else []
            branches += back.get(name, [])
            if branches:
                known[name] = self.widened(("head", s, name), self.agreed(name, branches, s))
        self.frame.env = before | known
        ends = head()
        breaks: list[Env] = []
        continues: list[Env] = []
        self.loops.append((breaks, continues))
        if self.block(s.body):
            continues.append(self.env)
        self.loops.pop()
        self.backs[s] = {
            n: [branch[n] for branch in continues if n in branch] for n in live.head[s]
        }
        compiled.head[s] = _types(known)
        compiled.entry[s] = self.differing(known, before)
        compiled.again[s] = {
            name: t for branch in continues for name, t in self.differing(known, branch).items()
        }
        branches = breaks
        if ends and (continues or not entered):
            self.frame.env = before | known
            if isinstance(s, ast.While):  # compiled code tests again behind the body
                first = [] if entered else [before]
                for name in sorted(live.after[s] | live.orelse[s]):
                    found = [branch[name] for branch in (*first, *continues) if name in branch]
                    if found:
                        self.env[name] = self.widened(
                            ("exit", s, name), self.agreed(name, found, s)
                        )
            if not s.orelse or self.block(s.orelse):
                branches = [*breaks, self.env]
        return self.join(compiled.after, s, live.after[s], before, branches)

    @staticmethod
    def differing(known: dict, env: dict) -> dict:
        """Types of variables that have another one in `env`."""
        return {
            name: type_of(v)
            for name, v in known.items()
            if name in env and type_of(env[name]) != type_of(v)
        }

    def breaks(self, s: ast.Break) -> bool:
        self.loops[-1][0].append(self.env)
        return False

    def continues(self, s: ast.Continue) -> bool:
        self.loops[-1][1].append(self.env)
        return False

    def returns(self, s: ast.Return) -> bool:
        v = None if s.value is None else self.plain(self.evaluate(s.value, self.lanes.all))
        if v is not None and not self.stack:
            raise Unsupported(s.lineno, "a kernel returns nothing: store results in an array")
        if any(v is part for part in self.memory.views):
            raise Unsupported(
                s.lineno,
                f"{self.frame.code.name} returns a part of an array: Numba returns whole arrays "
                "that were passed to the function only, so take the part where it is called",
            )
        v = signatures.returned(self.compiled.declared, v, s.lineno, self.frame.code.name)
        if self.result is MISSING:
            self.result = v
        elif (v is None) != (self.result is None):
            raise Unsupported(
                s.lineno, f"{self.frame.code.name} returns a value here and none elsewhere"
            )
        elif v is not None:
            self.result = self.unify(self.result, v, s, "the result")
        return False

    def asserts(self, s: ast.Assert) -> bool:
        self.condition(s.test)
        if s.msg is not None:
            self.must_be_written(s.msg)
        return True

    def raises(self, s: ast.Raise) -> bool:
        if isinstance(s.exc, ast.Call):
            for x in s.exc.args:
                self.must_be_written(x)
        return False

    def must_be_written(self, n: ast.expr) -> None:
        """Refuse the text of an exception that is put together while the kernel runs."""
        if any(isinstance(x, ast.Name) for x in ast.walk(n)):
            raise Unsupported(
                n.lineno,
                f"{ast.unparse(n)}: an exception in a kernel takes a written text only, no "
                "variables: store what you want to know in an array, or print it",
            )

    COMPOUND = {
        ast.If: branch,
        ast.For: for_loop,
        ast.While: while_loop,
        ast.Break: breaks,
        ast.Continue: continues,
        ast.Return: returns,
        ast.Assert: asserts,
        ast.Raise: raises,
    }

    # -- expressions

    def evaluate(self, n, m: Mask):
        return self.noted(n, super().evaluate(n, m))

    def binary(self, n, a, b, m: Mask):
        v = super().binary(n, a, b, m)
        return self.noted(n, v) if isinstance(n, ast.AugAssign) else v

    def noted(self, n: ast.AST, v):
        """A value with all types that this piece of source has had."""
        wide = self.widened(n, v)
        if type_of(wide) != type_of(v):
            self.compiled.widened[n] = type_of(wide)
        return wide

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

    def evaluate_name(self, n: ast.Name, m: Mask):
        code = self.frame.code
        lost, early = n.id in code.locals and n.id not in self.env, n in code.flow.early
        if lost and not early and self.final and n.id not in self.untyped:
            _, v = self.first.get(n.id, (END, MISSING))
            if v is not MISSING:
                self.compiled.lost[n] = type_of(v)
                return v
        if lost or early:
            raise Missing(
                f"line {n.lineno}: {n.id} is used before any thread gives it a value: assign it "
                "further up"
            )
        return super().evaluate_name(n, m)

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

    def evaluate_bool(self, n: ast.BoolOp, m: Mask):
        ends, found = isinstance(n.op, ast.Or), []
        for x in n.values:
            v, way = self.tested(x), self.known(x)
            if way is not (not ends) or x is n.values[-1]:
                found.append(v)
            if way is ends:
                break
        return self.joined(n, found)

    def evaluate_ternary(self, n: ast.IfExp, m: Mask):
        known = self.condition(n.test)
        sides = [n.body] if known is True else [n.orelse] if known is False else [n.body, n.orelse]
        found, lacking = [], None
        for x in sides:  # a side that has no type yet leaves it to the other
            try:
                found.append(self.evaluate(x, m))
            except Missing as error:
                self.errors.append(error)
                lacking = error
        if not found:
            raise lacking
        return self.joined(n, found)

    def joined(self, n: ast.expr, found: list):
        """A stand-in for an expression that has one of several values."""
        v = found[0]
        for other in found[1:]:
            v = self.unify(v, other, n, ast.unparse(n))
        self.compiled.unified[n] = type_of(v)
        return v

    def evaluate_compare(self, n: ast.Compare, m: Mask):
        sides = [n.left, *n.comparators]
        found = [self.evaluate(x, m) for x in sides]
        result = None
        for op, left, right in zip(n.ops, found, found[1:], strict=False):
            v = self.compare(op, left, right, n)
            result = v if result is None else result & v
        return result

    def contains(self, left, right, n):
        if isinstance(right, tuple):
            self.one_of(right, n)
        return super().contains(left, right, n)

    def evaluate_call(self, n: ast.Call, m: Mask):
        target = self.callee(n.func)
        if is_device_function(target):
            return self.call_device(target, n, m)
        if getattr(target, "name", None) in intrinsics.BARRIERS:
            intrinsics.barrier_arguments(self, target.name, n, m)
            return np.int32(1) if intrinsics.BARRIERS[target.name] else None
        if target is None and groups.is_sync(n):
            self.compiled.cooperative = True
        if ptx.is_asynchronous(target):
            self.compiled.asynchronous = True
            self.compiled.cluster = max(self.compiled.cluster, target.choices.get("blocks", 1))
        if ptx.is_instruction(target):
            return ptx.infer(self, target, n, m)
        if target is print:
            functions.check_print(n, self.arguments(n, m))
            return None
        return self.plain(super().evaluate_call(n, m))

    def call_device(self, target, n: ast.Call, m: Mask):
        """The type of a device function's result; which version of it is meant is remembered."""
        code = code_of(target)
        arguments, named = self.passed(n, m)
        given = code.bind(arguments, named, f"line {n.lineno}: {code.name}")
        given, result = signatures.passed(target, f"line {n.lineno}: {code.name}", given)
        plain = {k: self.plain(v) for k, v in given.items()}
        try:
            callee = self.version(target, code, plain, result, n)
        except Unsupported:
            if not any(map(_has_literal, given.values())):
                raise
            callee = self.version(target, code, given, result, n)  # it may need their numbers
        self.compiled.calls[n] = callee.compiled
        self.compiled.cooperative |= callee.compiled.cooperative
        self.compiled.asynchronous |= callee.compiled.asynchronous
        self.compiled.cluster = max(self.compiled.cluster, callee.compiled.cluster)
        for path in callee.compiled.written:
            self.memory.writes(item_at(list(given.values()), path))
        return self.returned(callee, list(given.values()))

    def version(self, target, code: Code, given: dict, result, n: ast.Call) -> TypeInference:
        """A device function gone through for some types of arguments, and a declared result."""
        key = (result, *map(type_of, given.values()))
        literal = any(map(_has_literal, given.values()))
        if (code.function, key) in self.versions and not literal:
            return self.versions[code.function, key]
        for caller in (*self.stack, self):
            if caller.compiled.code.function is code.function and caller.key == key:
                if getattr(target, "signature", "") is None:
                    types = ", ".join(["int64"] * len(given))
                    raise Unsupported(
                        n.lineno,
                        f"{code.name} calls itself, for which Numba must be told its types: write "
                        f'@cuda.jit("int64({types})", device=True), with the types that it has',
                    )
                if caller.result is MISSING:
                    raise Unsupported(
                        n.lineno, f"{code.name} calls itself before any return gives it a type"
                    )
                return caller
        origins: dict[memory.Buffer, frozenset] = {}
        env = {
            name: v if _has_literal(v) else stand_in(v, (k,), origins)
            for k, (name, v) in enumerate(given.items())
        }
        compiled = Compiled(unrolled(code, env), declared=result)
        callee = TypeInference(compiled, env, origins, (*self.stack, self))
        callee.run()
        if not literal:
            self.versions[code.function, key] = callee
        return callee

    def returned(self, callee: TypeInference, given: list):
        """The result of a call, in the caller's terms: an array is one of the arguments'."""
        v = None if callee.result is MISSING else callee.result
        if not isinstance(v, Array):
            return v
        array = sample_array(v)
        paths = callee.memory.origin(v)
        if not paths:
            raise Unsupported(
                callee.compiled.code.node.lineno,
                f"{callee.compiled.code.name} returns an array of its own: Numba returns only "
                "arrays that were passed to the function",
            )
        self.memory.derive(array, *(item_at(given, path) for path in paths))
        return array

    EXPRESSIONS = Statements.EXPRESSIONS | {
        ast.Constant: evaluate_constant,
        ast.Name: evaluate_name,
        ast.BoolOp: evaluate_bool,
        ast.IfExp: evaluate_ternary,
        ast.Compare: evaluate_compare,
        ast.Call: evaluate_call,
    }

    # -- what depends on numbers that are not known yet

    def item_of(self, a: tuple, index: tuple, m: Mask, n):
        if type(index[0]) is Literal or isinstance(index[0], slice):
            return super().item_of(a, index, m, n)
        self.check_item(a, index, n)
        return self.one_of(a, n)

    def must_be_known(self, v, n: ast.expr) -> None:
        for x in v if isinstance(v, tuple) else (v,):
            if type(x) is not Literal:
                raise Unsupported(
                    n.lineno,
                    f"{ast.unparse(n)} must be known when the kernel is compiled: use a number, a "
                    "global, or a kernel made by a function",
                )


def _has_literal(v) -> bool:
    """Say whether a number that the compiler knows is a value, or an item of it."""
    return type(v) is Literal or isinstance(v, tuple) and any(map(_has_literal, v))


def _types(env: dict) -> dict:
    return {name: type_of(v) for name, v in env.items()}
