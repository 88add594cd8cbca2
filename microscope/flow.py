"""Which variables matter where branches join: behind an `if`, at a loop's head, and behind a loop.

Threads that took different branches through a kernel bring different values of a variable to the
place where they join again. Only those of its variables count there that somebody reads later.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, field

Names = frozenset[str]
Meet = dict[ast.AST, Names]
NONE: Names = frozenset()
SWAPS = {"cas", "exch", "compare_and_swap"}
PLAIN = (ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.IfExp)


@dataclass
class Flow:
    """The places of one function where branches join.

    Attributes
    ----------
    after : dict
        Of each `if` and each loop: names that it assigns and that are read behind it.
    head : dict
        Of each loop: names that its body assigns and that the next iteration, or what follows,
        reads.
    orelse : dict
        Of each loop with an `else`: names that it assigns and that the `else`, or what follows,
        reads.
    lines : dict of str to int
        Where each name is assigned first.
    renewed : dict of str to tuple of int
        Line and column where each name is assigned first by all threads: a new variable to Numba.
    once : dict of str to expr
        What is assigned to each name that one statement only assigns, if no variable.
    early : set of Name
        Where a name is read that nothing has assigned further up in the text: Numba refuses it,
        even in a loop whose body goes on to assign it.
    continued : set of While
        Loops with a `continue` of their own.
    hopeless : set of While
        Loops that nothing in their body can end.
    deciding : dict
        Of each `while`: names that decide what its next iterations do, to memory and to its end.
        A counter that nobody but itself reads in the loop is none.
    spins : bool
        Whether a loop tries for a lock, or another value that other threads set.
    """

    after: Meet = field(default_factory=dict)
    head: Meet = field(default_factory=dict)
    orelse: Meet = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    renewed: dict[str, tuple[int, int]] = field(default_factory=dict)
    once: dict[str, ast.expr] = field(default_factory=dict)
    early: set[ast.Name] = field(default_factory=set)
    continued: set[ast.While] = field(default_factory=set)
    hopeless: set[ast.While] = field(default_factory=set)
    deciding: Meet = field(default_factory=dict)
    spins: bool = False


def flow_of(function: ast.FunctionDef) -> Flow:
    """Follow the variables of a function backwards."""
    flow = Flow()
    count: Counter[str] = Counter()
    for name, line in _assignments(function.body):
        flow.lines[name] = min(line, flow.lines.get(name, line))
        count[name] += 1
    for s in _certain(function.body):
        for x in targets(s):
            flow.renewed.setdefault(x.id, (x.lineno, x.col_offset))
    for s in ast.walk(function):
        if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name):
            chained = isinstance(s.value, ast.Name) and s.value.id in count
            if len(s.targets) == count[s.targets[0].id] == 1 and not chained:
                flow.once[s.targets[0].id] = s.value
    for s in ast.walk(function):
        if isinstance(s, ast.While):
            if _hopeless(s):
                flow.hopeless.add(s)
            if _holds(s.body, ast.Continue):
                flow.continued.add(s)
            tried = {x.attr for x in ast.walk(s.test) if isinstance(x, ast.Attribute)}
            flow.spins = flow.spins or bool(tried & SWAPS)
    known = {a.arg for a in function.args.args}
    for n, reads in _in_order(function.body):
        if not reads:
            known.add(n.id)
        elif n.id in flow.lines and n.id not in known:
            flow.early.add(n)
    _Backwards(flow).block(function.body, NONE, NONE, NONE)
    for s in flow.head:
        if isinstance(s, ast.While):
            flow.deciding[s] = flow.head[s] & _deciding(s)
    return flow


def _certain(statements: list[ast.stmt]):
    """The statements without others in them to which every thread comes, once."""
    for s in statements:
        if isinstance(s, (ast.For, ast.While)) and not _holds(s.body, ast.Break):
            yield from _certain(s.orelse)
        elif not isinstance(s, (ast.If, ast.For, ast.While)):
            yield s
        if any(isinstance(x, (ast.Return, ast.Raise, ast.Assert)) for x in ast.walk(s)):
            return


def _holds(statements: list[ast.stmt], kind: type) -> bool:
    """Say whether a `break` or `continue` among some statements is that of the loop around them."""
    return any(
        isinstance(s, kind)
        or _holds(getattr(s, "orelse", []), kind)
        or not isinstance(s, (ast.For, ast.While))
        and _holds(getattr(s, "body", []), kind)
        for s in statements
    )


def _hopeless(s: ast.While) -> bool:
    """Say whether the condition of a loop stays, and nothing leaves it."""
    inside = [x for part in s.body for x in ast.walk(part)]
    if any(isinstance(x, (ast.Break, ast.Return, ast.Raise)) for x in inside):
        return False
    return _is_plain(s.test) and not _read(s.test) & _names(s.body)


def _deciding(s: ast.While) -> Names:
    """Names on which it depends what a loop does: all but those that feed only each other."""
    names, plain = _read(s.test), []
    for x in (x for part in s.body for x in ast.walk(part) if isinstance(x, ast.stmt)):
        if isinstance(x, (ast.If, ast.While)):
            names |= _read(x.test)
        elif isinstance(x, ast.For):
            names |= _read(x.iter)
        elif isinstance(x, (ast.Assign, ast.AugAssign)) and _is_plain(x.value) and _whole_of(x):
            plain.append((_whole_of(x), _read(x)))
        else:
            names |= _read(x)
    while True:
        more = names.union(*(read for assigned, read in plain if assigned & names))
        if more == names:
            return names
        names = more


def _is_plain(n: ast.expr) -> bool:
    """Say whether an expression does nothing but compute with variables."""
    return all(isinstance(x, PLAIN) for x in ast.walk(n) if isinstance(x, ast.expr))


def _whole_of(s: ast.Assign | ast.AugAssign) -> Names:
    """Names to which a statement assigns, if it assigns to nothing else."""
    targets = s.targets if isinstance(s, ast.Assign) else [s.target]
    return _names([s]) if all(isinstance(t, ast.Name) for t in targets) else NONE


class _Backwards:
    """What is read later, from the last statement to the first."""

    def __init__(self, flow: Flow):
        self.flow = flow

    def block(self, statements: list[ast.stmt], live: Names, behind: Names, next_: Names) -> Names:
        """Names that are read at or after some statements.

        Parameters
        ----------
        statements : list of stmt
        live : frozenset of str
            Names read after them.
        behind, next_ : frozenset of str
            Names read after a `break`, and after a `continue`.
        """
        for s in reversed(statements):
            live = self.statement(s, live, behind, next_)
        return live

    def statement(self, s: ast.stmt, live: Names, behind: Names, next_: Names) -> Names:
        match s:
            case ast.If():
                self.flow.after[s] = live & _names([s])
                yes = self.block(s.body, live, behind, next_)
                return _read(s.test) | yes | self.block(s.orelse, live, behind, next_)
            case ast.For() | ast.While():
                return self.loop(s, live, behind, next_)
            case ast.Return() | ast.Raise():
                return _read(s)
            case ast.Break():
                return behind
            case ast.Continue():
                return next_
            case ast.Assign() | ast.AnnAssign():
                return (live - _whole(s)) | _read(s)
            case _:
                return live | _read(s)

    def loop(self, s: ast.For | ast.While, live: Names, behind: Names, next_: Names) -> Names:
        own = _names([s])
        rest = self.block(s.orelse, live, behind, next_)
        head = rest
        while True:  # what the next iteration reads, this one must keep
            again = self.block(s.body, head, live, head)
            if isinstance(s, ast.For):
                again = (again - _whole_target(s.target)) | _read(s.target)
            else:
                again |= _read(s.test)
            if again <= head:
                break
            head |= again
        self.flow.after[s], self.flow.head[s] = live & own, head & own
        self.flow.orelse[s] = rest & own
        return head | (_read(s.iter) if isinstance(s, ast.For) else NONE)


def _read(n: ast.AST) -> Names:
    """Names that a piece of source reads; an augmented assignment reads its target."""
    found = {x.id for x in ast.walk(n) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load)}
    if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name):
        found.add(n.target.id)
    return frozenset(found)


def _whole(s: ast.Assign | ast.AnnAssign) -> Names:
    """Names to which a statement gives a new value."""
    if isinstance(s, ast.AnnAssign):
        return _whole_target(s.target) if s.value is not None else NONE
    return frozenset().union(*map(_whole_target, s.targets))


def _whole_target(target: ast.expr) -> Names:
    return frozenset(name for name, _ in _stored(target))


def _in_order(n):
    """The names of a piece of source as Python comes to them, and whether it reads them there."""
    if isinstance(n, list):
        for x in n:
            yield from _in_order(x)
    elif isinstance(n, ast.Name):
        yield n, isinstance(n.ctx, ast.Load)
    elif isinstance(n, ast.AugAssign):
        if isinstance(n.target, ast.Name):
            yield n.target, True
        yield from _in_order([n.value, n.target])
    elif isinstance(n, (ast.Assign, ast.AnnAssign)) and n.value is not None:
        yield from _in_order([n.value, n.targets if isinstance(n, ast.Assign) else n.target])
    elif isinstance(n, ast.For):
        yield from _in_order([n.iter, n.target, n.body, n.orelse])
    elif isinstance(n, ast.AST):
        for _, x in ast.iter_fields(n):
            yield from _in_order(x)


def targets(n: ast.AST):
    """The names that a piece of source assigns, one for each time that it does."""
    for x in ast.walk(n):
        if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store):
            yield x


def _stored(n: ast.AST):
    return ((x.id, x.lineno) for x in targets(n))


def _assignments(statements: list[ast.stmt]):
    for s in statements:
        yield from _stored(s)


def assigned(s: ast.stmt) -> Names:
    """Names that a statement, with all in it, may assign."""
    return _names([s])


def _names(statements: list[ast.stmt]) -> Names:
    return frozenset(name for name, _ in _assignments(statements))
