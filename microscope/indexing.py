"""Loads and stores as Numba compiles them: what an index means, and what may be stored where.

It is the same while types are inferred and while threads run. What differs is where elements lie:
in `lane_memory` they have values, lanes and bounds, in `typed_memory` a type only.
"""

from __future__ import annotations

import ast
import types
from abc import ABC, abstractmethod

import numpy as np

from . import bfloat16, memory, values
from .describing import describe_value
from .errors import KernelError, OutOfBounds, Unsupported
from .lanes import Lanes, Mask
from .memory import Array
from .session import Session
from .sites import Kind, Problem

PARTS = (slice, types.EllipsisType)  # indices that leave an axis, or several


class Memory(ABC):
    """What a group of lanes can load from and store into.

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

    # -- elements

    @abstractmethod
    def load_element(self, a: Array, index: tuple, m: Mask, n):
        """What lies at an index for every axis."""

    @abstractmethod
    def put_element(self, a: Array, index: tuple, v, m: Mask, n, checked: bool) -> None:
        """Store a number of the array's type; `checked` says that this index was loaded before."""

    @abstractmethod
    def locate(self, a: Array, index: tuple, m: Mask, n, checked: bool = False):
        """Element numbers of an access; problems are noted unless `checked` before.

        Returns
        -------
        elements : lane value of int64
            0 where a lane may not access.
        mask : Mask or None
            The lanes within bounds.
        """

    @abstractmethod
    def wrap(self, i, size, m: Mask, n, a: Array, checked: bool = False):
        """Indices brought into bounds as Numba does: negative ones count from the end.

        Returns the indices (0 where out of bounds) and the active lanes out of bounds, or None.
        """

    @abstractmethod
    def out_of_bounds(self, a: Array, index: tuple, outside, n) -> None:
        """Note lanes that access what lies outside an array."""

    @abstractmethod
    def writes(self, a: Array) -> None:
        """Note that an array is changed."""

    @abstractmethod
    def unread(self, d: np.dtype):
        """What a load gives that no lane may make."""

    # -- arrays

    @abstractmethod
    def each(self, a: Array, m: Mask):
        """The indices of all elements, row by row, each with the lanes whose array has it."""

    @abstractmethod
    def positions(self, shape: tuple, inputs: list[tuple], n):
        """The indices of an array of a shape to which others are broadcast."""

    @abstractmethod
    def check_sizes(self, fit, error: KernelError) -> None:
        """Raise an error unless the sizes of arrays fit."""

    @abstractmethod
    def shared_array(self, shape, dtype: np.dtype, base: int) -> Array:
        """A fresh shared array of these blocks."""

    @abstractmethod
    def local_array(self, shape, dtype: np.dtype) -> Array:
        """A fresh local array of these lanes."""

    # -- what an index means

    def check_index(self, a: Array, index: tuple, n) -> None:
        """Refuse indices that no element can have."""
        if len(index) != a.ndim:
            raise Unsupported(
                n.lineno, f"{a.name} has {a.ndim} axes, got {len(index)} indices: {ast.unparse(n)}"
            )
        for i in index:
            if not values.is_value(i) or i.dtype.kind not in "iu":
                raise Unsupported(
                    n.lineno,
                    f"an index must be an integer, not {describe_value(i)}: {ast.unparse(n)}: "
                    "convert it with int64(...), or take the elements in a loop",
                )

    def load(self, a, index: tuple, m: Mask, n):
        """``a[index]``: an element, or a view if indices are missing or slices."""
        if not isinstance(a, Array):
            raise Unsupported(
                n.lineno,
                f"{ast.unparse(n)}: {describe_value(a)} has no elements: pass an array of numbers",
            )
        if a.buffer.dtype.names:
            name = self.field_name(a, index)
            if name is not None:
                return self.field(a, name, m, n)
            if len(index) == a.ndim and not any(isinstance(i, PARTS) for i in index):
                return self.record(a, index, m, n)
        if len(index) < len(a.shape) or any(isinstance(i, PARTS) for i in index):
            return self.view(a, index, m, n)
        return self.load_element(a, index, m, n)

    @staticmethod
    def field_name(a: Array, index: tuple) -> str | None:
        """The field that an index of an array of records names, if it names one."""
        if len(index) == 1 and isinstance(index[0], str):
            return index[0]
        if len(index) == 1 and a.ndim == 0 and isinstance(index[0], np.integer):
            return a.dtype.names[int(index[0])]
        return None

    def record(self, a: Array, index: tuple, m: Mask, n) -> Array:
        """One record of an array: a view, as an array of no axis."""
        elements, inside = self.locate(a, index, m, n)
        elements = 0 if inside is None else elements
        return Array(a.buffer, elements, (), ())

    def field(self, a: Array, name: str, m: Mask, n):
        """A field: its value in one record, and a view of it in an array of them."""
        if name not in (a.dtype.names or ()):
            found = ", ".join(a.dtype.names or ())
            raise Unsupported(
                n.lineno, f"{ast.unparse(n)}: the records have no field {name}, but {found}"
            )
        d, offset = a.dtype.fields[name][:2]
        made = self.part_of(a, name, d, offset, n)
        return made if made.ndim or made.dtype.names else self.load(made, (), m, n)

    def part_of(self, a: Array, name: str, d: np.dtype, offset: int, n) -> Array:
        """A view of a part of every element."""
        try:
            return memory.part_of(a, name, d, offset)
        except Unsupported as error:
            raise Unsupported(n.lineno, str(error)) from None

    def reinterpreted(self, a: Array, d: np.dtype, n) -> Array:
        """``a.view(d)``: the same bytes as elements of another type."""
        old, new, what = a.dtype.itemsize, d.itemsize, ast.unparse(n)
        try:
            made = memory.reinterpreted(a, d, what)
        except Unsupported as error:
            raise Unsupported(n.lineno, str(error)) from None
        rest = a.ndim and old != new and np.any(a.shape[-1] * old % new)
        text = f"line {n.lineno}: {what}: its last axis is no whole number of {d.name}"
        self.check_sizes(not rest, KernelError(text))
        text = f"line {n.lineno}: {what}: begins at an address that is no multiple of {new}"
        self.check_sizes(not np.any(a.offset * old % new), KernelError(text))
        return made

    def view(self, a: Array, index: tuple, m: Mask, n) -> Array:
        """``A[row]``, ``A[:, k]``, ``A[i:i + 4]``: a part of an array, not copied."""
        at = next((d for d, i in enumerate(index) if i is Ellipsis), None)
        if at is not None:
            left_out = (slice(None),) * (a.ndim - len(index) + 1)
            index = (*index[:at], *left_out, *index[at + 1 :])
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
            self.check_index(Array(a.buffer, 0, (size,), (1,)), (i,), n)
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
        for x in (s.start, s.stop, s.step):
            if x is not None and (not values.is_value(x) or x.dtype.kind not in "iu"):
                raise Unsupported(n.lineno, f"{ast.unparse(n)}: a slice takes whole numbers")
        step = np.int64(1) if s.step is None else s.step.astype(np.int64)
        if np.any(step == 0):
            raise KernelError(f"line {n.lineno}: the step of {ast.unparse(n)} is 0")
        down = step < 0
        low, high = np.where(down, -1, 0), np.where(down, size - 1, size)
        ends = [np.where(down, high, low), np.where(down, low, high)]
        for k, x in enumerate((s.start, s.stop)):
            if x is not None:
                x = x.astype(np.int64)
                ends[k] = np.clip(np.where(x < 0, x + size, x), low, high)
        ahead = np.where(down, ends[0] - ends[1], ends[1] - ends[0])
        length = np.maximum(0, -(-ahead // np.abs(step)))
        return _scalar(ends[0]), _scalar(length), _scalar(step)

    # -- what may be stored

    def put(self, a, index: tuple, v, m: Mask, n, checked: bool = False) -> None:
        """``a[index] = v``."""
        if not isinstance(a, Array):
            raise Unsupported(n.lineno, f"cannot store into {describe_value(a)}: {ast.unparse(n)}")
        buffer = a.buffer
        if buffer.space == "constant":
            raise KernelError(
                f"line {n.lineno}: {a.name} is constant memory and cannot be changed: "
                "pass it as an argument"
            )
        if buffer.dtype.names:
            name = self.field_name(a, index)
            if name is not None:
                self.put_field(a, name, v, m, n)
                return
            if len(index) == a.ndim and not any(isinstance(i, PARTS) for i in index):
                self.put_record(self.record(a, index, m, n), v, m, n)
                return
        if len(index) < len(a.shape) or any(isinstance(i, PARTS) for i in index):
            self.put_view(self.view(a, index, m, n), v, m, n)
            return
        if bfloat16.is_one(v):
            v = bfloat16.converted(buffer.dtype, v, n)
        if not values.is_value(v):
            each = ""
            if isinstance(v, Array):
                to, of = ", ".join(("tz", "ty", "tx")[-a.ndim :]), ", ".join(["…"] * v.ndim)
                each = f": let each thread store one element, {a.name}[{to}] = {v.name}[{of}]"
            said = f"cannot store {describe_value(v)} in {ast.unparse(n)}{each}"
            raise Unsupported(n.lineno, said)
        if v.dtype.kind == "c" and buffer.dtype.kind != "c":
            raise Unsupported(n.lineno, f"cannot store {v.dtype.name} in {buffer.dtype.name}")
        self.put_element(a, index, values.cast(buffer.dtype, v), m, n, checked)

    def put_view(self, part: Array, v, m: Mask, n) -> None:
        """``a[i:j] = v``: every thread stores every element of its part."""
        for index, here in self.each(part, m):
            self.put(part, index, v, here, n)

    def put_field(self, a: Array, name: str, v, m: Mask, n) -> None:
        """``record.field = v``."""
        if name not in (a.dtype.names or ()):
            self.field(a, name, m, n)  # says which there are
        d, offset = a.dtype.fields[name][:2]
        self.put_whole(self.part_of(a, name, d, offset, n), v, m, n)

    def put_whole(self, a: Array, v, m: Mask, n) -> None:
        """Store a number, a record or an array of the same shape in all of `a`."""
        if a.dtype.names and a.ndim == 0:
            self.put_record(a, v, m, n)
        elif isinstance(v, Array) and a.ndim:
            if len(v.shape) != a.ndim:
                raise Unsupported(n.lineno, f"{ast.unparse(n)} = ...: the shapes differ")
            for i in self.positions(a.shape, [v.shape], n):
                index = tuple(map(np.int64, i))
                self.put(a, index, self.load(v, index, m, n), m, n)
        elif a.ndim:
            self.put_view(a, v, m, n)
        else:
            self.put(a, (), v, m, n)

    def put_record(self, a: Array, v, m: Mask, n) -> None:
        """Store a record in another, field by field."""
        if not isinstance(v, Array) or v.ndim or v.dtype.names != a.dtype.names:
            raise Unsupported(n.lineno, f"cannot store {describe_value(v)} in a record")
        for name in a.dtype.names:
            self.put_field(a, name, self.field(v, name, m, n), m, n)

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


def _scalar(v):
    return int(v) if np.ndim(v) == 0 else v
