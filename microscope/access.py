"""Loads and stores: from indices to elements, bounds checked, the tracer told."""

from __future__ import annotations

import ast
import types

import numpy as np

from . import memory, values
from .errors import KernelError, OutOfBounds, Unsupported
from .lanes import Lanes, Mask
from .memory import Array, Buffer
from .session import Session
from .sites import Kind, Problem
from .wording import describe_value

PARTS = (slice, types.EllipsisType)  # indices that leave an axis, or several


class Memory:
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
        self.in_flight: dict[Buffer, object] = {}  # local arrays that products may write (`ptx`)
        self._lane_numbers = None
        self._shared_base: dict[int, np.ndarray] = {}

    def locate(self, a: Array, index: tuple, m: Mask, n, checked: bool = False):
        """Element numbers of an access; problems are noted unless `checked` before.

        Returns
        -------
        elements : lane value of int64
            0 where a lane may not access.
        mask : Mask or None
            The lanes within bounds.
        """
        elements, outside = a.offset, None
        for i, size, stride in zip(index, a.shape, a.strides, strict=True):
            bad = None
            if not isinstance(i, np.ndarray):
                if type(size) is int and 0 <= i < size:
                    i = int(i)
                else:
                    i, bad = self.wrap(i, size, m, n, a, checked)
            elif type(size) is not int:
                i, bad = self.wrap(i, size, m, n, a, checked)
            elif i.dtype.kind == "i":
                i = values.cast(values.INT64, i)
                if i.view(np.uint64).max() >= size:  # one look finds both ends
                    i, bad = self.wrap(i, size, m, n, a, checked)
            elif i.max() < size:
                i = i.astype(np.int64)
            else:
                i, bad = self.wrap(i, size, m, n, a, checked)
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
        if not checked:
            self.out_of_bounds(a, index, outside, n)
        inside = ~outside if m.array is None else m.array & ~outside
        return np.where(outside, 0, elements), self.lanes.mask(inside, m)

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
                    f"an index must be an integer, not {describe_value(i)}: {ast.unparse(n)}",
                )

    def wrap(self, i, size, m: Mask, n, a: Array, checked: bool = False):
        """Indices brought into bounds as Numba does: negative ones count from the end.

        Returns the indices (0 where out of bounds) and the active lanes out of bounds, or None.
        """
        v = np.asarray(i)
        if v.ndim == 0:
            v = v.reshape(1, 1, 1, 1)
        signed = v.dtype.kind == "i"
        v = v.astype(np.int64)
        if signed:
            below = (v < 0) & (v >= -np.asarray(size, np.int64))
            if below.any():
                if not checked:
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
        if isinstance(n, ast.Call):
            called = ast.unparse(n.func).rpartition(".")[2]
            op = {"load4": "reads", "store4": "writes"}.get(called.partition("_")[0], "updates")
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
                blocks = np.arange(self.lanes.blocks, dtype=np.int64)
                base = self.lanes.column(blocks * buffer.size)
                self._shared_base[buffer.size] = base
            return base + elements
        if buffer.space == "local":
            if self._lane_numbers is None:
                numbers = np.arange(self.lanes.count, dtype=np.int64)
                self._lane_numbers = numbers.reshape(self.lanes.shape)
            return elements * self.lanes.count + self._lane_numbers
        return elements

    def load(self, a, index: tuple, m: Mask, n):
        """``a[index]``: an element, or a view if indices are missing or slices."""
        if isinstance(a, Array) and a.dtype.names:
            name = self.field_name(a, index)
            if name is not None:
                return self.field(a, name, m, n)
            if len(index) == a.ndim and not any(isinstance(i, PARTS) for i in index):
                return self.record(a, index, m, n)
        if not isinstance(a, Array):
            raise Unsupported(n.lineno, f"{ast.unparse(n)}: {describe_value(a)} has no elements")
        if len(index) < a.ndim or any(isinstance(i, PARTS) for i in index):
            return self.view(a, index, m, n)
        elements, inside = self.locate(a, index, m, n)
        buffer = a.buffer
        if inside is None:
            return self.unread(buffer.dtype)
        if buffer in self.in_flight:
            self.in_flight[buffer](n, elements)
        if buffer.space == "local" and not isinstance(elements, np.ndarray):
            return self.load_local(buffer, int(elements), inside, n)
        cells = self.cells(buffer, elements)
        if self.tracer is not None:
            self.tracer.access(n, buffer, "load", elements, cells, inside, self.lanes)
            if buffer in self.tracer.written:
                self.uninitialised(buffer, elements, cells, inside, n)
        v = buffer.flat.take(cells) if isinstance(cells, np.ndarray) else buffer.flat[cells]
        if inside is not m:
            v = np.where(inside.array, v, values.poison(buffer.dtype))
        return v

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
        """A view of a part of every element, watched as the whole is."""
        try:
            made = memory.part_of(a, name, d, offset)
        except Unsupported as error:
            raise Unsupported(n.lineno, str(error)) from None
        races = None if self.tracer is None else self.tracer.races
        if races is not None and made.buffer not in races and not made.dtype.names:
            root, written = made.buffer.root, self.tracer.written
            if root in races:
                self.tracer.watch(made.buffer, self.session.warps_per_block)
            elif root in written and made.buffer not in written:
                self.tracer.watch_blank(made.buffer)
        return made

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

    def load_local(self, buffer: Buffer, element: int, m: Mask, n):
        """One element of every thread's local array: they lie side by side."""
        if self.tracer is not None:
            self.tracer.access(n, buffer, "load", element, None, m, self.lanes)
            if not self.row(self.tracer.written[buffer], element).all():
                cells = self.cells(buffer, np.full((1, 1, 1, 1), element))
                self.uninitialised(buffer, element, cells, m, n)
        return self.row(buffer.flat, element).copy()

    def row(self, flat: np.ndarray, element: int) -> np.ndarray:
        """What belongs to one element of every thread's local array."""
        start = element * self.lanes.count
        return flat[start : start + self.lanes.count].reshape(self.lanes.shape)

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

    def put(self, a, index: tuple, v, m: Mask, n, checked: bool = False) -> None:
        """``a[index] = v``."""
        if not isinstance(a, Array):
            raise Unsupported(n.lineno, f"cannot store into {describe_value(a)}: {ast.unparse(n)}")
        buffer = a.buffer
        if buffer.space == "constant":
            raise KernelError(f"line {n.lineno}: {a.name} is constant memory and cannot be changed")
        if a.dtype.names:
            name = self.field_name(a, index)
            if name is not None:
                self.put_field(a, name, v, m, n)
                return
            if len(index) == a.ndim and not any(isinstance(i, PARTS) for i in index):
                self.put_record(self.record(a, index, m, n), v, m, n)
                return
        if len(index) < a.ndim or any(isinstance(i, PARTS) for i in index):
            self.put_view(self.view(a, index, m, n), v, m, n)
            return
        if not values.is_value(v):
            each = ""
            if isinstance(v, Array):
                to, of = ", ".join(("tz", "ty", "tx")[-a.ndim :]), ", ".join(["…"] * v.ndim)
                each = f": let each thread store one element, {a.name}[{to}] = {v.name}[{of}]"
            said = f"cannot store {describe_value(v)} in {ast.unparse(n)}{each}"
            raise Unsupported(n.lineno, said)
        if v.dtype.kind == "c" and buffer.dtype.kind != "c":
            raise Unsupported(n.lineno, f"cannot store {v.dtype.name} in {buffer.dtype.name}")
        self.writes(a)
        v = values.cast(buffer.dtype, v)
        elements, inside = self.locate(a, index, m, n, checked)
        if inside is None:
            return
        if buffer in self.in_flight:
            self.in_flight[buffer](n, elements)
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
        """Store one element of every thread's local array."""
        rows = [(buffer.flat, v)]
        if self.tracer is not None:
            self.tracer.access(n, buffer, "store", element, None, m, self.lanes)
            rows.append((self.tracer.written[buffer], True))
        for flat, value in rows:
            row = self.row(flat, element)
            if m.array is None:
                row[...] = value
            else:
                np.copyto(row, value, where=m.array, casting="unsafe")

    def put_view(self, part: Array, v, m: Mask, n) -> None:
        """``a[i:j] = v``: every thread stores every element of its part."""
        for index, here in self.each(part, m):
            self.put(part, index, v, here, n)

    def each(self, a: Array, m: Mask):
        """The indices of all elements, row by row, each with the lanes whose array has it."""
        for index in np.ndindex(*(int(np.max(size)) for size in a.shape)):
            inside = np.bool_(True)
            for i, size in zip(index, a.shape, strict=True):
                inside = inside & (i < size)
            here, _ = self.lanes.split(inside, m)
            if here is not None:
                yield tuple(np.int64(i) for i in index), here

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
        """Look for reads of elements that nobody has written."""
        blank = ~self.tracer.written[buffer][cells]
        if m.array is not None:
            blank = blank & m.array
        if not blank.any():
            return
        blank = np.asarray(blank).reshape((1, 1, 1, 1)) if np.ndim(blank) == 0 else blank
        block, thread, position = self.lanes.first(blank)
        index = buffer.index_of(self.lanes.at(elements, position))
        where = ", ".join(map(str, index))
        who = {"shared": "no thread of the block has", "local": "it has not"}
        message = (
            f"thread {thread} of block {block} reads {buffer.name}[{where}], which "
            f"{who.get(buffer.space, 'nobody has')} written yet: {buffer.space} memory starts with "
            "garbage, so fill it first"
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

    # -- what is another matter while types are inferred (see `abstract_memory`)

    def writes(self, a: Array) -> None:
        """An array is changed."""

    def unread(self, d: np.dtype):
        """What a load gives that no lane may make."""
        return values.poison(d)

    def check_sizes(self, fit, error: KernelError) -> None:
        """Raise an error unless the sizes of arrays fit."""
        if not fit:
            raise error

    def positions(self, shape: tuple, inputs: list[tuple], n):
        """The indices of an array of a shape to which others are broadcast."""
        if np.broadcast_shapes(shape, *inputs) != shape:
            shapes = [*inputs, shape]
            raise Unsupported(
                n.lineno, f"{ast.unparse(n)}: the shapes {shapes} do not fit together"
            )
        return np.ndindex(*shape)

    def shared_array(self, shape, dtype: np.dtype, base: int) -> Array:
        """A fresh shared array of these blocks."""
        return memory.shared_array(None, shape, dtype, base, self.lanes.blocks)

    def local_array(self, shape, dtype: np.dtype) -> Array:
        """A fresh local array of these lanes."""
        return memory.local_array(None, shape, dtype, self.lanes.count)

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


def _constant_negative(n) -> bool:
    """Say whether a subscript, or an atomic, has a written negative index, which is meant."""
    index = n.slice if isinstance(n, ast.Subscript) else n.args[1] if len(n.args) > 1 else None
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(isinstance(p, ast.Constant) and p.value < 0 for p in parts)


def _scalar(v):
    return int(v) if np.ndim(v) == 0 else v


def _plain(shape, position, lanes: Lanes) -> tuple[int, ...]:
    return tuple(int(lanes.at(s, position)) for s in shape)
