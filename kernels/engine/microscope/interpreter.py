"""The interpreter: runs a kernel's tree for many threads at once.

Lanes are the threads of many blocks (or one warp, see `launch`), a value is a NumPy vector over
them, and a branch is a mask. Statements are generators that yield at barriers only, so that the
launch decides who runs next; they return the lanes that fall through to the next statement, or
None if none do.
"""

from __future__ import annotations

import ast

import numpy as np

from . import values
from .errors import KernelError, StopRun, Unsupported
from .lanes import Lanes, Mask
from .memory import Array
from .session import Frame, Loop, Session
from .sites import Kind, Problem
from .source import Code, jumps
from .waiting import Waiting, parts
from .wording import describe


class Runner(Waiting):
    """Runs one group of lanes through a kernel; parameters as `Access`.

    Attributes
    ----------
    exited : Mask or None
        Lanes that have returned from the kernel.
    """

    def __init__(self, session: Session, lanes: Lanes, shared: dict):
        super().__init__(session, lanes, shared)
        self.exited: Mask | None = None
        self.depth = 0
        limits = session.limits
        self.max_trips = min(limits.trips, limits.loop_steps // lanes.count)

    # -- functions

    def call(self, code: Code, arguments: list, m: Mask, call: str):
        """Run a function (a generator); its value is the function's."""
        if self.depth > 50:
            raise KernelError(f"{call} calls itself more than 50 deep: write it as a loop")
        outer, self.frame = self.frame, Frame(code, code.bind(arguments, call))
        self.depth += 1
        yield from self.block(code.node.body, m)
        value, self.frame = self.frame.returned, outer
        self.depth -= 1
        return value

    # -- statements

    def block(self, statements, m: Mask | None):
        """Run statements in turn."""
        for s in statements:
            if m is None:
                return None
            self.session.current = s
            simple = self.SIMPLE.get(type(s))
            if simple is None:
                m = yield from self.compound(s, m)
            elif not self.waits(s):
                m = simple(self, s, m)
            else:
                for part in parts(s):
                    yield from self.settle(part, m)
                m = simple(self, s, m)
                self.frame.settled.clear()
        return m

    def compound(self, s, m: Mask):
        """Run a statement that holds others."""
        handler = self.COMPOUND.get(type(s))
        if handler is None:
            raise Unsupported(s.lineno, f"{describe(s)} cannot be used in a kernel")
        return (yield from handler(self, s, m))

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
            self.store(target, self.binary(s, old, self.evaluate(s.value, m), m), m)
        elif isinstance(target, ast.Subscript):
            array, index = self.evaluate(target.value, m), self.index(target.slice, m)
            old = self.load(array, index, m, target)
            v = self.evaluate(s.value, m)
            self.put(array, index, self.binary(s, old, v, m), m, target, checked=True)
        else:
            raise Unsupported(s.lineno, f"cannot assign to {ast.unparse(target)}")
        return m

    def expression(self, s: ast.Expr, m: Mask):
        if not isinstance(s.value, ast.Constant):
            self.unused = s.value
            self.evaluate(s.value, m)
        return m

    def nothing(self, s, m: Mask):
        return m

    def returns(self, s: ast.Return, m: Mask):
        frame = self.frame
        if s.value is not None:
            v = self.evaluate(s.value, m)
            if self.depth == 1 and v is not None:
                raise Unsupported(s.lineno, "a kernel returns nothing: store results in an array")
            frame.returned = v if frame.exited is None else self.merge(m, v, frame.returned, s)
        frame.exited = self.lanes.union(frame.exited, m, self.lanes.all)
        if self.depth == 1:
            self.exited = frame.exited
        return None

    def breaks(self, s, m: Mask):
        loop = self.frame.loops[-1]
        loop.broken = self.lanes.union(loop.broken, m, self.lanes.all)
        return None

    def continues(self, s, m: Mask):
        loop = self.frame.loops[-1]
        loop.continued = self.lanes.union(loop.continued, m, self.lanes.all)
        return None

    def asserts(self, s: ast.Assert, m: Mask):
        _, failing = self.lanes.split(values.truth(self.evaluate(s.test, m)), m)
        if failing is not None:
            block, thread, _ = self.lanes.first(self.array_of(failing))
            raise KernelError(
                f"line {s.lineno}: assert {ast.unparse(s.test)} fails in thread {thread} of "
                f"block {block}"
            )
        return m

    def branch(self, s: ast.If, m: Mask):
        yes, no = self.lanes.split(values.truth((yield from self.value(s.test, m))), m)
        after_yes = (yield from self.block(s.body, yes)) if yes is not None else None
        after_no = (yield from self.block(s.orelse, no)) if no is not None else None
        if after_yes is yes and after_no is no:
            return m
        return self.lanes.union(after_yes, after_no, m)

    def iteration(self, s, m: Mask):
        """One trip through a loop's body; returns lanes that go on, and lanes that broke out."""
        can_jump = self.session.jumps.get(s)
        if can_jump is None:
            can_jump = self.session.jumps[s] = jumps(s)
        if not can_jump:
            return (yield from self.block(s.body, m)), None
        loop = Loop()
        self.frame.loops.append(loop)
        after = yield from self.block(s.body, m)
        self.frame.loops.pop()
        return self.lanes.union(after, loop.continued, m), loop.broken

    def for_loop(self, s: ast.For, m: Mask):
        start, left, union = m, None, self.lanes.union
        if self.waits(s.iter):
            yield from self.settle(s.iter, m)
        trips = self.trips(s, m)
        if trips is not None:
            self.frame.settled.clear()
            for count, k in enumerate(trips):
                if self.exhausted(count):
                    return self.endless(s, m)
                self.store(s.target, k, m)
                m, broken = yield from self.iteration(s, m)
                left = union(left, broken, start)
                if m is None:
                    break
        else:
            i, stop, step, counter = self.bounds(s.iter, m)
            self.frame.settled.clear()
            done, count = None, 0
            while m is not None:
                m, finished = self.lanes.split(np.where(step > 0, i < stop, i > stop), m)
                done = union(done, finished, start)
                if m is None:
                    break
                if self.exhausted(count):
                    return self.endless(s, m)
                count += 1
                self.store(s.target, values.cast(counter, i), m)
                m, broken = yield from self.iteration(s, m)
                left = union(left, broken, start)
                i = i + step
            m = done
        if s.orelse and m is not None:
            m = yield from self.block(s.orelse, m)
        return union(m, left, start)

    def while_loop(self, s: ast.While, m: Mask):
        start, left, done, union = m, None, None, self.lanes.union
        count = 0
        while m is not None:
            test = yield from self.value(s.test, m)
            m, finished = self.lanes.split(values.truth(test), m)
            done = union(done, finished, start)
            if m is None:
                break
            if self.exhausted(count):
                return self.endless(s, m)
            count += 1
            m, broken = yield from self.iteration(s, m)
            left = union(left, broken, start)
        if s.orelse and done is not None:
            done = yield from self.block(s.orelse, done)
        return union(done, left, start)

    def exhausted(self, count: int) -> bool:
        """Count a trip; say whether this loop, or all together, have had enough of them."""
        self.session.trips += 1
        return count >= self.max_trips or self.session.trips > self.session.limits.all_trips

    def endless(self, s, m: Mask):
        """A loop that does not end: an error, or in a trace the end of the run."""
        block, thread, _ = self.lanes.first(self.array_of(m))
        if self.session.trips > self.session.limits.all_trips:
            message = f"the loops of this launch have run {self.session.trips - 1} times together"
        else:
            message = f"the loop has run {self.max_trips} times"
        message += (
            f" and thread {thread} of block {block} is still in this one: check what should end "
            "it, or use more threads and fewer iterations"
        )
        problem = Problem(
            Kind.ENDLESS_LOOP, line=s.lineno, block=block, thread=thread, message=message
        )
        self.problem((Kind.ENDLESS_LOOP, s), problem, m.n)
        raise StopRun

    def trips(self, s: ast.For, m: Mask):
        """What a loop runs over if it is the same in all lanes, else None."""
        n = s.iter
        if not self.is_range(n):
            sequence = self.evaluate(n, m)
            if isinstance(sequence, tuple):
                return sequence
            if isinstance(sequence, Array) and not isinstance(sequence.shape[0], np.ndarray):
                return (self.load(sequence, (np.int64(i),), m, n) for i in range(sequence.shape[0]))
            raise Unsupported(s.lineno, "for runs over range(), a tuple or an array only")
        i, stop, step, counter = self.bounds(n, m)
        if any(isinstance(x, np.ndarray) for x in (i, stop, step)):
            return None
        return map(counter.type, range(int(i), int(stop), int(step)))

    def is_range(self, n) -> bool:
        if not (isinstance(n, ast.Call) and isinstance(n.func, ast.Name)):
            return False
        return n.func.id not in self.frame.env and self.constant(n.func) is range

    def bounds(self, n: ast.Call, m: Mask):
        """Start, stop and step of a range(), and the type that it counts in."""
        arguments = [self.evaluate(x, m) for x in n.args]
        if not 1 <= len(arguments) <= 3:
            raise Unsupported(n.lineno, f"range() takes 1 to 3 numbers, got {len(arguments)}")
        for v in arguments:
            if not values.is_value(v) or v.dtype.kind not in "iub":
                raise Unsupported(n.lineno, "range() takes integers: use int(...)")
        counter = values.range_type(*(v.dtype for v in arguments))
        arguments = [values.cast(values.INT64, v) for v in arguments]
        start, stop = (np.int64(0), arguments[0]) if len(arguments) == 1 else arguments[:2]
        step = arguments[2] if len(arguments) == 3 else np.int64(1)
        if np.any(step == 0):
            raise KernelError(f"line {n.lineno}: the step of range() is 0")
        return start, stop, step, counter

    # -- variables

    def store(self, target, v, m: Mask) -> None:
        """Assign to a name, an element, or a tuple of them."""
        if isinstance(target, ast.Name):
            self.store_name(target, v, m)
        elif isinstance(target, ast.Subscript):
            array, index = self.evaluate(target.value, m), self.index(target.slice, m)
            self.put(array, index, v, m, target)
        elif isinstance(target, (ast.Tuple, ast.List)):
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

    def store_name(self, target: ast.Name, v, m: Mask) -> None:
        frame, name = self.frame, target.id
        if isinstance(v, Array) and v.buffer.name is None:
            v.buffer.name = name
        scope = frame.scopes.get(name)
        if name not in frame.env or m.array is None or (scope and scope.within(m.scope)):
            frame.env[name] = v
            frame.scopes[name] = m.scope
            return
        frame.env[name] = self.merge(m, v, frame.env[name], target)
        if scope is not None and not m.scope.within(scope):
            frame.scopes[name] = self.lanes.all.scope

    SIMPLE = {
        ast.Assign: assign,
        ast.AugAssign: augmented,
        ast.AnnAssign: annotated,
        ast.Expr: expression,
        ast.Pass: nothing,
        ast.Return: returns,
        ast.Break: breaks,
        ast.Continue: continues,
        ast.Assert: asserts,
    }
    COMPOUND = {ast.If: branch, ast.For: for_loop, ast.While: while_loop}
