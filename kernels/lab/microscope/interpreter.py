"""The interpreter: runs a kernel's tree for many threads at once.

Lanes are the threads of many blocks (or one warp, see `launch`), a value is a NumPy vector over
them, and a branch is a mask. Statements are generators that yield at barriers only, so that the
launch decides who runs next; they return the lanes that fall through to the next statement, or
None if none do.
"""

from __future__ import annotations

import ast
import math
import types
from dataclasses import dataclass, field

import numpy as np

from . import intrinsics, names, values
from .errors import KernelError, OutOfBounds, Unsupported
from .lanes import Lanes, Mask, Scope
from .memory import Array, Buffer, of_argument
from .source import Code, code_of, jumps
from .trace import WARP, Kind, Problem
from .tracer import Tracer

MISSING = object()


@dataclass(eq=False)
class Barrier:
    """A request to wait for the whole block.

    `reduce` is None, "count", "and" or "or"; the launch puts the answer into `result`.
    """

    line: int
    mask: Mask
    runner: Runner
    reduce: str | None = None
    predicate: object = None
    result: object = None


@dataclass(eq=False)
class Frame:
    """One call of a function.

    `scopes` says under which mask a variable was last assigned whole: outside it the variable
    holds nothing that counts, so that it may be overwritten without merging.
    """

    code: Code
    env: dict
    scopes: dict[str, Scope] = field(default_factory=dict)
    loops: list[Loop] = field(default_factory=list)
    returned: object = None
    exited: Mask | None = None


@dataclass(eq=False)
class Loop:
    """Lanes that left the current iteration of a loop."""

    broken: Mask | None = None
    continued: Mask | None = None


class Session:
    """What the runners of one launch share.

    Attributes
    ----------
    grid, block : tuple of int
    tracer : Tracer or None
        None in a plain launch, where problems are errors.
    limits : Limits
        What the launch may ask for.
    """

    def __init__(self, grid, block, tracer: Tracer | None, shared_bytes: int, limits):
        self.grid, self.block, self.tracer = grid, block, tracer
        self.limits = limits
        self.dynamic_bytes = shared_bytes
        self.static_bytes = 0
        self.local_bytes: dict[ast.AST, int] = {}
        self.layout: dict[ast.AST, int] = {}  # shared arrays: base address of each declaration
        self.codes: dict[object, Code] = {}
        self.constants: dict[ast.AST, object] = {}
        self.jumps: dict[ast.AST, bool] = {}
        self.constant_arrays: dict[int, Array] = {}
        self.printed = 0
        self.trips = 0
        self.current: ast.stmt | None = None  # the statement that runs
        self.warps_per_block = -(-math.prod(block) // WARP)

    def code(self, function) -> Code:
        """The code of a device function, read once."""
        code = self.codes.get(function)
        if code is None:
            code = self.codes[function] = code_of(function)
        return code

    def constant_array(self, a: np.ndarray, name: str) -> Array:
        """A global array: Numba copies it into constant memory."""
        array = self.constant_arrays.get(id(a))
        if array is None:
            array = of_argument(np.ascontiguousarray(a), name, 0, "constant")
            self.constant_arrays[id(a)] = array
        return array


class Runner:
    """Runs one group of lanes through a kernel.

    Parameters
    ----------
    session : Session
    lanes : Lanes
    shared : dict
        Shared arrays of these blocks, by declaration; runners of one block share it.
    """

    def __init__(self, session: Session, lanes: Lanes, shared: dict):
        self.session, self.lanes, self.shared = session, lanes, shared
        self.tracer = session.tracer
        self.exited: Mask | None = None
        self.frame: Frame | None = None
        self.depth = 0
        limits = session.limits
        self.max_trips = min(limits.trips, limits.loop_steps // lanes.count)
        self.unused = None  # a call whose value nobody wants
        self._lane_numbers = None
        self._shared_base = {}

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

    def call_now(self, code: Code, arguments: list, m: Mask, call: str):
        """Run a function inside an expression, where this runner cannot wait for others."""
        return self.drain(self.call(code, arguments, m, call))

    def drain(self, generator):
        """Run a generator to its end; barriers are met alone."""
        answer = None
        while True:
            try:
                request = generator.send(answer)
            except StopIteration as end:
                return end.value
            answer = self.meet_alone(request)

    def meet_alone(self, barrier: Barrier):
        """Pass a barrier inside an expression: possible if the whole block is here."""
        if self.lanes.warp is not None:
            raise Unsupported(
                barrier.line, "this schedule needs every barrier to be a statement of its own"
            )
        self.session.meet([barrier])
        return barrier.result

    # -- statements

    def block(self, statements, m: Mask | None):
        """Run statements in turn."""
        for s in statements:
            if m is None:
                return None
            self.session.current = s
            simple = self.SIMPLE.get(type(s))
            if simple is not None and not self.may_wait(s):
                m = simple(self, s, m)
            else:
                m = yield from self.compound(s, m)
        return m

    def may_wait(self, s) -> bool:
        """Say whether a simple statement is a call of its own, which may hold a barrier."""
        return isinstance(getattr(s, "value", None), ast.Call)

    def compound(self, s, m: Mask):
        """Run a statement that may contain a barrier."""
        handler = self.COMPOUND.get(type(s))
        if handler is None:
            raise Unsupported(s.lineno, f"{_describe(s)} cannot be used in a kernel")
        return (yield from handler(self, s, m))

    def with_call(self, s, m: Mask):
        """A statement whose value is a call: barriers and device functions may wait there."""
        n = s.value
        target = self.callee(n.func)
        barrier = intrinsics.BARRIERS.get(getattr(target, "name", None), MISSING)
        if barrier is not MISSING:
            v = yield from self.barrier(n, barrier, m)
        elif _is_device_function(target):
            code = self.session.code(_function(target))
            arguments = self.arguments(n, m)
            v = yield from self.call(code, arguments, m, f"line {n.lineno}: {code.name}")
        else:
            self.unused = n if isinstance(s, ast.Expr) else None
            v = self.evaluate(n, m)
        if isinstance(s, ast.Expr):
            return m
        return self.SIMPLE[type(s)](self, s, m, v)

    def barrier(self, n: ast.Call, reduce: str | None, m: Mask):
        """``cuda.syncthreads`` and its reducing forms."""
        predicate = values.truth(self.evaluate(n.args[0], m)) if reduce else None
        request = Barrier(n.lineno, m, self, reduce, predicate)
        yield request
        return request.result

    def assign(self, s: ast.Assign, m: Mask, v=MISSING):
        if v is MISSING:
            v = self.evaluate(s.value, m)
        for target in s.targets:
            self.store(target, v, m)
        return m

    def annotated(self, s: ast.AnnAssign, m: Mask, v=MISSING):
        if s.value is not None:
            self.store(s.target, self.evaluate(s.value, m) if v is MISSING else v, m)
        return m

    def augmented(self, s: ast.AugAssign, m: Mask, v=MISSING):
        target = s.target
        if isinstance(target, ast.Name):
            old = self.evaluate_name(target, m)
            if v is MISSING:
                v = self.evaluate(s.value, m)
            self.store(target, self.binary(s, old, v, m), m)
        elif isinstance(target, ast.Subscript):
            array, index = self.evaluate(target.value, m), self.index(target.slice, m)
            old = self.load(array, index, m, target)
            if v is MISSING:
                v = self.evaluate(s.value, m)
            self.put(array, index, self.binary(s, old, v, m), m, target)
        else:
            raise Unsupported(s.lineno, f"cannot assign to {ast.unparse(target)}")
        return m

    def expression(self, s: ast.Expr, m: Mask, v=MISSING):
        if not isinstance(s.value, ast.Constant):
            self.evaluate(s.value, m)
        return m

    def nothing(self, s, m: Mask):
        return m

    def returns(self, s: ast.Return, m: Mask, v=MISSING):
        frame = self.frame
        if s.value is not None:
            v = self.evaluate(s.value, m) if v is MISSING else v
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
        yes, no = self.lanes.split(values.truth(self.evaluate(s.test, m)), m)
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
        trips = self.trips(s, m)
        if trips is not None:
            for count, k in enumerate(trips):
                if self.exhausted(count):
                    return self.endless(s, m)
                self.store(s.target, k, m)
                m, broken = yield from self.iteration(s, m)
                left = union(left, broken, start)
                if m is None:
                    break
        else:
            i, stop, step = self.bounds(s.iter, m)
            done, count = None, 0
            while m is not None:
                m, finished = self.lanes.split(np.where(step > 0, i < stop, i > stop), m)
                done = union(done, finished, start)
                if m is None:
                    break
                if self.exhausted(count):
                    return self.endless(s, m)
                count += 1
                self.store(s.target, i, m)
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
            m, finished = self.lanes.split(values.truth(self.evaluate(s.test, m)), m)
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
        raise intrinsics.StopRun

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
        i, stop, step = self.bounds(n, m)
        if any(isinstance(x, np.ndarray) for x in (i, stop, step)):
            return None
        return map(np.int64, range(int(i), int(stop), int(step)))

    def is_range(self, n) -> bool:
        if not (isinstance(n, ast.Call) and isinstance(n.func, ast.Name)):
            return False
        return n.func.id not in self.frame.env and self.constant(n.func) is range

    def bounds(self, n: ast.Call, m: Mask):
        """Start, stop and step of a range()."""
        arguments = [self.evaluate(x, m) for x in n.args]
        if not 1 <= len(arguments) <= 3:
            raise Unsupported(n.lineno, f"range() takes 1 to 3 numbers, got {len(arguments)}")
        for v in arguments:
            if not values.is_value(v) or v.dtype.kind not in "iub":
                raise Unsupported(n.lineno, "range() takes integers: use int(...)")
        arguments = [values.cast(values.INT64, v) for v in arguments]
        start, stop = (np.int64(0), arguments[0]) if len(arguments) == 1 else arguments[:2]
        step = arguments[2] if len(arguments) == 3 else np.int64(1)
        if np.any(step == 0):
            raise KernelError(f"line {n.lineno}: the step of range() is 0")
        return start, stop, step

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

    def merge(self, m: Mask, new, old, n):
        """`new` in the active lanes, `old` in the others."""
        if new is old or m.array is None:
            return new
        if isinstance(new, tuple) and isinstance(old, tuple) and len(new) == len(old):
            return tuple(self.merge(m, a, b, n) for a, b in zip(new, old, strict=True))
        if values.is_value(new) and values.is_value(old):
            return np.where(m.array, new, old)
        if isinstance(new, Array) and isinstance(old, Array) and new.buffer is old.buffer:
            if new.strides == old.strides:
                offset = np.where(m.array, new.offset, old.offset)
                shape = tuple(
                    a if a is b else np.where(m.array, a, b)
                    for a, b in zip(new.shape, old.shape, strict=True)
                )
                return Array(new.buffer, offset, shape, new.strides)
        raise Unsupported(
            n.lineno, f"{ast.unparse(n)} would be one thing in some threads, another in others"
        )

    # -- memory

    def index(self, n, m: Mask) -> tuple:
        """The indices of a subscript."""
        if isinstance(n, ast.Tuple):
            return tuple(self.one_index(x, m) for x in n.elts)
        v = self.one_index(n, m)
        return v if isinstance(v, tuple) else (v,)

    def one_index(self, n, m: Mask):
        if isinstance(n, ast.Slice):
            parts = (n.lower, n.upper, n.step)
            return slice(*(None if x is None else self.evaluate(x, m) for x in parts))
        return self.evaluate(n, m)

    def locate(self, a: Array, index: tuple, m: Mask, n):
        """Element numbers of an access.

        Returns
        -------
        elements : lane value of int64
            0 where a lane may not access.
        mask : Mask or None
            The lanes within bounds.
        """
        if len(index) != a.ndim:
            raise Unsupported(
                n.lineno, f"{a.name} has {a.ndim} axes, got {len(index)} indices: {ast.unparse(n)}"
            )
        elements, outside = a.offset, None
        for i, size, stride in zip(index, a.shape, a.strides, strict=True):
            if not values.is_value(i) or i.dtype.kind not in "iub":
                raise Unsupported(n.lineno, f"an index must be an integer: {ast.unparse(n)}")
            if isinstance(i, np.ndarray):
                if i.dtype.kind == "i":
                    i = values.cast(values.INT64, i)
                    inside = type(size) is int and i.view(np.uint64).max() < size
                else:
                    inside = type(size) is int and i.max() < size
                    i = i.astype(np.int64) if inside else i
                if not inside:
                    i, bad = self.wrap(i, size, m, n, a)
                    if bad is not None:
                        outside = bad if outside is None else outside | bad
            elif type(size) is int and 0 <= i < size:
                i = int(i)
            else:
                i, bad = self.wrap(i, size, m, n, a)
                if bad is not None:
                    outside = bad if outside is None else outside | bad
            if type(stride) is int and stride == 1:
                elements = i if type(elements) is int and elements == 0 else elements + i
            else:
                elements = elements + i * stride
        if isinstance(a.offset, np.ndarray) and m.array is not None:
            # A view may lie anywhere in lanes that do not take part.
            elements = np.clip(elements, 0, max(0, a.buffer.size - 1))
        if outside is None:
            return elements, m
        outside = outside if m.array is None else outside & m.array
        self.out_of_bounds(a, index, outside, n)
        elements = np.where(outside, 0, elements)
        return elements, self.lanes.mask(
            np.broadcast_to(~outside, np.broadcast_shapes(outside.shape, (1, 1, 1, 1)))
            if m.array is None
            else m.array & ~outside,
            m,
        )

    def wrap(self, i, size, m: Mask, n, a: Array):
        """Indices brought into bounds as Numba does: negative ones count from the end.

        Returns the indices (0 where out of bounds) and the active lanes out of bounds, or None.
        """
        v = np.asarray(i)
        if v.ndim == 0:
            v = v.reshape(1, 1, 1, 1)
        signed = v.dtype.kind == "i"
        v = v.astype(np.int64)
        if signed:
            below = (v < 0) & (v >= -np.asarray(size))
            if below.any():
                self.negative_index(below, v, m, n, a)
                v = np.where(below, v + size, v)
        bad = (v < 0) | (v >= size)
        active = bad if m.array is None else bad & m.array
        return np.where(bad, 0, v), (active if active.any() else None)

    def negative_index(self, below, v, m: Mask, n, a: Array) -> None:
        """Note computed indices below zero: legal in Numba, and nearly always a slip."""
        if m.array is not None:
            below = below & m.array
        if self.tracer is None or not below.any() or _constant_negative(n):
            return
        block, thread, position = self.lanes.first(below)
        index = int(self.lanes.at(v, position))
        message = (
            f"{ast.unparse(n)}: index {index} in thread {thread} of block {block} is negative and "
            f"counts from the end of {a.name}, shape {_plain(a.shape, position, self.lanes)}; "
            "guard it if that is not meant"
        )
        problem = Problem(
            Kind.NEGATIVE_INDEX,
            line=n.lineno,
            array=a.name,
            element=(index,),
            block=block,
            thread=thread,
            message=message,
        )
        self.problem((Kind.NEGATIVE_INDEX, n), problem, self.lane_count(below))

    def out_of_bounds(self, a: Array, index: tuple, outside, n) -> None:
        block, thread, position = self.lanes.first(outside)
        element = tuple(int(self.lanes.at(i, position)) for i in index)
        shape = _plain(a.shape, position, self.lanes)
        op = "writes" if isinstance(getattr(n, "ctx", None), ast.Store) else "reads"
        inside = ", ".join(str(e) for e in element)
        message = (
            f"thread {thread} of block {block} {op} {a.name}[{inside}], "
            f"outside its shape {shape}: guard the access with an if"
        )
        problem = Problem(
            Kind.OUT_OF_BOUNDS,
            line=n.lineno,
            array=a.name,
            element=element,
            block=block,
            thread=thread,
            message=message,
        )
        self.problem((Kind.OUT_OF_BOUNDS, n, op), problem, self.lane_count(outside))

    def cells(self, buffer: Buffer, elements):
        """Positions in ``buffer.flat``."""
        if buffer.space == "shared":
            if self.lanes.blocks == 1:
                return elements
            base = self._shared_base.get(buffer.size)
            if base is None:
                base = self.lanes.column(np.arange(self.lanes.blocks) * buffer.size)
                self._shared_base[buffer.size] = base
            return base + elements
        if buffer.space == "local":
            if self._lane_numbers is None:
                self._lane_numbers = np.arange(self.lanes.count).reshape(self.lanes.shape)
            return elements * self.lanes.count + self._lane_numbers
        return elements

    def load(self, a, index: tuple, m: Mask, n):
        """``a[index]``: an element, or a view if indices are missing or slices."""
        if isinstance(a, tuple):
            return self.item(a, index, n)
        if not isinstance(a, Array):
            raise Unsupported(n.lineno, f"{ast.unparse(n)}: {_describe_value(a)} has no elements")
        if len(index) < a.ndim or any(isinstance(i, slice) for i in index):
            return self.view(a, index, m, n)
        elements, inside = self.locate(a, index, m, n)
        buffer = a.buffer
        if inside is None:
            return values.poison(buffer.dtype)
        if buffer.space == "local" and not isinstance(elements, np.ndarray):
            if self.tracer is not None:
                self.tracer.access(n, buffer, "load", elements, None, inside, self.lanes)
            start = int(elements) * self.lanes.count
            return buffer.flat[start : start + self.lanes.count].reshape(self.lanes.shape).copy()
        cells = self.cells(buffer, elements)
        if self.tracer is not None:
            self.tracer.access(n, buffer, "load", elements, cells, inside, self.lanes)
            if buffer in self.tracer.written:
                self.uninitialised(buffer, elements, cells, inside, n)
        v = buffer.flat.take(cells) if isinstance(cells, np.ndarray) else buffer.flat[cells]
        if inside is not m:
            v = np.where(inside.array, v, values.poison(buffer.dtype))
        return v

    def item(self, a: tuple, index: tuple, n):
        i = index[0]
        if len(index) != 1 or isinstance(i, np.ndarray):
            raise Unsupported(n.lineno, "a tuple takes one index, the same in all threads")
        if isinstance(i, slice):
            parts = (i.start, i.stop, i.step)
            return a[slice(*(None if x is None else int(x) for x in parts))]
        if not -len(a) <= int(i) < len(a):
            raise OutOfBounds(f"line {n.lineno}: index {int(i)} of a tuple of {len(a)}")
        return a[int(i)]

    def view(self, a: Array, index: tuple, m: Mask, n) -> Array:
        """``A[row]``, ``A[:, k]``, ``A[i:i + 4]``: a part of an array, not copied."""
        if len(index) > a.ndim:
            raise Unsupported(n.lineno, f"{a.name} has {a.ndim} axes, got {len(index)} indices")
        offset, shape, strides = a.offset, [], []
        outside = None
        for d, (size, stride) in enumerate(zip(a.shape, a.strides, strict=True)):
            i = index[d] if d < len(index) else slice(None)
            if isinstance(i, slice):
                start, length, step = self.slice_of(i, size, n)
                offset = offset + start * stride
                shape.append(length)
                strides.append(stride * step)
                continue
            if not values.is_value(i) or i.dtype.kind not in "iub":
                raise Unsupported(n.lineno, f"an index must be an integer: {ast.unparse(n)}")
            i, bad = self.wrap(i, size, m, n, a)
            if bad is not None:
                outside = bad if outside is None else outside | bad
            offset = offset + i * stride
        if outside is not None:
            self.out_of_bounds(a, tuple(i for i in index if not isinstance(i, slice)), outside, n)
        if isinstance(offset, np.ndarray) and offset.size == 1:
            offset = int(offset.item())
        return Array(a.buffer, offset, tuple(shape), tuple(strides))

    def slice_of(self, s: slice, size, n):
        """Start, length and step of a slice of an axis, clipped as Python clips it."""
        if s.step is not None and (isinstance(s.step, np.ndarray) or int(s.step) < 1):
            raise Unsupported(n.lineno, "the step of a slice must be positive and the same for all")
        step = 1 if s.step is None else int(s.step)
        start = np.int64(0) if s.start is None else s.start.astype(np.int64)
        stop = np.int64(0) + size if s.stop is None else s.stop.astype(np.int64)
        start, stop = (np.clip(np.where(x < 0, x + size, x), 0, size) for x in (start, stop))
        length = np.maximum(0, -(-(stop - start) // step))
        return _scalar(start), _scalar(length), step

    def put(self, a, index: tuple, v, m: Mask, n) -> None:
        """``a[index] = v``."""
        if not isinstance(a, Array):
            raise Unsupported(n.lineno, f"cannot store into {_describe_value(a)}: {ast.unparse(n)}")
        buffer = a.buffer
        if buffer.space == "constant":
            raise KernelError(f"line {n.lineno}: {a.name} is constant memory and cannot be changed")
        if len(index) < a.ndim or any(isinstance(i, slice) for i in index):
            self.put_view(self.view(a, index, m, n), v, m, n)
            return
        if not values.is_value(v):
            raise Unsupported(n.lineno, f"cannot store {_describe_value(v)} in {ast.unparse(n)}")
        if v.dtype.kind == "c" and buffer.dtype.kind != "c":
            raise Unsupported(n.lineno, f"cannot store {v.dtype.name} in {buffer.dtype.name}")
        elements, inside = self.locate(a, index, m, n)
        if inside is None:
            return
        if buffer.space == "local" and not isinstance(elements, np.ndarray) and inside is m:
            self.put_local(buffer, int(elements), v, m, n)
            return
        cells = self.cells(buffer, elements)
        if self.tracer is not None:
            self.tracer.access(n, buffer, "store", elements, cells, inside, self.lanes)
            written = self.tracer.written.get(buffer)
            if written is not None:
                self.scatter(written, cells, np.bool_(True), inside)
        self.scatter(buffer.flat, cells, v, inside)

    def put_local(self, buffer: Buffer, element: int, v, m: Mask, n) -> None:
        """Store one element of every thread's local array: they lie side by side."""
        if self.tracer is not None:
            self.tracer.access(n, buffer, "store", element, None, m, self.lanes)
        start = element * self.lanes.count
        row = buffer.flat[start : start + self.lanes.count].reshape(self.lanes.shape)
        if m.array is None:
            row[...] = v
        else:
            np.copyto(row, v, where=m.array, casting="unsafe")

    def put_view(self, part: Array, v, m: Mask, n) -> None:
        """``a[i:j] = v``: every thread stores every element of its part."""
        if not values.is_value(v) or any(isinstance(s, np.ndarray) for s in part.shape):
            raise Unsupported(n.lineno, f"{ast.unparse(n)} = ...: write a loop over the elements")
        for index in np.ndindex(*part.shape):
            self.put(part, tuple(np.int64(i) for i in index), v, m, n)

    @staticmethod
    def scatter_shape(cells, v, mask: Mask) -> tuple[int, ...]:
        shapes = [np.shape(cells), np.shape(v)]
        if mask.array is not None:
            shapes.append(mask.array.shape)
        return np.broadcast_shapes(*shapes)

    def scatter(self, flat: np.ndarray, cells, v, mask: Mask) -> None:
        """Write lane values; of lanes that write one cell the last one wins."""
        shape = self.scatter_shape(cells, v, mask)
        if mask.array is None:
            if np.shape(cells) != shape:
                cells = np.broadcast_to(cells, shape)
            flat[cells] = v
            return
        active = np.broadcast_to(mask.array, shape)
        if isinstance(v, np.ndarray):
            v = np.broadcast_to(v, shape)[active]
        flat[np.broadcast_to(cells, shape)[active]] = v

    def uninitialised(self, buffer: Buffer, elements, cells, m: Mask, n) -> None:
        """Look for reads of shared elements that nobody has written."""
        blank = ~self.tracer.written[buffer][cells]
        if m.array is not None:
            blank = blank & m.array
        if not blank.any():
            return
        blank = np.asarray(blank).reshape((1, 1, 1, 1)) if np.ndim(blank) == 0 else blank
        block, thread, position = self.lanes.first(blank)
        index = buffer.index_of(self.lanes.at(elements, position))
        where = ", ".join(map(str, index))
        message = (
            f"thread {thread} of block {block} reads {buffer.name}[{where}], which no thread of "
            "the block has written yet: shared memory starts with garbage, so fill it first"
        )
        problem = Problem(
            Kind.UNINITIALISED,
            line=n.lineno,
            array=buffer.name,
            element=index,
            block=block,
            thread=thread,
            message=message,
        )
        self.problem((Kind.UNINITIALISED, n), problem, self.lane_count(blank))

    # -- problems

    def problem(self, key: tuple, problem: Problem, count: int) -> None:
        """Note a problem; a plain launch stops at it."""
        if self.tracer is not None:
            self.tracer.problem(key, problem, count)
            return
        error = OutOfBounds if problem.kind == Kind.OUT_OF_BOUNDS else KernelError
        raise error(str(problem))

    def lane_count(self, chosen: np.ndarray) -> int:
        """Number of lanes a bool vector stands for."""
        return int(np.count_nonzero(chosen)) * (self.lanes.count // chosen.size)

    def array_of(self, m: Mask) -> np.ndarray:
        """A mask as a bool vector."""
        return np.ones((1, 1, 1, 1), bool) if m.array is None else m.array

    # -- expressions

    def evaluate(self, n, m: Mask):
        """The value of an expression in the active lanes; other lanes hold anything."""
        handler = self.EXPRESSIONS.get(type(n))
        if handler is None:
            raise Unsupported(n.lineno, f"{_describe(n)} cannot be used in a kernel")
        return handler(self, n, m)

    def evaluate_constant(self, n: ast.Constant, m: Mask):
        v = self.session.constants.get(n, MISSING)
        if v is MISSING:
            v = self.session.constants[n] = values.literal(n.value)
        return v

    def evaluate_name(self, n: ast.Name, m: Mask):
        v = self.frame.env.get(n.id, MISSING)
        if v is not MISSING:
            return v
        if n.id in self.frame.code.locals:
            raise KernelError(f"line {n.lineno}: {n.id} is used before any thread gives it a value")
        v = self.constant(n)
        return intrinsics.coordinate(self, v) if isinstance(v, names.Coordinate) else v

    def constant(self, n):
        """What a name from outside the function means, or an attribute of one."""
        v = self.session.constants.get(n, MISSING)
        if v is not MISSING:
            return v
        if isinstance(n, ast.Name):
            try:
                v = self.frame.code.outer(n.id)
            except KeyError:
                raise KernelError(f"line {n.lineno}: the name {n.id!r} is not defined") from None
        else:
            owner = self.constant(n.value)
            try:
                v = getattr(owner, n.attr)
            except AttributeError:
                if names.is_cuda(owner):
                    raise Unsupported(
                        n.lineno, f"{ast.unparse(n)} is not known to the interpreter"
                    ) from None
                raise KernelError(f"line {n.lineno}: {ast.unparse(n)} does not exist") from None
        v = names.known(v)
        if isinstance(v, np.ndarray) and v.ndim:
            v = self.session.constant_array(v, ast.unparse(n))
        elif isinstance(v, (tuple, list)):
            v = tuple(values.literal(x) for x in v)
        else:
            v = values.literal(v)
        self.session.constants[n] = v
        return v

    def is_constant(self, n) -> bool:
        """Say whether an attribute chain starts at a name from outside the function."""
        while isinstance(n, ast.Attribute):
            n = n.value
        return isinstance(n, ast.Name) and n.id not in self.frame.code.locals

    def evaluate_tuple(self, n, m: Mask):
        return tuple(self.evaluate(x, m) for x in n.elts)

    def evaluate_binary(self, n: ast.BinOp, m: Mask):
        return self.binary(n, self.evaluate(n.left, m), self.evaluate(n.right, m), m)

    def binary(self, n, a, b, m: Mask):
        """Apply the operator of a node."""
        op = type(n.op)
        try:
            v = values.binary(op, a, b)
        except AttributeError:
            if isinstance(a, tuple) and isinstance(b, tuple) and op is ast.Add:
                return a + b
            v = None
        except (TypeError, ValueError) as error:
            raise Unsupported(
                n.lineno,
                f"{_text(n)}: no such operation on {_describe_value(a)} and "
                f"{_describe_value(b)} ({error})",
            ) from None
        except KeyError:
            v = None
        if v is None:
            raise Unsupported(
                n.lineno,
                f"{_text(n)}: no such operation on {_describe_value(a)} and {_describe_value(b)}",
            )
        if self.tracer is not None and v.dtype.kind == "f":
            self.tracer.count_flops(v.dtype, m.n, n.lineno)
        return v

    def evaluate_unary(self, n: ast.UnaryOp, m: Mask):
        v = self.evaluate(n.operand, m)
        if isinstance(n.op, ast.Not):
            return np.logical_not(values.truth(v))
        if not values.is_value(v):
            raise Unsupported(n.lineno, f"{ast.unparse(n)}: no such operation")
        if isinstance(n.op, ast.USub):
            return values.negative(v)
        if isinstance(n.op, ast.Invert):
            if v.dtype.kind not in "iub":
                raise Unsupported(n.lineno, f"{ast.unparse(n)}: ~ takes integers")
            return values.inverted(v)
        return v.astype(values.wide(v.dtype))

    def evaluate_bool(self, n: ast.BoolOp, m: Mask):
        """``and`` and ``or``: the right side runs only in lanes that need it."""
        is_and = isinstance(n.op, ast.And)
        v = self.evaluate(n.values[0], m)
        for x in n.values[1:]:
            condition = values.truth(v)
            yes, no = self.lanes.split(condition, m)
            need = yes if is_and else no
            if need is None:
                return v
            other = self.evaluate(x, need)
            if need is m:
                v = other
            elif v.dtype == other.dtype == values.BOOL:
                v = (v & other) if is_and else (v | other)
            else:
                v = np.where(condition, other, v) if is_and else np.where(condition, v, other)
        return v

    def evaluate_compare(self, n: ast.Compare, m: Mask):
        """Comparisons, chained ones too."""
        left, result = self.evaluate(n.left, m), None
        for op, x in zip(n.ops, n.comparators, strict=True):
            right = self.evaluate(x, m)
            if isinstance(op, (ast.Is, ast.IsNot)):
                v = np.bool_((left is right) == isinstance(op, ast.Is))
            elif isinstance(op, (ast.In, ast.NotIn)):
                v = self.contains(left, right, n)
                v = ~v if isinstance(op, ast.NotIn) else v
            elif isinstance(left, tuple) and isinstance(right, tuple):
                v = self.compare_tuples(op, left, right, n)
            elif values.is_value(left) and values.is_value(right):
                v = values.COMPARISONS[type(op)](left, right)
            else:
                raise Unsupported(
                    n.lineno,
                    f"{ast.unparse(n)}: cannot compare {_describe_value(left)} with "
                    f"{_describe_value(right)}",
                )
            result = v if result is None else result & v
            left = right
        return result

    def contains(self, left, right, n):
        if not isinstance(right, tuple):
            raise Unsupported(n.lineno, f"{ast.unparse(n)}: in needs a tuple")
        result = np.bool_(False)
        for x in right:
            result = result | (left == x)
        return result

    def compare_tuples(self, op, left, right, n):
        if not isinstance(op, (ast.Eq, ast.NotEq)):
            raise Unsupported(n.lineno, f"{ast.unparse(n)}: tuples compare with == and != only")
        equal = np.bool_(len(left) == len(right))
        for a, b in zip(left, right, strict=False):
            equal = equal & (a == b)
        return equal if isinstance(op, ast.Eq) else ~equal

    def evaluate_ternary(self, n: ast.IfExp, m: Mask):
        """``a if c else b``: each side runs only in its lanes."""
        condition = values.truth(self.evaluate(n.test, m))
        yes, no = self.lanes.split(condition, m)
        if no is None:
            return self.unified(self.evaluate(n.body, m), n.orelse, m)
        if yes is None:
            return self.unified(self.evaluate(n.orelse, m), n.body, m)
        a, b = self.evaluate(n.body, yes), self.evaluate(n.orelse, no)
        if values.is_value(a) and values.is_value(b):
            return np.where(yes.array, a, b)
        return self.merge(yes, a, b, n)

    def unified(self, v, other, m: Mask):
        """`v` with the type it has beside the side of a ternary that no lane takes."""
        if values.is_value(v) and isinstance(other, ast.Constant):
            w = values.literal(other.value)
            if values.is_value(w) and w.dtype != v.dtype:
                return v.astype(np.result_type(v.dtype, w.dtype))
        return v

    def evaluate_subscript(self, n: ast.Subscript, m: Mask):
        return self.load(self.evaluate(n.value, m), self.index(n.slice, m), m, n)

    def evaluate_attribute(self, n: ast.Attribute, m: Mask):
        if self.is_constant(n):
            v = self.constant(n)
            if isinstance(v, names.Coordinate):
                return intrinsics.coordinate(self, v)
            if not isinstance(v, Array):
                return v
        owner = self.evaluate(n.value, m)
        if isinstance(owner, Array):
            return self.array_attribute(owner, n)
        if isinstance(owner, names.Dim3):
            if n.attr not in ("x", "y", "z"):
                raise Unsupported(n.lineno, f"{ast.unparse(n)}: use .x, .y or .z")
            return intrinsics.coordinate(self, getattr(owner, n.attr))
        if values.is_value(owner) and n.attr in ("real", "imag"):
            return getattr(owner, n.attr)
        raise Unsupported(n.lineno, f"{ast.unparse(n)} is not known to the interpreter")

    def array_attribute(self, a: Array, n: ast.Attribute):
        if n.attr == "shape":
            return tuple(np.int64(0) + s for s in a.shape)
        if n.attr == "size":
            return np.int64(1) * math.prod(a.shape)
        if n.attr == "ndim":
            return np.int64(a.ndim)
        if n.attr == "dtype":
            return a.dtype
        if n.attr == "itemsize":
            return np.int64(a.dtype.itemsize)
        if n.attr == "strides":
            return tuple(np.int64(a.dtype.itemsize) * s for s in a.strides)
        if n.attr == "T":
            return a.transposed()
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: an array has no .{n.attr} in a kernel")

    # -- calls

    def callee(self, n):
        """What a call calls, or None if it is found only by evaluating it."""
        if isinstance(n, ast.Name) and n.id in self.frame.env:
            return self.frame.env[n.id]
        return self.constant(n) if self.is_constant(n) else None

    def arguments(self, n: ast.Call, m: Mask) -> list:
        if n.keywords:
            raise Unsupported(n.lineno, f"{ast.unparse(n)}: keyword arguments are not understood")
        return [self.evaluate(x, m) for x in n.args]

    def evaluate_call(self, n: ast.Call, m: Mask):
        target = self.callee(n.func)
        if target is None:
            return self.method(n, m)
        if isinstance(target, names.Intrinsic):
            return intrinsics.call(self, target.name, n, m)
        if _is_device_function(target):
            code = self.session.code(_function(target))
            return self.call_now(code, self.arguments(n, m), m, f"line {n.lineno}: {code.name}")
        return intrinsics.python_call(self, target, n, m)

    def method(self, n: ast.Call, m: Mask):
        """A method of an array: ``reshape`` and ``ravel``-like views are all Numba has."""
        if isinstance(n.func, ast.Attribute):
            owner = self.evaluate(n.func.value, m)
            arguments = self.arguments(n, m)
            if isinstance(owner, Array):
                return intrinsics.array_method(self, owner, n.func.attr, arguments, n)
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: this call is not understood")

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
    COMPOUND = {
        ast.If: branch,
        ast.For: for_loop,
        ast.While: while_loop,
        ast.Assign: with_call,
        ast.AugAssign: with_call,
        ast.AnnAssign: with_call,
        ast.Expr: with_call,
        ast.Return: with_call,
    }
    EXPRESSIONS = {
        ast.Constant: evaluate_constant,
        ast.Name: evaluate_name,
        ast.Tuple: evaluate_tuple,
        ast.List: evaluate_tuple,
        ast.BinOp: evaluate_binary,
        ast.UnaryOp: evaluate_unary,
        ast.BoolOp: evaluate_bool,
        ast.Compare: evaluate_compare,
        ast.IfExp: evaluate_ternary,
        ast.Subscript: evaluate_subscript,
        ast.Attribute: evaluate_attribute,
        ast.Call: evaluate_call,
    }


def _is_device_function(target) -> bool:
    return isinstance(target, types.FunctionType) or isinstance(
        getattr(target, "py_func", None), types.FunctionType
    )


def _function(target):
    return getattr(target, "py_func", target)


def _constant_negative(n) -> bool:
    """Say whether a subscript has a literal negative index, which is meant."""
    parts = n.slice.elts if isinstance(n.slice, ast.Tuple) else [n.slice]
    return (
        any(
            isinstance(p, ast.UnaryOp)
            and isinstance(p.op, ast.USub)
            and isinstance(p.operand, ast.Constant)
            for p in parts
        )
        if isinstance(n, ast.Subscript)
        else False
    )


def _scalar(v):
    return int(v) if np.ndim(v) == 0 else v


def _plain(shape, position, lanes: Lanes) -> tuple[int, ...]:
    return tuple(int(lanes.at(s, position)) for s in shape)


def _text(n) -> str:
    return ast.unparse(n)


def _describe(n) -> str:
    return f"{type(n).__name__} ({ast.unparse(n).splitlines()[0]})"


def _describe_value(v) -> str:
    if values.is_value(v):
        return v.dtype.name
    if isinstance(v, Array):
        return f"the array {v.name}"
    if isinstance(v, tuple):
        return f"a tuple of {len(v)}"
    return "None" if v is None else repr(v)
