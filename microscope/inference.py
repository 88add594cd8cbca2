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

import numpy as np

from . import flow, functions, groups, intrinsics, memory, ptx, signatures, values
from .compiled import Compiled
from .describing import describe, describe_value
from .errors import Unsupported
from .expressions import is_device_function
from .iterables import Elements, Enumerate, Tuple, Zip, iterable
from .lanes import Mask
from .limits import LIMITS
from .memory import Array
from .session import Frame, Session
from .source import Code, code_of, unrolled
from .typed_expressions import Folded, Missing, TypedExpressions, folded_name
from .typed_memory import TypedMemory, sample_array, stand_in
from .values import Literal
from .variables import MISSING, item_at, type_of

Env = dict | None  # None where no thread can come
ANYTHING = replace(LIMITS, shared_bytes=1 << 62)
PASSES = 100  # more than any kernel needs


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


class TypeInference(TypedExpressions):
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

    depth = 0  # no call is under way

    def __init__(
        self, compiled: Compiled, env: dict, origins: dict, stack: tuple[TypeInference, ...]
    ):
        session = Session((1, 1, 1), (1, 1, 1), None, 0, ANYTHING)
        if stack:
            session = stack[0].session
        super().__init__(TypedMemory(session, origins, compiled.written), Frame(compiled, env))
        self.stack, self.parameters = stack, dict(env)
        declared = compiled.declared
        self.result = values.sample(declared) if isinstance(declared, np.dtype) else MISSING
        self.recursive = False  # it calls itself, and no signature says what comes back
        self.loops: list[tuple[list[Env], list[Env]]] = []  # variables at each break and continue
        self.key = (declared, *map(type_of, env.values()))
        self.versions: dict[tuple, TypeInference] = stack[0].versions if stack else {}
        self.backs: dict[ast.stmt, dict[str, list]] = {}  # what the last pass sent to a loop's head

    def run(self) -> None:
        """Go through the whole function until no type changes."""
        code = self.compiled.code
        for _ in range(PASSES):
            self.changed, self.errors, self.untyped = False, [], set()
            self.frame.env = dict(self.parameters)
            known = self.result, len(self.compiled.written)
            falls_through = self.block(code.node.body)
            if falls_through and self.result is MISSING and self.errors:
                self.result = None
            if self.recursive:  # what it gives and what it writes come back to its own calls
                now = self.result, len(self.compiled.written)
                self.changed |= [*map(type_of, known)] != [*map(type_of, now)] or known[1] != now[1]
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
                if isinstance(s, ast.Return):
                    return False
        return True

    def assigned_number(self, s: ast.stmt) -> Folded | None:
        """The number that a statement assigns, if the compiler knows it."""
        if not isinstance(s, ast.Assign) or not all(isinstance(x, ast.Name) for x in s.targets):
            return None
        if isinstance(s.value, ast.Compare) and len(s.value.ops) == 1:
            outcome = self.folded_test(s.value)
            return None if outcome is None else Folded(outcome, compared=True)
        number = self.folded(s.value)
        return None if number is MISSING else Folded(number)

    def remember(self, s: ast.stmt, number: Folded | None) -> None:
        """Keep what the compiler knows of the variables that a statement assigns."""
        for name in flow.assigned(s):
            if number is None:
                self.env.pop(folded_name(name), None)
            else:
                self.env[folded_name(name)] = number

    def branch(self, s: ast.If) -> bool:
        prunes_late = self.prunes_late(s.test)
        known, before = self.condition(s.test), self.env
        branches = []
        for taken, body in ((True, s.body), (False, s.orelse)):
            if known is not None and known is not taken:
                continue
            self.frame.env = dict(before)
            if self.block(body):
                branches.append(self.env)
        reached = self.join(self.compiled.after, s, self.frame.code.flow.after[s], before, branches)
        return self.check_pruned(s, prunes_late) if reached and known is not None else reached

    def prunes_late(self, n: ast.expr) -> bool:
        """Say whether constants alone do not decide a test, for which Numba joins no branches."""
        env, once = self.env, {folded_name(name) for name in self.frame.code.flow.once}
        self.frame.env = {k: v for k, v in env.items() if type(v) is not Folded or k in once}
        outcome = self.folded_condition(n)
        self.frame.env = env
        return outcome is None or any(isinstance(x, ast.IfExp) for x in ast.walk(n))

    def check_pruned(self, s: ast.stmt, prunes_late: bool) -> bool:
        """Refuse variables that are assigned only on a branch that Numba left out late.

        It has joined the branches by then, and finds nothing there from which to take a type.
        """
        lacking = self.frame.code.flow.after[s] - self.env.keys() if prunes_late else ()
        for name in sorted(lacking):
            what = f"{name} is assigned here only where no thread comes: assign it further up"
            self.errors.append(Missing(f"line {s.lineno}: {what}"))
        return True

    def join(self, into: dict, s: ast.stmt, names, before: dict, branches: list[dict]) -> bool:
        """Go on where branches join, with the types on which they agree."""
        self.frame.env = before
        if not branches:
            return False
        for key in map(folded_name, flow.assigned(s)):
            first, *others = (branch.get(key) for branch in branches)
            before.pop(key, None)
            if first is not None and all(other is first for other in others):
                before[key] = first
        for name in sorted(names):
            incoming = [branch[name] for branch in branches if name in branch]
            if incoming:
                before[name] = self.widened(("after", s, name), self.phi(name, incoming, s))
        into[s] = {name: type_of(before[name]) for name in sorted(names) if name in before}
        return True

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

    def while_loop(self, s: ast.While) -> bool:
        """Go through a loop; its first test is one of its own, of which more may be known.

        A loop that is known not to be entered is never looked at. A ``continue`` goes to that
        first test, of which no more is known then.
        """
        flow = self.frame.code.flow
        entered = None if s in flow.continued else self.folded_condition(s.test)
        if entered is False:
            prunes_late = self.prunes_late(s.test)
            self.condition(s.test)
            branches = [self.env] if not s.orelse or self.block(s.orelse) else []
            reached = self.join(self.compiled.after, s, flow.after[s], self.env, branches)
            return self.check_pruned(s, prunes_late) if reached else False
        return self.loop(s, lambda: self.condition(s.test) is not True, entered is True)

    def loop(self, s: ast.For | ast.While, head, entered: bool = False) -> bool:
        """Go through a loop once.

        `head` says whether it may end, and `entered` whether its body surely runs.
        """
        compiled, live = self.compiled, self.frame.code.flow
        for name in flow.assigned(s):
            self.env.pop(folded_name(name), None)
        before, back = self.env, self.backs.get(s, {})
        known = {}
        for name in sorted(live.head[s]):
            branches = [before[name]] if name in before else []
            branches += back.get(name, [])
            if branches:
                known[name] = self.widened(("head", s, name), self.phi(name, branches, s))
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
                    incoming = [branch[name] for branch in (*first, *continues) if name in branch]
                    if incoming:
                        self.env[name] = self.widened(
                            ("exit", s, name), self.phi(name, incoming, s)
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
                s.lineno,
                f"{self.frame.code.name} returns a value here and none elsewhere: give each return "
                "a value",
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
        if signatures.of_cpu(target):
            raise Unsupported(
                n.lineno,
                f"{code.name} has a signature, so Numba compiles it for the CPU alone: leave the "
                "signature out, or put @cuda.jit(device=True) above it",
            )
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
        if callee.recursive:
            passed = {*code.parameters[: len(arguments)], *named, code.rest}
            self.check_recursion(callee, given, passed, n)
        self.compiled.calls[n] = callee.compiled
        self.compiled.cooperative |= callee.compiled.cooperative
        self.compiled.asynchronous |= callee.compiled.asynchronous
        self.compiled.cluster = max(self.compiled.cluster, callee.compiled.cluster)
        for path in tuple(callee.compiled.written):
            self.memory.writes(item_at(list(given.values()), path))
        return self.returned(callee, list(given.values()))

    def version(self, target, code: Code, given: dict, result, n: ast.Call) -> TypeInference:
        """A device function gone through for some types of arguments, and a declared result."""
        key = (result, *map(type_of, given.values()))
        literal = any(map(_has_literal, given.values()))
        if (code.function, key) in self.versions and not literal:
            return self.versions[code.function, key]
        for caller in (*self.stack, self):
            if caller.compiled.code.function is not code.function:
                continue
            if caller is not self or not self.stack:
                raise Unsupported(
                    n.lineno,
                    f"{self.frame.code.name} calls {code.name} again: Numba compiles recursion "
                    "only of a device function that calls itself, so write a loop",
                )
            self.recursive = not getattr(target, "signature", None)
            if caller.result is MISSING:
                what = f"{code.name} calls itself before any return gives it a type"
                raise Missing(f"line {n.lineno}: {what}: return a number where it ends")
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

    def check_recursion(self, callee: TypeInference, given: dict, passed, n: ast.Call) -> None:
        """Refuse a call of a function that calls itself with arguments of other types.

        Numba links no second version of such a function, and to it a number that stands in the
        call is a type of its own, as is an argument that is left out.
        """
        for name, v in given.items():
            has, gets = type_of(callee.parameters[name]), type_of(self.plain(v))
            if isinstance(v, Array):
                has, gets = has[:-1], gets[:-1]  # wherever it lies
            if name not in passed:
                why = "is left out here: pass it"
            elif _has_literal(v):
                why = "is a number of the source here: write int64(...) around it"
            elif has != gets:
                before = describe_value(callee.parameters[name])
                why = f"is {describe_value(self.plain(v))} here, {before} before: convert it"
            else:
                continue
            raise Unsupported(
                n.lineno,
                f"{ast.unparse(n)}: Numba compiles a function that calls itself for one type of "
                f"each argument, and {name} {why}",
            )

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

    EXPRESSIONS = TypedExpressions.EXPRESSIONS | {ast.Call: evaluate_call}


def _has_literal(v) -> bool:
    """Say whether a number that the compiler knows is a value, or an item of it."""
    return type(v) is Literal or isinstance(v, tuple) and any(map(_has_literal, v))


def _types(env: dict) -> dict:
    return {name: type_of(v) for name, v in env.items()}
