"""Expressions as Numba compiles them: one method a construct.

They mean the same while types are inferred and while threads run, which `typed_expressions` and
`lane_expressions` make of them: what follows one way only is theirs.
"""

from __future__ import annotations

import ast
import difflib
import math
import types
from abc import ABC, abstractmethod
from enum import Enum

import numpy as np

from . import bfloat16, functions, groups, intrinsics, memory, names, ptx, source, values
from .describing import describe_value
from .device_arrays import DeviceArray, Interface, from_interface
from .errors import KernelError, OutOfBounds, Unsupported
from .indexing import Memory
from .iterables import Range
from .lanes import Mask
from .memory import Array
from .session import Frame
from .variables import MISSING, type_of

TUPLE_LIMIT = 1000  # parts; Numba's compiler gives up earlier


class Expressions(ABC):
    """What expressions mean, for the values of lanes and for stand-ins of types.

    Attributes
    ----------
    memory : Memory
        What it loads from and stores into.
    frame : Frame or None
        The function call that runs.
    unused : ast.Call or None
        A call whose value nobody wants.
    """

    frame: Frame | None = None
    unused: ast.Call | None = None

    def __init__(self, memory: Memory):
        self.memory, self.session, self.lanes = memory, memory.session, memory.lanes
        self.shared, self.tracer = memory.shared, memory.tracer
        self.problem, self.lane_count = memory.problem, memory.lane_count
        self.array_of = memory.array_of

    # -- what differs between values and types

    @abstractmethod
    def evaluate(self, n, m: Mask):
        """The value of an expression in the active lanes; other lanes hold anything."""

    @abstractmethod
    def evaluate_name(self, n: ast.Name, m: Mask):
        """A variable of the function, or a name from outside."""

    @abstractmethod
    def evaluate_bool(self, n: ast.BoolOp, m: Mask):
        """``and`` and ``or``: the right side counts only where the left one leaves it open."""

    @abstractmethod
    def evaluate_compare(self, n: ast.Compare, m: Mask):
        """Comparisons; in a chain each counts only where those before it hold."""

    @abstractmethod
    def evaluate_ternary(self, n: ast.IfExp, m: Mask):
        """``a if c else b``."""

    @abstractmethod
    def item_of(self, a: tuple, index: tuple, m: Mask, n):
        """``t[i]``: an item of a tuple, or a part of it."""

    @abstractmethod
    def must_be_known(self, v, n: ast.expr) -> None:
        """Refuse a number that the compiler must know, and does not."""

    # -- names and constants

    def evaluate_constant(self, n: ast.Constant, m: Mask):
        constants = self.frame.compiled.constants
        v = constants.get(n, MISSING)
        if v is MISSING:
            v = constants[n] = values.literal(n.value)
        return v

    def constant(self, n):
        """What a name from outside the function means, or an attribute of one."""
        constants = self.frame.compiled.constants
        v = constants.get(n, MISSING)
        if v is not MISSING:
            return v
        if isinstance(n, ast.Name):
            try:
                v = self.frame.code.outer(n.id)
            except KeyError:
                text = f"line {n.lineno}: the name {n.id!r} is not defined"
                owner = self.frame.code.function.__globals__.get("cuda")
                if names.is_cuda(owner) and hasattr(owner, n.id):
                    text += f": did you mean cuda.{n.id}?"
                raise KernelError(text) from None
        else:
            owner = self.constant(n.value)
            if isinstance(owner, values.Parts) and n.attr in owner.kind.names:
                owner = owner.named()
            try:
                v = getattr(owner, n.attr)
            except AttributeError:
                near = difflib.get_close_matches(n.attr, dir(owner), 1)
                meant = f"did you mean {ast.unparse(n.value)}.{near[0]}?" if near else ELSEWHERE
                meant = f": {UNKNOWN.get(n.attr, meant)}"
                if names.is_cuda(owner):
                    raise Unsupported(
                        n.lineno, f"{ast.unparse(n)} is not known to the interpreter{meant}"
                    ) from None
                text = f"line {n.lineno}: {ast.unparse(n)} does not exist{meant}"
                raise KernelError(text) from None
        v = names.known(v)
        if isinstance(getattr(v, "__cuda_array_interface__", None), Interface):
            v = from_interface(v)
        if isinstance(v, DeviceArray):  # the array itself: what others store there shows
            low = memory.base_address(v.memory) % memory.ALIGNMENT if v.size else 0
            v = memory.of_argument(v.memory, ast.unparse(n), low)
        elif isinstance(v, np.ndarray) and v.ndim:
            v = memory.of_constant(v, ast.unparse(n))
        elif isinstance(v, tuple) and any(isinstance(x, np.ndarray) for x in v):
            v = tuple(
                memory.of_constant(x, f"{ast.unparse(n)}[{k}]")
                if isinstance(x, np.ndarray)
                else values.literal(x)
                for k, x in enumerate(v)
            )
        elif isinstance(v, (list, dict, set)):
            raise Unsupported(
                n.lineno,
                f"{ast.unparse(n)} is a {type(v).__name__}, which a kernel cannot use: make it a "
                "tuple, or a NumPy array",
            )
        else:
            v = values.literal(v)
        constants[n] = v
        return v

    def is_constant(self, n) -> bool:
        """Say whether an attribute chain starts at a name from outside the function.

        What an array has is none: its shape, its sum and its fields are worked out in the kernel.
        """
        if isinstance(n, ast.Attribute):
            return self.is_constant(n.value) and not isinstance(self.constant(n.value), Array)
        return isinstance(n, ast.Name) and n.id not in self.frame.code.locals

    def outer(self, n: ast.Name):
        """What a name from outside the function is worth here."""
        v = self.constant(n)
        return intrinsics.coordinate(self, v) if isinstance(v, names.Coordinate) else v

    # -- operators

    def evaluate_tuple(self, n, m: Mask):
        return small_tuple(tuple(self.evaluate(x, m) for x in n.elts), n)

    def evaluate_binary(self, n: ast.BinOp, m: Mask):
        return self.binary(n, self.evaluate(n.left, m), self.evaluate(n.right, m), m)

    def binary(self, n, a, b, m: Mask):
        """Apply the operator of a node."""
        op = type(n.op)
        if bfloat16.is_one(a) or bfloat16.is_one(b):
            if bfloat16.is_one(a) and bfloat16.is_one(b) and op in bfloat16.OPERATORS:
                return bfloat16.binary(op, a, b)
            a, b = bfloat16.beside(a, b, n)
        if not (values.is_value(a) and values.is_value(b)):
            if type(a) is tuple and type(b) is tuple and op is ast.Add:
                return small_tuple(a + b, n)
            raise self.no_operation(n, a, b)
        try:
            return values.binary(op, a, b)
        except (KeyError, TypeError):
            raise self.no_operation(n, a, b) from None

    @staticmethod
    def no_operation(n, a, b) -> Unsupported:
        what = f"{describe_value(a)} and {describe_value(b)}"
        return Unsupported(n.lineno, f"{ast.unparse(n)}: no such operation on {what}")

    def evaluate_unary(self, n: ast.UnaryOp, m: Mask):
        v = self.evaluate(n.operand, m)
        if isinstance(n.op, ast.Not):
            return np.logical_not(values.truth(bfloat16.plain(v)))
        if bfloat16.is_one(v) and not isinstance(n.op, ast.Invert):
            return bfloat16.of(-v[0]) if isinstance(n.op, ast.USub) else v
        if not values.is_value(v):
            raise Unsupported(n.lineno, f"{ast.unparse(n)}: no such operation")
        if isinstance(n.op, ast.USub):
            return values.negative(v)
        if isinstance(n.op, ast.Invert):
            if v.dtype.kind not in "iub":
                raise Unsupported(n.lineno, f"{ast.unparse(n)}: ~ takes integers")
            return values.inverted(v)
        return v.astype(values.wide(v.dtype))

    def compare(self, op: ast.cmpop, left, right, n: ast.Compare):
        """One comparison."""
        if bfloat16.is_one(left) or bfloat16.is_one(right):
            left, right = bfloat16.beside(left, right, n)
        if isinstance(op, (ast.Is, ast.IsNot)):
            v = self.identical(left, right, n)
            return v if isinstance(op, ast.Is) else ~v
        if isinstance(op, (ast.In, ast.NotIn)):
            v = self.contains(left, right, n)
            return ~v if isinstance(op, ast.NotIn) else v
        if isinstance(left, tuple) and isinstance(right, tuple):
            return self.compare_tuples(op, left, right, n)
        if isinstance(op, (ast.Eq, ast.NotEq)) and type(left) is type(right):
            if isinstance(left, str):
                return np.bool_((left == right) == isinstance(op, ast.Eq))
        if values.is_value(left) and values.is_value(right):
            if "c" in left.dtype.kind + right.dtype.kind and not isinstance(
                op, (ast.Eq, ast.NotEq)
            ):
                raise Unsupported(
                    n.lineno, f"{ast.unparse(n)}: complex numbers compare with == and != only"
                )
            return values.COMPARISONS[type(op)](left, right)
        raise Unsupported(
            n.lineno,
            f"{ast.unparse(n)}: cannot compare {describe_value(left)} with {describe_value(right)}"
            ": compare numbers, those of an array in a loop",
        )

    def identical(self, left, right, n):
        """``a is b``: numbers and tuples have no identity, so it means that they are equal."""
        if values.is_value(left) and values.is_value(right) or isinstance(left, tuple):
            alike = type_of(left) == type_of(right)
            alike &= getattr(left, "kind", None) is getattr(right, "kind", None) or not (
                isinstance(left, values.Member) and isinstance(right, values.Member)
            )
            return self.compare(ast.Eq(), left, right, n) if alike else np.bool_(False)
        return np.bool_(left is right and not isinstance(left, str))

    def contains(self, left, right, n):
        if isinstance(right, Range):
            return right.contains(left)
        if not isinstance(right, tuple) or bfloat16.is_one(right):
            raise Unsupported(
                n.lineno,
                f"{ast.unparse(n)}: `in` takes a tuple or a range(): write a loop over the rest",
            )
        result = np.bool_(False)
        for x in right:
            alike = isinstance(left, tuple)
            result = result | (self.compare(ast.Eq(), left, x, n) if alike else left == x)
        return result

    def compare_tuples(self, op, left, right, n):
        equal, result = np.bool_(len(left) == len(right)), np.bool_(False)
        if isinstance(op, (ast.Eq, ast.NotEq)):
            for a, b in zip(left, right, strict=False):
                equal = equal & self.compare(ast.Eq(), a, b, n)
            return equal if isinstance(op, ast.Eq) else ~equal
        same = np.bool_(True)  # so far: the first items that differ decide
        for a, b in zip(left, right, strict=False):
            result = result | same & self.compare(op, a, b, n) & self.compare(ast.NotEq(), a, b, n)
            same = same & self.compare(ast.Eq(), a, b, n)
        lengths = np.int64(len(left)), np.int64(len(right))
        return result | same & values.COMPARISONS[type(op)](*lengths)

    def evaluate_subscript(self, n: ast.Subscript, m: Mask):
        if self.is_constant(n.value) and isinstance(n.slice, ast.Constant):
            owner = self.constant(n.value)
            if isinstance(owner, type) and issubclass(owner, Enum):
                return values.literal(owner[n.slice.value])
        return self.part(self.evaluate(n.value, m), self.index(n.slice, m), m, n)

    def evaluate_attribute(self, n: ast.Attribute, m: Mask):
        if self.is_constant(n):
            v = self.constant(n)
            if isinstance(v, names.Coordinate):
                return intrinsics.coordinate(self, v)
            if not isinstance(v, Array):
                return v
        owner = self.evaluate(n.value, m)
        if isinstance(owner, Array):
            if n.attr in (owner.dtype.names or ()):
                return self.memory.field(owner, n.attr, m, n)
            return self.array_attribute(owner, n)
        if isinstance(owner, names.Dim3):
            if n.attr not in ("x", "y", "z"):
                raise Unsupported(n.lineno, f"{ast.unparse(n)}: use .x, .y or .z")
            return intrinsics.coordinate(self, getattr(owner, n.attr))
        if isinstance(owner, values.Parts) and n.attr in owner.kind.names:
            return owner[owner.kind.names.index(n.attr)]
        if values.is_value(owner) and n.attr in ("real", "imag"):
            return getattr(owner, n.attr)
        what = f"{ast.unparse(n)} is not known to the interpreter"
        raise Unsupported(n.lineno, f"{what}: {UNKNOWN.get(n.attr, ELSEWHERE)}")

    def array_attribute(self, a: Array, n: ast.Attribute):
        if n.attr == "shape":
            return tuple(np.int64(0) + s for s in a.shape)
        if n.attr == "size":
            return np.int64(1) * math.prod(a.shape)
        if n.attr == "ndim":
            return np.int64(a.ndim)
        if n.attr == "dtype":
            return a.dtype
        if n.attr in ("itemsize", "nbytes") and a.buffer.space == "constant":
            raise Unsupported(
                n.lineno,
                f"{ast.unparse(n)}: Numba gives 0 for an array of the module: write the number",
            )
        if n.attr == "itemsize":
            return np.int64(a.dtype.itemsize)
        if n.attr == "strides":
            return tuple(np.int64(a.buffer.pitch) * s for s in a.strides)
        if n.attr == "nbytes":
            return np.int64(a.dtype.itemsize) * math.prod(a.shape)
        if n.attr == "T":
            return a.transposed()
        if n.attr in ("real", "imag") and a.dtype.kind == "c":
            d = np.dtype(f"f{a.dtype.itemsize // 2}")
            return self.memory.part_of(a, n.attr, d, d.itemsize * (n.attr == "imag"), n)
        if n.attr == "real" and a.dtype.kind == "f":
            return a
        instead = INSTEAD.get(n.attr, "")
        raise Unsupported(
            n.lineno, f"{ast.unparse(n)}: an array has no .{n.attr} in a kernel{instead}"
        )

    # -- subscripts and parts of values

    def part(self, v, index: tuple, m: Mask, n):
        """``v[index]`` of an array or a tuple."""
        if isinstance(v, tuple) and not bfloat16.is_one(v):
            return self.item_of(v, index, m, n)
        return self.memory.load(v, index, m, n)

    def known_item(self, a: tuple, index: tuple, n):
        """``t[i]`` where all threads agree on `i`."""
        i = index[0]
        if isinstance(i, slice):
            parts = (i.start, i.stop, i.step)
            return a[slice(*(None if x is None else int(x) for x in parts))]
        self.check_item(a, index, n)
        if -len(a) <= int(i) < len(a):
            return a[int(i)]
        raise OutOfBounds(f"line {n.lineno}: index {int(i)} of a tuple of {len(a)}")

    def check_item(self, a: tuple, index: tuple, n) -> None:
        if len(index) != 1 or not values.is_value(index[0]) or index[0].dtype.kind not in "iu":
            raise Unsupported(n.lineno, f"{ast.unparse(n)}: a tuple takes one whole number")

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

    # -- calls

    def callee(self, n):
        """What a call calls, or None if it is found only by evaluating it."""
        if isinstance(n, ast.Name) and n.id in self.frame.env:
            return self.frame.env[n.id]
        if isinstance(n, ast.Lambda):
            return self.evaluate_lambda(n)
        return self.constant(n) if self.is_constant(n) else None

    def passed(self, n: ast.Call, m: Mask) -> tuple[list, dict]:
        """The arguments of a call, by position and by keyword."""
        named = {k.arg: self.evaluate(k.value, m) for k in n.keywords}
        return self.positional(n, m), named

    def arguments(self, n: ast.Call, m: Mask) -> list:
        if n.keywords:
            raise Unsupported(
                n.lineno,
                f"{ast.unparse(n)}: keyword arguments are not understood: "
                "leave them out, or pass them by position",
            )
        return self.positional(n, m)

    def positional(self, n: ast.Call, m: Mask) -> list:
        """The arguments of a call by position; ``*t`` stands for the items of a tuple."""
        given: list = []
        for x in n.args:
            if not isinstance(x, ast.Starred):
                given.append(self.evaluate(x, m))
                continue
            items = self.evaluate(x.value, m)
            if not isinstance(items, tuple):
                raise Unsupported(
                    n.lineno, f"{ast.unparse(x)}: * takes a tuple apart, nothing else"
                )
            given += items
        return given

    def exactly(self, n: ast.Call, m: Mask, count: int) -> list:
        """The arguments of a call that takes just so many."""
        arguments = self.arguments(n, m)
        if len(arguments) != count:
            raise Unsupported(
                n.lineno, f"{ast.unparse(n)}: takes {count} arguments, got {len(arguments)}"
            )
        return arguments

    def evaluate_call(self, n: ast.Call, m: Mask):
        target = self.callee(n.func)
        if target is None:
            return self.method(n, m)
        if ptx.is_instruction(target):
            return ptx.call(self, target, n, m)
        if isinstance(target, names.VectorType):
            return self.vector(target.kind, n, m)
        if isinstance(target, names.Intrinsic):
            return intrinsics.call(self, target.name, n, m)
        return functions.python_call(self, target, n, m)

    def vector(self, kind: values.TupleType, n: ast.Call, m: Mask) -> values.Parts:
        """``cuda.float32x4(a, b, c, d)``: made of numbers and of other vectors."""
        items: list = []
        for v in self.arguments(n, m):
            items += v if isinstance(v, values.Parts) and v.kind.element is not None else [v]
        if len(items) != len(kind.names) or not all(map(values.is_value, items)):
            raise Unsupported(
                n.lineno, f"{ast.unparse(n)}: takes {len(kind.names)} numbers, got {len(items)}"
            )
        return values.Parts((values.cast(kind.element, v) for v in items), kind)

    def method(self, n: ast.Call, m: Mask):
        """A method of an array or of a number."""
        if isinstance(n.func, ast.Attribute):
            owner = self.evaluate(n.func.value, m)
            arguments = self.arguments(n, m)
            if isinstance(owner, Array):
                return functions.array_method(self, owner, n.func.attr, arguments, n, m)
            if groups.is_sync(n):
                groups.check_sync(owner, n)
                return np.int32(0)
            if values.is_value(owner):
                return functions.number_method(owner, n.func.attr, arguments, n)
        raise Unsupported(
            n.lineno, f"{ast.unparse(n)}: this call is not understood: call a function by its name"
        )

    def coordinate(self, c: names.Coordinate):
        """The value of ``cuda.threadIdx.x`` and its like."""
        return intrinsics.coordinate(self, c)

    def evaluate_lambda(self, n: ast.Lambda, m: Mask | None = None):
        """A function inside the kernel, which Numba compiles as any other."""
        constants = self.frame.compiled.constants
        if n not in constants:
            constants[n] = source.nested(self.frame.code, n)
        return constants[n]

    EXPRESSIONS = {
        ast.Lambda: evaluate_lambda,
        ast.Constant: evaluate_constant,
        ast.Tuple: evaluate_tuple,
        ast.List: evaluate_tuple,
        ast.BinOp: evaluate_binary,
        ast.UnaryOp: evaluate_unary,
        ast.Subscript: evaluate_subscript,
        ast.Attribute: evaluate_attribute,
        ast.Call: evaluate_call,
    }


#: What to write for names of modules that are not known, and for all others.
UNKNOWN = {
    "mul": "write a loop with cuda.atomic.cas",
    "vote_sync_intrinsic": "use all_sync, any_sync, eq_sync or ballot_sync",
    "shfl_sync_intrinsic": "use shfl_sync",
    "this_block": "use cuda.syncthreads()",
    "this_thread_block": "use cuda.syncthreads()",
    "literal_unroll": "from numba.cuda.misc.special import literal_unroll",
    "fp8_e4m3": "keep its bits in a uint8",
    "fp8_e5m2": "keep its bits in a uint8",
}
ELSEWHERE = "compute it on the host and pass it"
#: What to write for an attribute of arrays that is not known.
INSTEAD = {
    "ctypes": ": nothing here has an address, so pass the array and an index",
    "flat": ": write a loop over each axis",
}


def small_tuple(t: tuple, n) -> tuple:
    """The tuple `t`, refused if it is large with all tuples in it."""
    if sum(map(_size, t)) > TUPLE_LIMIT:
        raise Unsupported(n.lineno, f"a tuple has at most {TUPLE_LIMIT} parts")
    return t


def _size(v) -> int:
    return sum(map(_size, v)) if isinstance(v, tuple) else 1


def is_device_function(target) -> bool:
    return isinstance(getattr(target, "py_func", None), types.FunctionType)
