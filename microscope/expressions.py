"""Expressions: one method a construct."""

from __future__ import annotations

import ast
import difflib
import math
import types
from enum import Enum

import numpy as np

from . import functions, groups, intrinsics, memory, names, ptx, source, values
from .access import Memory
from .device_arrays import DeviceArray, Interface, from_interface
from .errors import KernelError, OutOfBounds, Unsupported, raised
from .iterables import Range
from .lanes import Mask
from .memory import Array, Buffer
from .session import Frame
from .sites import Kind, Problem
from .variables import MISSING, PossiblyUnbound, convert, garbage, select, type_of
from .wording import describe, describe_value

TUPLE_LIMIT = 1000  # parts; Numba's compiler gives up earlier


class Expressions:
    """The side of a runner that computes values.

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

    def evaluate(self, n, m: Mask):
        """The value of an expression in the active lanes; other lanes hold anything."""
        hoisted = self.frame.hoisted
        if hoisted and n in hoisted:
            return hoisted[n]
        handler = self.EXPRESSIONS.get(type(n))
        if handler is None:
            raise Unsupported(n.lineno, f"{describe(n)} cannot be used in a kernel")
        v = handler(self, n, m)
        widened = self.frame.compiled.widened
        return convert(widened[n], v) if widened and n in widened else v

    def evaluate_constant(self, n: ast.Constant, m: Mask):
        constants = self.frame.compiled.constants
        v = constants.get(n, MISSING)
        if v is MISSING:
            v = constants[n] = values.literal(n.value)
        return v

    def evaluate_name(self, n: ast.Name, m: Mask):
        v = self.frame.env.get(n.id, MISSING)
        if v is not MISSING:
            return self.checked(v, n, m) if type(v) is PossiblyUnbound else v
        if n in self.frame.compiled.lost:
            return self.checked(self.lost(n), n, m)
        if n.id in self.frame.code.locals:
            raise KernelError(f"line {n.lineno}: {n.id} is used before any thread gives it a value")
        v = self.constant(n)
        return intrinsics.coordinate(self, v) if isinstance(v, names.Coordinate) else v

    def lost(self, n: ast.Name) -> PossiblyUnbound:
        """A variable that no thread has assigned."""
        frame = self.frame
        value = garbage(frame.compiled.lost[n])
        return PossiblyUnbound(value, np.ones((1, 1, 1, 1), bool), frame.code.flow.lines[n.id])

    def checked(self, v: PossiblyUnbound, n: ast.Name, m: Mask):
        """The value of a variable that some lanes never assigned: none of them may be here."""
        lacking = v.unbound if m.array is None else v.unbound & m.array
        if lacking.any():
            self.never_assigned(v, lacking, n)
        return v.value

    def never_assigned(self, v, lacking: np.ndarray, n: ast.Name) -> None:
        """Note lanes that read a variable to which only others, or none, have given a value."""
        block, thread, _ = self.lanes.first(lacking)
        message = (
            f"thread {thread} of block {block} reads {n.id}, which it has never assigned: line "
            f"{v.line} "
            "does so for other threads only, or for none; give it a value on every way here"
        )
        problem = Problem(
            Kind.UNINITIALISED,
            line=n.lineno,
            other_line=v.line,
            block=block,
            thread=thread,
            message=message,
        )
        self.problem((Kind.UNINITIALISED, n), problem, self.lane_count(lacking))

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
                raise KernelError(f"line {n.lineno}: the name {n.id!r} is not defined") from None
        else:
            owner = self.constant(n.value)
            if isinstance(owner, values.Parts) and n.attr in owner.kind.names:
                owner = owner.named()
            try:
                v = getattr(owner, n.attr)
            except AttributeError:
                near = difflib.get_close_matches(n.attr, dir(owner), 1)
                meant = f": did you mean {ast.unparse(n.value)}.{near[0]}?" if near else ""
                if names.is_cuda(owner):
                    if n.attr in getattr(owner, "INSTEAD", {}):
                        meant = f": {owner.INSTEAD[n.attr]}"
                    raise Unsupported(
                        n.lineno, f"{ast.unparse(n)} is not known to the interpreter{meant}"
                    ) from None
                told = f"line {n.lineno}: {ast.unparse(n)} does not exist{meant}"
                raise KernelError(told) from None
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
        """Say whether an attribute chain starts at a name from outside the function."""
        while isinstance(n, ast.Attribute):
            n = n.value
        return isinstance(n, ast.Name) and n.id not in self.frame.code.locals

    def evaluate_tuple(self, n, m: Mask):
        return small_tuple(tuple(self.evaluate(x, m) for x in n.elts), n)

    def evaluate_binary(self, n: ast.BinOp, m: Mask):
        return self.binary(n, self.evaluate(n.left, m), self.evaluate(n.right, m), m)

    def binary(self, n, a, b, m: Mask):
        """Apply the operator of a node."""
        op = type(n.op)
        if not (values.is_value(a) and values.is_value(b)):
            if type(a) is tuple and type(b) is tuple and op is ast.Add:
                return small_tuple(a + b, n)
            raise self.no_operation(n, a, b)
        if self.session.debug and op in (ast.Div, ast.FloorDiv, ast.Mod):
            self.check_divisor(n, b, m)
        try:
            v = values.binary(op, a, b)
        except (KeyError, TypeError):
            raise self.no_operation(n, a, b) from None
        if self.tracer is not None and v.dtype.kind == "f":
            self.tracer.count_flops(v.dtype, m.n, n.lineno)
        return v

    def check_divisor(self, n, b, m: Mask) -> None:
        """A division by zero ends the run, as it does on a GPU under ``debug=True``."""
        zero = b == 0
        if m.array is not None:
            zero = zero & m.array
        if np.any(zero):
            block, thread, _ = self.lanes.first(
                np.asarray(zero).reshape(np.shape(zero) or (1,) * 4)
            )
            raise raised(
                ZeroDivisionError,
                f"line {n.lineno}: {ast.unparse(n)} divides by zero in thread {thread} of block "
                f"{block}",
            )

    @staticmethod
    def no_operation(n, a, b) -> Unsupported:
        what = f"{describe_value(a)} and {describe_value(b)}"
        return Unsupported(n.lineno, f"{ast.unparse(n)}: no such operation on {what}")

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
                break
            other = self.evaluate(x, need)
            if need is m:
                v = other
            elif v.dtype == other.dtype == values.BOOL:
                v = (v & other) if is_and else (v | other)
            else:
                t = self.frame.compiled.unified[n]
                v, other = convert(t, v), convert(t, other)
                v = np.where(condition, other, v) if is_and else np.where(condition, v, other)
        return convert(self.frame.compiled.unified[n], v)

    def evaluate_compare(self, n: ast.Compare, m: Mask):
        """Comparisons; in a chain each runs only in lanes where those before it hold."""
        left, result = self.evaluate(n.left, m), None
        for op, x in zip(n.ops, n.comparators, strict=True):
            if result is not None:
                m, _ = self.lanes.split(values.truth(result), m)
                if m is None:
                    return result
            right = self.evaluate(x, m)
            v = self.compare(op, left, right, n)
            result = v if result is None else result & v
            left = right
        return result

    def compare(self, op: ast.cmpop, left, right, n: ast.Compare):
        """One comparison."""
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
            f"{ast.unparse(n)}: cannot compare {describe_value(left)} with {describe_value(right)}",
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
        if not isinstance(right, tuple):
            raise Unsupported(
                n.lineno,
                f"{ast.unparse(n)}: `in` takes a tuple or a range(): write a loop over the rest",
            )
        result = np.bool_(False)
        for x in right:
            result = result | (left == x)
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

    def evaluate_ternary(self, n: ast.IfExp, m: Mask):
        """``a if c else b``: each side runs only in its lanes."""
        condition = values.truth(self.evaluate(n.test, m))
        yes, no = self.lanes.split(condition, m)
        t = self.frame.compiled.unified[n]
        if no is None:
            return convert(t, self.evaluate(n.body, m))
        if yes is None:
            return convert(t, self.evaluate(n.orelse, m))
        a, b = convert(t, self.evaluate(n.body, yes)), convert(t, self.evaluate(n.orelse, no))
        return select(yes.array, a, b, n)

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
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: an array has no .{n.attr} in a kernel")

    # -- subscripts and parts of values

    def part(self, v, index: tuple, m: Mask, n):
        """``v[index]`` of an array or a tuple."""
        if isinstance(v, tuple):
            return self.item_of(v, index, m, n)
        return self.memory.load(v, index, m, n)

    def item_of(self, a: tuple, index: tuple, m: Mask, n):
        """``t[i]``: an item of a tuple, or a part of it."""
        i = index[0]
        if isinstance(i, slice):
            parts = (i.start, i.stop, i.step)
            return a[slice(*(None if x is None else int(x) for x in parts))]
        self.check_item(a, index, n)
        if not isinstance(i, np.ndarray):
            if -len(a) <= int(i) < len(a):
                return a[int(i)]
            raise OutOfBounds(f"line {n.lineno}: index {int(i)} of a tuple of {len(a)}")
        i, bad = self.memory.wrap(i, len(a), m, n, Array(_items(len(a)), 0, (len(a),), (1,)))
        if bad is not None:
            raise OutOfBounds(f"line {n.lineno}: {ast.unparse(n)} is outside a tuple of {len(a)}")
        found = a[0]
        for k, item in enumerate(a[1:], 1):
            found = select(i == k, item, found, n)
        return found

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

    def must_be_known(self, v, n: ast.expr) -> None:
        """Refuse a number that the compiler must know, and does not."""

    def callee(self, n):
        """What a call calls, or None if it is found only by evaluating it."""
        if isinstance(n, ast.Name) and n.id in self.frame.env:
            return self.frame.env[n.id]
        return self.constant(n) if self.is_constant(n) else None

    def passed(self, n: ast.Call, m: Mask) -> tuple[list, dict]:
        """The arguments of a call, by position and by keyword."""
        named = {k.arg: self.evaluate(k.value, m) for k in n.keywords}
        return self.positional(n, m), named

    def arguments(self, n: ast.Call, m: Mask) -> list:
        if n.keywords:
            raise Unsupported(n.lineno, f"{ast.unparse(n)}: keyword arguments are not understood")
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
        if isinstance(target, names.Vector):
            return self.vector(target.kind, n, m)
        if isinstance(target, names.Intrinsic):
            return intrinsics.call(self, target.name, n, m)
        return functions.python_call(self, target, n, m)

    def vector(self, kind: values.Kind, n: ast.Call, m: Mask) -> values.Parts:
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
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: this call is not understood")

    def coordinate(self, c: names.Coordinate):
        """The value of ``cuda.threadIdx.x`` and its like."""
        return intrinsics.coordinate(self, c)

    def evaluate_lambda(self, n: ast.Lambda, m: Mask):
        """A function inside the kernel, which Numba compiles as any other."""
        constants = self.frame.compiled.constants
        if n not in constants:
            constants[n] = source.nested(self.frame.code, n)
        return constants[n]

    EXPRESSIONS = {
        ast.Lambda: evaluate_lambda,
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


def _items(n: int) -> Buffer:
    """The items of a tuple as if they were an array, for messages."""
    return Buffer("the tuple", "local", np.dtype(np.int64), n, np.empty(0), 0, (n,), (1,))


def small_tuple(t: tuple, n) -> tuple:
    """The tuple `t`, refused if it is large with all tuples in it."""
    if sum(map(_size, t)) > TUPLE_LIMIT:
        raise Unsupported(n.lineno, f"a tuple has at most {TUPLE_LIMIT} parts")
    return t


def _size(v) -> int:
    return sum(map(_size, v)) if isinstance(v, tuple) else 1


def is_device_function(target) -> bool:
    return isinstance(getattr(target, "py_func", None), types.FunctionType)
