"""A second engine, slow and plain: every thread is a Python generator that runs scalar code.

Nothing here is shared with the microscope. A kernel's source is rewritten so that each access,
operation and call goes through a `Thread`; a barrier or a warp operation becomes a ``yield``, at
which the thread waits for the others. Every access is written down; what the warps asked for and
which pairs of accesses race is worked out afterwards, straight from the definitions.

The type of every operation is what Numba's own typing says it is.
"""

import ast
import builtins
import inspect
import math
import operator
import textwrap
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, product

import numba
import numpy as np
from numba.core.registry import cpu_target

from kernels import engine as backend
from tests.microscope.cases import dims

WARP = 32
BINARY = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": operator.pow,
    "BitAnd": operator.and_,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
    "LShift": operator.lshift,
    "RShift": operator.rshift,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "NotEq": operator.ne,
}
UNARY = {"USub": operator.neg, "UAdd": operator.pos, "Invert": operator.invert}
BLOCK_WIDE = {"syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or"}
WARP_WIDE = {
    "syncwarp",
    "shfl_sync",
    "shfl_up_sync",
    "shfl_down_sync",
    "shfl_xor_sync",
    "ballot_sync",
    "any_sync",
    "all_sync",
}


# ------------------------------------------------------------------------------- what is recorded
@dataclass(frozen=True)
class Access:
    """One thread touching one element."""

    block: tuple[int, int, int]
    thread: int
    site: tuple[int, int, str]
    path: tuple
    array: str
    space: str
    cell: int
    itemsize: int
    epoch: int
    warp_epoch: int

    @property
    def op(self) -> str:
        """load, store or atomic."""
        return self.site[2]

    @property
    def warp(self) -> int:
        """Number of the thread's warp in its block."""
        return self.thread // WARP


@dataclass
class Count:
    """What the warps asked for at one place of the source."""

    array: str
    space: str
    requests: int = 0
    lanes: int = 0
    sectors: int = 0
    lines: int = 0
    wavefronts: int = 0
    bytes_used: int = 0


@dataclass(frozen=True)
class Race:
    """Two accesses to one element that nothing orders; the line numbers ascend."""

    array: str
    space: str
    lines: tuple[int, int]
    ops: tuple[str, str]
    blocks: tuple[tuple[int, int, int], tuple[int, int, int]]
    cell: int
    threads: tuple[int, int]
    same_warp: bool


@dataclass
class Run:
    """A finished launch: arguments afterwards and every access."""

    arguments: list
    accesses: list[Access] = field(default_factory=list)
    barriers: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    def counts(self) -> dict[tuple[int, int, str], Count]:
        """Requests, lanes, sectors, lines and wavefronts of every site."""
        warps = defaultdict(list)
        for a in self.accesses:
            if a.space != "local":
                warps[a.block, a.warp, a.site, a.path].append(a)
        found: dict[tuple[int, int, str], Count] = {}
        for (_, _, site, _), lanes in warps.items():
            size = lanes[0].itemsize
            count = found.setdefault(site, Count(lanes[0].array, lanes[0].space))
            touched = {a.cell * size + i for a in lanes for i in range(size)}
            count.requests += 1
            count.lanes += len(lanes)
            count.bytes_used += len(touched)
            if lanes[0].space == "global":
                count.sectors += len({byte // 32 for byte in touched})
                count.lines += len({byte // 128 for byte in touched})
            else:
                count.wavefronts += wavefronts(
                    [(a.thread % WARP, a.cell * size) for a in lanes], size
                )
        return found

    def races(self) -> set[Race]:
        """Every pair of conflicting accesses that no barrier, `syncwarp` or atomic orders.

        Between the threads of a block, and in global memory between blocks.
        """
        cells = defaultdict(list)
        for a in self.accesses:
            if a.space == "shared":
                cells[a.array, a.space, a.block, a.cell].append(a)
            elif a.space == "global":
                cells[a.array, a.space, None, a.cell].append(a)
        found = set()
        for (array, space, _, cell), there in cells.items():
            if all(a.op == "load" for a in there):
                continue
            for one, two in combinations(there, 2):
                if _conflict(one, two):
                    one, two = sorted((one, two), key=lambda a: a.site[0])
                    found.add(
                        Race(
                            array,
                            space,
                            (one.site[0], two.site[0]),
                            (one.op, two.op),
                            (one.block, two.block),
                            cell,
                            (one.thread, two.thread),
                            one.block == two.block and one.warp == two.warp,
                        )
                    )
        return found


def _conflict(one: Access, two: Access) -> bool:
    ops = {one.op, two.op}
    if ops == {"load"} or ops == {"atomic"}:
        return False
    if one.block != two.block:
        return True
    if one.thread == two.thread or one.epoch != two.epoch:
        return False
    return one.warp != two.warp or one.warp_epoch == two.warp_epoch


def wavefronts(lanes: list[tuple[int, int]], size: int) -> int:
    """Passes over the banks that one request needs.

    Up to four bytes a lane, all lanes go together; eight bytes go as two half warps, sixteen as
    four quarters. Within a pass a bank delivers one word, to as many lanes as want it.
    """
    parts = max(1, size // 4)
    total = 0
    for part in range(parts):
        words = {
            (address + i) // 4
            for lane, address in lanes
            if lane // (WARP // parts) == part
            for i in range(size)
        }
        depth = defaultdict(int)
        for word in words:
            depth[word % 32] += 1
        total += max(depth.values(), default=0)
    return total


# ------------------------------------------------------------------------------- values
@cache
def _typed(fn, types: tuple) -> tuple[tuple, np.dtype]:
    """The types in which Numba computes an operation, and the type of its result."""
    context = cpu_target.typing_context
    context.refresh()
    signature = context.resolve_function_type(fn, tuple(numba.from_dtype(t) for t in types), {})

    def dtype(t):
        return np.dtype(bool) if isinstance(t, numba.types.Boolean) else np.dtype(t.name)

    return tuple(dtype(t) for t in signature.args), dtype(signature.return_type)


def scalar(value):
    """A Python number as the typed scalar that Numba makes of it; anything else as it is."""
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, int):
        return np.int64(value) if value < 2**63 else np.uint64(value)
    if isinstance(value, float):
        return np.float64(value)
    return value


def apply(fn, *operands):
    """An operation on typed scalars, in the types of Numba."""
    operands = [scalar(v) for v in operands]
    if not all(isinstance(v, np.generic) for v in operands):
        return fn(*operands)
    wanted, result = _typed(fn, tuple(v.dtype for v in operands))
    if result.kind in "iu":  # NumPy would meet a signed and an unsigned number in a float
        wanted = [result] * len(wanted)
    with np.errstate(all="ignore"):
        cast = [t.type(v) for t, v in zip(wanted, operands, strict=True)]
        return result.type(fn(*cast))


@dataclass
class Memory:
    """An array as a kernel sees it: a view into one allocation."""

    name: str
    space: str
    data: np.ndarray
    start: int  # address of the allocation's first byte

    @property
    def shape(self):
        """Sizes, as typed scalars."""
        return tuple(np.int64(n) for n in self.data.shape)

    @property
    def size(self):
        """Number of elements."""
        return np.int64(self.data.size)

    def cell(self, index: tuple) -> int:
        """Element number of an index, counted from the start of the allocation."""
        here = self.data[tuple(slice(i, i + 1) for i in index)]
        return (here.__array_interface__["data"][0] - self.start) // self.data.itemsize

    def place(self, index) -> tuple[int, ...]:
        """An index as ints, negative ones counted from the end; IndexError outside."""
        index = index if isinstance(index, tuple) else (index,)
        found = []
        for i, n in zip(index, self.data.shape, strict=False):
            i = int(i)
            i = i + n if i < 0 else i
            if not 0 <= i < n:
                raise IndexError(f"{self.name}[{index}] is outside {self.data.shape}")
            found.append(i)
        return tuple(found)


# ------------------------------------------------------------------------------- a thread
class Thread:
    """One thread: where it is, and everything its kernel does."""

    def __init__(self, launch, block, number):
        self.launch, self.block, self.number = launch, block, number
        x, y, _ = launch.block
        self.index = (number % x, number // x % y, number // (x * y))
        self.path: list = []
        self.epoch = self.warp_epoch = 0

    # loops and calls: which iteration of what the thread is in
    def enter(self, what=-1) -> int:
        self.path.append(what)
        return len(self.path) - 1

    def step(self) -> None:
        self.path[-1] += 1

    def leave(self, depth) -> None:
        del self.path[depth:]

    # memory
    def note(self, site, memory, cell):
        self.launch.run.accesses.append(
            Access(
                self.block,
                self.number,
                site,
                tuple(self.path),
                memory.name,
                memory.space,
                cell,
                memory.data.itemsize,
                self.epoch,
                self.warp_epoch,
            )
        )

    def load(self, site, owner, index):
        if not isinstance(owner, Memory):
            return scalar(owner[int(index)])
        full = index if isinstance(index, tuple) else (index,)
        if len(full) < owner.data.ndim or any(isinstance(i, slice) for i in full):
            return Memory(owner.name, owner.space, owner.data[self.view(owner, full)], owner.start)
        at = owner.place(index)
        self.note(site, owner, owner.cell(at))
        return owner.data[at]

    @staticmethod
    def view(owner, index):
        def bound(v):
            return None if v is None else int(v)

        return tuple(
            slice(bound(i.start), bound(i.stop), bound(i.step)) if isinstance(i, slice) else int(i)
            for i in index
        )

    def store(self, site, owner, index, value):
        at = owner.place(index)
        self.note(site, owner, owner.cell(at))
        owner.data[at] = owner.data.dtype.type(value)

    def atomic(self, site, name, owner, index, *operands):
        at = owner.place(index)
        self.note(site, owner, owner.cell(at))
        old = owner.data[at]
        new = {
            "add": lambda v: old + v,
            "sub": lambda v: old - v,
            "max": lambda v: max(old, v),
            "min": lambda v: min(old, v),
            "exch": lambda v: v,
            "and_": lambda v: old & v,
            "or_": lambda v: old | v,
            "xor": lambda v: old ^ v,
            "cas": lambda expected, v: v if old == expected else old,
        }[name]
        typed = [owner.data.dtype.type(v) for v in operands]
        owner.data[at] = new(*typed)
        return old

    # names and calls
    def attribute(self, site, owner, name):
        launch = self.launch
        if owner is launch.cuda:
            found = {
                "threadIdx": self.index,
                "blockIdx": self.block,
                "blockDim": launch.block,
                "gridDim": launch.grid,
            }.get(name)
            if found is not None:
                return Corner(found)
            if name == "laneid":
                return np.int32(self.number % WARP)
            if name == "warpsize":
                return np.int32(WARP)
            return Name((name,))
        if isinstance(owner, Name):
            return Name((*owner.parts, name))
        return scalar(getattr(owner, name))

    def call(self, site, function, arguments, keywords):
        """A generator: what a call returns, perhaps after waiting for other threads."""
        if isinstance(function, Name):
            return (yield from self.cuda(site, function.parts, arguments, keywords))
        function = getattr(function, "py_func", function)
        if inspect.isfunction(function):
            depth = self.enter(site)
            result = yield from self.launch.generator(function)(self, *arguments)
            self.leave(depth)
            return result
        return self.plain(function, arguments)

    @staticmethod
    def plain(function, arguments):
        if function is range:
            context = cpu_target.typing_context
            given = tuple(numba.from_dtype(scalar(v).dtype) for v in arguments)
            state = context.resolve_value_type(range).get_call_type(context, given, {}).return_type
            counter = np.dtype(state.dtype.name).type
            return (counter(i) for i in range(*(int(v) for v in arguments)))
        if function is len:
            return np.int64(len(arguments[0].data))
        if function in (min, max):
            context = cpu_target.typing_context
            common = context.unify_types(*(numba.from_dtype(v.dtype) for v in arguments))
            return function(np.dtype(common.name).type(v) for v in arguments)
        if function in (int, float, bool):
            dtype = {int: np.int64, float: np.float64, bool: np.bool_}[function]
            return dtype(arguments[0])
        if isinstance(function, type) and issubclass(function, np.generic):
            return function(arguments[0])
        if isinstance(function, numba.types.Type):
            return np.dtype(function.name).type(arguments[0])
        if getattr(function, "__module__", "") == "math" or function is abs:
            return apply(function, *arguments)
        raise NotImplementedError(f"the oracle cannot call {function}")

    def cuda(self, site, parts, arguments, keywords):
        name = parts[-1]
        if name in BLOCK_WIDE:
            return (yield "block", site, tuple(self.path), name, arguments)
        if name in WARP_WIDE:
            return (yield "warp", site, tuple(self.path), name, arguments)
        if parts[0] == "atomic":
            return self.atomic(site[:2] + ("atomic",), name, *arguments)
        if name == "array":
            return self.declare(site, parts[0], *arguments, **keywords)
        launch = self.launch
        if name in ("grid", "gridsize"):
            n = int(arguments[0])
            corner = self.block if name == "grid" else launch.grid
            own = self.index if name == "grid" else (0, 0, 0)
            found = tuple(
                np.int64(c * b + t) for c, b, t in zip(corner, launch.block, own, strict=True)
            )[:n]
            return found[0] if n == 1 else found
        if name == "popc":
            bits = np.asarray(arguments[0])
            return np.int32(int(bits.view(f"u{bits.itemsize}")).bit_count())
        if name == "fma":
            a, b, c = arguments
            return apply(operator.add, apply(operator.mul, a, b), c)
        if name.startswith("threadfence"):
            return None
        raise NotImplementedError(f"the oracle knows no cuda.{'.'.join(parts)}")

    def declare(self, site, space, shape, dtype):
        shape = tuple(int(n) for n in (shape if isinstance(shape, tuple) else (shape,)))
        dtype = np.dtype(getattr(dtype, "name", dtype))
        if space == "local":
            data = np.zeros(shape, dtype)
        else:
            known = self.launch.shared
            if site not in known:
                if shape == (0,):
                    shape = (self.launch.shared_bytes // dtype.itemsize,)
                known[site] = np.zeros(shape, dtype)
            data = known[site]
        return Memory(
            f"{space}@{site[0]}:{site[1]}", space, data, data.__array_interface__["data"][0]
        )


@dataclass(frozen=True)
class Name:
    """A dotted name below ``cuda``, until it is called."""

    parts: tuple[str, ...]


class Corner:
    """threadIdx and its kin."""

    def __init__(self, values):
        self.x, self.y, self.z = (np.int32(v) for v in values)


# ------------------------------------------------------------------------------- rewriting
class Rewrite(ast.NodeTransformer):
    """Every access, operation, loop and call of a kernel made a method of its `Thread`."""

    def __init__(self):
        self.temporaries = 0

    def method(self, name, *arguments):
        return ast.Call(
            ast.Attribute(ast.Name("_t", ast.Load()), name, ast.Load()), list(arguments), []
        )

    @staticmethod
    def site(node, op="load"):
        return ast.Constant((node.lineno, node.col_offset, op))

    @staticmethod
    def apply(op, *operands):
        table = "_binary" if len(operands) == 2 else "_unary"
        fn = ast.Subscript(ast.Name(table, ast.Load()), ast.Constant(type(op).__name__), ast.Load())
        return ast.Call(ast.Name("_apply", ast.Load()), [fn, *operands], [])

    def temporary(self):
        self.temporaries += 1
        return f"_v{self.temporaries}"

    # expressions
    def visit_Constant(self, node):
        return ast.Call(ast.Name("_scalar", ast.Load()), [node], [])

    def visit_BinOp(self, node):
        return self.apply(node.op, self.visit(node.left), self.visit(node.right))

    def visit_UnaryOp(self, node):
        operand = self.visit(node.operand)
        return (
            ast.UnaryOp(node.op, operand)
            if isinstance(node.op, ast.Not)
            else self.apply(node.op, operand)
        )

    def visit_Compare(self, node):
        left, parts = self.visit(node.left), []
        for op, right in zip(node.ops, node.comparators, strict=True):
            name = self.temporary()
            kept = ast.NamedExpr(ast.Name(name, ast.Store()), self.visit(right))
            parts.append(self.apply(op, left, kept))
            left = ast.Name(name, ast.Load())
        return parts[0] if len(parts) == 1 else ast.BoolOp(ast.And(), parts)

    def visit_Subscript(self, node):
        index = self.visit(node.slice)
        return self.method("load", self.site(node), self.visit(node.value), index)

    def visit_Slice(self, node):
        bounds = [
            self.visit(b) if b else ast.Constant(None) for b in (node.lower, node.upper, node.step)
        ]
        return ast.Call(ast.Name("slice", ast.Load()), bounds, [])

    def visit_Attribute(self, node):
        return self.method(
            "attribute", self.site(node), self.visit(node.value), ast.Constant(node.attr)
        )

    def visit_Call(self, node):
        arguments = ast.List([self.visit(a) for a in node.args], ast.Load())
        keywords = ast.Dict(
            [ast.Constant(k.arg) for k in node.keywords],
            [self.visit(k.value) for k in node.keywords],
        )
        return ast.YieldFrom(
            self.method("call", self.site(node), self.visit(node.func), arguments, keywords)
        )

    # statements
    def visit_Assign(self, node):
        value = self.visit(node.value)
        if len(node.targets) == 1:
            return self.assign(node.targets[0], value)
        name = self.temporary()
        first = ast.Assign([ast.Name(name, ast.Store())], value)
        return [first, *(self.assign(t, ast.Name(name, ast.Load())) for t in node.targets)]

    def assign(self, target, value):
        if isinstance(target, ast.Subscript):
            return ast.Expr(
                self.method(
                    "store",
                    self.site(target, "store"),
                    self.visit(target.value),
                    self.visit(target.slice),
                    value,
                )
            )
        return ast.Assign([target], value)

    def visit_AugAssign(self, node):
        target = node.target
        if isinstance(target, ast.Name):
            old = ast.Name(target.id, ast.Load())
            return ast.Assign([target], self.apply(node.op, old, self.visit(node.value)))
        owner, index = self.temporary(), self.temporary()
        read = self.method(
            "load", self.site(target), ast.Name(owner, ast.Load()), ast.Name(index, ast.Load())
        )
        return [
            ast.Assign([ast.Name(owner, ast.Store())], self.visit(target.value)),
            ast.Assign([ast.Name(index, ast.Store())], self.visit(target.slice)),
            ast.Expr(
                self.method(
                    "store",
                    self.site(target, "store"),
                    ast.Name(owner, ast.Load()),
                    ast.Name(index, ast.Load()),
                    self.apply(node.op, read, self.visit(node.value)),
                )
            ),
        ]

    def loop(self, statement):
        depth = self.temporary()
        return [
            ast.Assign([ast.Name(depth, ast.Store())], self.method("enter")),
            statement,
            ast.Expr(self.method("leave", ast.Name(depth, ast.Load()))),
        ]

    def body(self, statements):
        return [s for node in statements for s in _listed(self.visit(node))]

    def visit_For(self, node):
        values = self.temporary()
        first = ast.Assign([ast.Name(values, ast.Store())], self.visit(node.iter))
        step = ast.Expr(self.method("step"))
        loop = ast.For(node.target, ast.Name(values, ast.Load()), [step, *self.body(node.body)], [])
        return [first, *self.loop(loop)]

    def visit_While(self, node):
        test = ast.BoolOp(ast.Or(), [self.method("step"), self.visit(node.test)])
        return self.loop(ast.While(test, self.body(node.body), []))

    def visit_FunctionDef(self, node):
        parameters = ast.arguments(
            [], [ast.arg("_t"), *node.args.args], None, [], [], None, node.args.defaults
        )
        generator = ast.If(ast.Constant(False), [ast.Expr(ast.Yield(ast.Constant(None)))], [])
        return ast.FunctionDef(node.name, parameters, [generator, *self.body(node.body)], [])


def _listed(node):
    return node if isinstance(node, list) else [node]


# ------------------------------------------------------------------------------- a launch
class Launch:
    """A grid of blocks of threads, run one block after another."""

    def __init__(self, kernel, grid, block, arguments, shared_bytes):
        self.grid, self.block, self.shared_bytes = dims(grid), dims(block), shared_bytes
        self.cuda = backend.cuda
        self.function = getattr(kernel, "py_func", kernel)
        self.generators: dict = {}
        self.run = Run([a.copy() if isinstance(a, np.ndarray) else a for a in arguments])
        names = list(inspect.signature(self.function).parameters)
        self.arguments = [
            Memory(name, "global", a, a.__array_interface__["data"][0])
            if isinstance(a, np.ndarray)
            else scalar(a)
            for name, a in zip(names, self.run.arguments, strict=True)
        ]

    def generator(self, function):
        """A function's source as a generator function that takes its `Thread` first."""
        if function not in self.generators:
            lines, first = inspect.getsourcelines(function)
            tree = ast.parse(textwrap.dedent("".join(lines)))
            ast.increment_lineno(tree, first - 1)
            tree.body = [Rewrite().visit_FunctionDef(tree.body[0])]
            names = dict(vars(builtins)) | function.__globals__
            names |= inspect.getclosurevars(function).nonlocals
            names |= {
                "_apply": apply,
                "_binary": BINARY,
                "_unary": UNARY,
                "_scalar": scalar,
                "math": math,
            }
            exec(compile(ast.fix_missing_locations(tree), "<oracle>", "exec"), names)
            self.generators[function] = names[function.__name__]
        return self.generators[function]

    def go(self) -> Run:
        """Run every block."""
        for z, y, x in product(*(range(n) for n in reversed(self.grid))):
            self.one_block((x, y, z))
        return self.run

    def one_block(self, index):
        """Let every thread run to where it must wait, until all have ended."""
        self.shared: dict = {}
        start = self.generator(self.function)
        threads = [Thread(self, index, n) for n in range(math.prod(self.block))]
        running = {t: start(t, *self.arguments) for t in threads}
        waiting: dict = {}
        for t in list(running):
            self.resume(t, None, running, waiting)
        while waiting:
            groups = defaultdict(list)
            for t, (scope, site, path, *_) in waiting.items():
                if scope == "warp":
                    groups[t.number // WARP, site, path].append(t)
            if not groups:
                groups[None].extend(waiting)
            for group in groups.values():
                replies = self.meet(group, waiting)
                for t, reply in zip(group, replies, strict=True):
                    del waiting[t]
                    self.resume(t, reply, running, waiting)

    @staticmethod
    def resume(thread, reply, running, waiting):
        try:
            waiting[thread] = running[thread].send(reply)
        except StopIteration:
            del running[thread]

    def meet(self, group, waiting):
        """What each thread of a barrier or a warp operation gets out of it."""
        _, site, _, name, _ = waiting[group[0]]
        asked = [waiting[t][4] for t in group]
        if name in BLOCK_WIDE:
            self.run.barriers[site[0]] += 1
            for t in group:
                t.epoch += 1
            votes = [bool(a[0]) for a in asked if a]
            result = {
                "syncthreads": None,
                "syncthreads_count": np.int32(sum(votes)),
                "syncthreads_and": np.int32(all(votes)),
                "syncthreads_or": np.int32(any(votes)),
            }[name]
            return [result] * len(group)
        if name == "syncwarp":
            for t in group:
                t.warp_epoch += 1
            return [None] * len(group)
        lanes = [t.number % WARP for t in group]
        if name.startswith("shfl"):
            values = {lane: a[1] for lane, a in zip(lanes, asked, strict=True)}
            replies = []
            for lane, (_, own, by, *_) in zip(lanes, asked, strict=True):
                by = int(by)
                source = {
                    "shfl_sync": by % WARP,
                    "shfl_up_sync": lane - by,
                    "shfl_down_sync": lane + by,
                    "shfl_xor_sync": lane ^ by,
                }[name]
                replies.append(values.get(source, own))
            return replies
        votes = [bool(a[1]) for a in asked]
        result = {
            "ballot_sync": np.int32(
                np.uint32(sum(1 << n for n, v in zip(lanes, votes, strict=True) if v)).view(
                    np.int32
                )
            ),
            "any_sync": np.bool_(any(votes)),
            "all_sync": np.bool_(all(votes)),
        }[name]
        return [result] * len(group)


def run(kernel, grid, block, *arguments, shared_bytes: int = 0) -> Run:
    """Run a kernel; the arguments are copied, never changed."""
    return Launch(kernel, grid, block, arguments, shared_bytes).go()
