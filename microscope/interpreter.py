"""The interpreter: runs a kernel's tree for many threads at once.

Lanes are the threads of many blocks (or one warp, see `launch`), a value is a NumPy vector over
them, and a branch is a mask. Statements are generators that yield at barriers only, so that the
launch decides who runs next; they return the lanes that fall through to the next statement, or
None if none do.
"""

from __future__ import annotations

import ast

from . import signatures, values
from .compiled import Compiled
from .errors import KernelError, StopRun, raised
from .iterables import iterable
from .lane_expressions import LaneExpressions
from .lane_memory import LaneMemory
from .lanes import Lanes, Mask
from .repetition import Repetition
from .session import Frame, Loop, Session
from .sites import Kind, Problem
from .variables import Join, PossiblyUnbound, convert, select
from .waiting import WaitingExpressions, parts

HOPELESS = 12_000  # trips of a loop that nothing can end: enough to see what else is wrong
DEEPEST = 32  # calls within calls: a small one takes 32 bytes of a GPU's stack of 1024
ENOUGH = ", or use more threads and fewer iterations"


class Runner(LaneExpressions):
    """Runs one group of lanes through a kernel.

    Parameters
    ----------
    session : Session
    lanes : Lanes
    shared : dict
        Shared arrays of these blocks, by declaration; runners of one block share it.

    Attributes
    ----------
    exited : Mask or None
        Lanes that have returned from the kernel.
    """

    def __init__(self, session: Session, lanes: Lanes, shared: dict):
        super().__init__(LaneMemory(session, lanes, shared))
        self.exited: Mask | None = None
        self.depth = 0
        limits = session.limits
        self.max_trips = min(limits.trips, limits.loop_steps // lanes.count)

    @property
    def waiting(self) -> WaitingExpressions:
        """What may wait in an expression; made anew, since a circle would hold on to the memory."""
        return WaitingExpressions(self)

    # -- functions

    def call(self, compiled: Compiled, env: dict, m: Mask):
        """Run a function (a generator); its value is the function's."""
        if self.depth > DEEPEST:
            what = f"{compiled.code.name} calls itself more than {DEEPEST} deep"
            raise KernelError(f"{what}, and a GPU's stack is 1024 bytes a thread: write a loop")
        outer, self.frame = self.frame, Frame(compiled, env)
        self.depth += 1
        yield from self.block(compiled.code.node.body, m)
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
                m = yield from self.COMPOUND[type(s)](self, s, m)
            elif not self.waiting.waits(s):
                m = simple(self, s, m)
            else:
                for part in parts(s):
                    yield from self.waiting.hoist(part, m)
                m = simple(self, s, m)
                self.frame.hoisted.clear()
        return m

    def returns(self, s: ast.Return, m: Mask):
        frame = self.frame
        if s.value is not None:
            declared, name = frame.compiled.declared, frame.code.name
            v = signatures.returned(declared, self.evaluate(s.value, m), s.lineno, name)
            v = convert(frame.compiled.result, v)
            if frame.exited is not None:
                v = select(self.array_of(m), v, frame.returned, s)
            frame.returned = v
        frame.exited = self.lanes.union(frame.exited, m, self.lanes.all)
        if self.depth == 1:
            self.exited = frame.exited
        return None

    def breaks(self, s, m: Mask):
        self.frame.loops[-1].behind.arrive(m, self.frame.env)
        return None

    def continues(self, s, m: Mask):
        self.frame.loops[-1].next.arrive(m, self.frame.env)
        return None

    def asserts(self, s: ast.Assert, m: Mask):
        _, failing = self.lanes.split(values.truth(self.evaluate(s.test, m)), m)
        if failing is not None:
            self.fails(s, f"assert {ast.unparse(s.test)} fails", failing, AssertionError)
        return m

    def raises(self, s: ast.Raise, m: Mask):
        called = s.exc.func if isinstance(s.exc, ast.Call) else s.exc
        kind = self.constant(called) if called is not None and self.is_constant(called) else None
        self.fails(s, ast.unparse(s), m, kind)

    def fails(self, s, what: str, m: Mask, kind=None):
        """End the run with an error that is an exception of the kernel's own kind, too."""
        block, thread, _ = self.lanes.first(self.array_of(m))
        message = f"line {s.lineno}: {what} in thread {thread} of block {block}"
        raise raised(kind, message)

    # -- branches and loops, and where lanes join again

    def join(self, types: dict[ast.stmt, dict], s: ast.stmt, parent: Mask) -> Join:
        """Where lanes join at or behind a statement."""
        return Join(types.get(s, {}), self.frame.code.flow.lines, self.lanes, parent, s)

    def branch(self, s: ast.If, m: Mask):
        yes, no = self.lanes.split(values.truth((yield from self.waiting.value(s.test, m))), m)
        frame, env = self.frame, self.frame.env
        behind = self.join(frame.compiled.after, s, m)
        if yes is not None:
            if no is not None:
                frame.env = dict(env)
            behind.arrive((yield from self.block(s.body, yes)), frame.env)
            frame.env = env
        if no is not None:
            behind.arrive((yield from self.block(s.orelse, no)), env)
        env.update(behind.env)
        return behind.mask

    def for_loop(self, s: ast.For, m: Mask):
        if self.waiting.waits(s.iter):
            yield from self.waiting.hoist(s.iter, m)
        items = iterable(self.evaluate(s.iter, m), s.iter)
        self.frame.hoisted.clear()
        length = items.length()

        def head(k: int, m: Mask):
            return self.lanes.split(k < length, m)
            yield  # a generator, as the head of a `while` is

        def begin(k: int, m: Mask):
            self.store(s.target, items.item(self, k, m, s.iter), m)

        return (yield from self.loop(s, m, head, begin))

    def while_loop(self, s: ast.While, m: Mask):
        def head(k: int, m: Mask):
            test = yield from self.waiting.value(s.test, m)
            return self.lanes.split(values.truth(test), m)

        return (yield from self.loop(s, m, head, lambda k, m: None))

    def loop(self, s: ast.For | ast.While, m: Mask, head, begin):
        """Run a loop; `head` says who goes on and who is done, `begin` starts an iteration."""
        frame, compiled, env = self.frame, self.frame.compiled, self.frame.env
        loop = Loop(self.join(compiled.after, s, m))
        done = self.join(compiled.head, s, m) if s.orelse else loop.behind
        again = compiled.again.get(s)
        _cast(env, compiled.entry.get(s))
        deciding = frame.code.flow.deciding.get(s)
        repetition = None if deciding is None else Repetition(deciding)
        k = 0
        while m is not None:
            m, finished = yield from head(k, m)
            done.arrive(finished, env)
            if m is None:
                break
            self.exhausted(k, s, m, repetition)
            begin(k, m)
            loop.next = self.join(compiled.head, s, m)
            frame.loops.append(loop)
            m = yield from self.block(s.body, m)
            frame.loops.pop()
            if loop.next.mask is not None:
                loop.next.arrive(m, env)
                env.update(loop.next.env)
                m = loop.next.mask
            elif again:
                _cast(env, again)
            k += 1
        if s.orelse and done.mask is not None:
            env.update(done.env)
            loop.behind.arrive((yield from self.block(s.orelse, done.mask)), env)
        env.update(loop.behind.env)
        return loop.behind.mask

    def exhausted(self, count: int, s, m: Mask, repetition: Repetition | None) -> None:
        """Count a trip; end the run if this loop, or all together, have had enough of them."""
        self.session.trips += 1
        hopeless = count >= HOPELESS and s in self.frame.code.flow.hopeless
        most = self.session.limits.all_trips
        if self.session.trips > most:
            self.endless(s, m, f"the loops of this launch have run {most} times together", ENOUGH)
        elif hopeless or count >= self.max_trips:
            self.endless(s, m, f"the loop has run {count} times", ENOUGH)
        elif repetition is not None and repetition.found(count, self, m):
            what = f"the loop has run {count} times, nothing that it depends on changes any more,"
            self.endless(s, m, what)

    def endless(self, s, m: Mask, what: str, instead: str = ""):
        """A loop that does not end: an error, or in a trace the end of the run."""
        block, thread, _ = self.lanes.first(self.array_of(m))
        message = (
            f"{what} and thread {thread} of block {block} is still in this one: check what should "
            f"end it{instead}"
        )
        problem = Problem(
            Kind.ENDLESS_LOOP, line=s.lineno, block=block, thread=thread, message=message
        )
        self.problem((Kind.ENDLESS_LOOP, s), problem, m.n)
        raise StopRun

    SIMPLE = LaneExpressions.SIMPLE | {
        ast.Return: returns,
        ast.Break: breaks,
        ast.Continue: continues,
        ast.Assert: asserts,
        ast.Raise: raises,
    }
    COMPOUND = {ast.If: branch, ast.For: for_loop, ast.While: while_loop}


def _cast(env: dict, types: dict | None) -> None:
    """Give variables the types that they have at the head of a loop."""
    for name, t in (types or {}).items():
        if name not in env:  # of the first turn of a loop around this one
            continue
        v = env[name]
        if type(v) is PossiblyUnbound:
            env[name] = PossiblyUnbound(convert(t, v.value), v.unbound, v.line)
        else:
            env[name] = convert(t, v)
