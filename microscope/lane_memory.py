"""Memory as lanes see it: elements within bounds, stores in order, the tracer told."""

from __future__ import annotations

import ast

import numpy as np

from . import memory, values
from .errors import KernelError, Unsupported
from .indexing import Memory
from .lanes import Lanes, Mask
from .memory import Array, Buffer
from .session import Session
from .sites import Kind, Problem


class LaneMemory(Memory):
    """Memory whose arrays have elements.

    Attributes
    ----------
    in_flight : dict of Buffer to callable
        Local arrays that products may still write (`ptx`): what an access of one calls.
    """

    def __init__(self, session: Session, lanes: Lanes, shared: dict):
        super().__init__(session, lanes, shared)
        self.in_flight: dict[Buffer, object] = {}
        self._lane_numbers = None
        self._shared_base: dict[int, np.ndarray] = {}

    # -- from indices to elements

    def locate(self, a: Array, index: tuple, m: Mask, n, checked: bool = False):
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

    def wrap(self, i, size, m: Mask, n, a: Array, checked: bool = False):
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
        cure = "guard the access with an if"
        if a.buffer.space == "shared" and isinstance(n, ast.Subscript):
            parts = n.slice.elts if isinstance(n.slice, ast.Tuple) else [n.slice]
            if len(parts) == len(element):
                cure = _how_far(shape, element, parts)
        message = (
            f"thread {thread} of block {block} {op} {a.name}[{inside}], outside its shape {shape}: "
            f"{cure}"
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

    # -- loads

    def load_element(self, a: Array, index: tuple, m: Mask, n):
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

    def unread(self, d: np.dtype):
        return values.poison(d)

    def part_of(self, a: Array, name: str, d: np.dtype, offset: int, n) -> Array:
        """A view of a part of every element, watched as the whole is."""
        made = super().part_of(a, name, d, offset, n)
        races = None if self.tracer is None else self.tracer.races
        if races is not None and made.buffer not in races and not made.dtype.names:
            root, written = made.buffer.root, self.tracer.written
            if root in races:
                self.tracer.watch(made.buffer, self.session.warps_per_block)
            elif root in written and made.buffer not in written:
                self.tracer.watch_blank(made.buffer)
        return made

    def reinterpreted(self, a: Array, d: np.dtype, n) -> Array:
        """A view under another type, watched together with what it is a view of."""
        made = super().reinterpreted(a, d, n)
        races = None if self.tracer is None else self.tracer.races
        root = made.buffer.root
        if races is not None and root in races and made.buffer not in races:
            views = [root, *(part for part in root.parts.values() if part.root is root)]
            self.tracer.watch_together(views, self.session.warps_per_block)
        return made

    # -- stores

    def put_element(self, a: Array, index: tuple, v, m: Mask, n, checked: bool) -> None:
        buffer = a.buffer
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

    def writes(self, a: Array) -> None:
        """Nothing: the elements tell."""

    # -- arrays

    def each(self, a: Array, m: Mask):
        for index in np.ndindex(*(int(np.max(size)) for size in a.shape)):
            inside = np.bool_(True)
            for i, size in zip(index, a.shape, strict=True):
                inside = inside & (i < size)
            here, _ = self.lanes.split(inside, m)
            if here is not None:
                yield tuple(np.int64(i) for i in index), here

    def positions(self, shape: tuple, inputs: list[tuple], n):
        if np.broadcast_shapes(shape, *inputs) != shape:
            shapes = [*inputs, shape]
            raise Unsupported(
                n.lineno, f"{ast.unparse(n)}: the shapes {shapes} do not fit together"
            )
        return np.ndindex(*shape)

    def check_sizes(self, fit, error: KernelError) -> None:
        if not fit:
            raise error

    def shared_array(self, shape, dtype: np.dtype, base: int) -> Array:
        return memory.shared_array(None, shape, dtype, base, self.lanes.blocks)

    def local_array(self, shape, dtype: np.dtype) -> Array:
        return memory.local_array(None, shape, dtype, self.lanes.count)


def _constant_negative(n) -> bool:
    """Say whether a subscript, or an atomic, has a written negative index, which is meant."""
    index = n.slice if isinstance(n, ast.Subscript) else n.args[1] if len(n.args) > 1 else None
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(isinstance(p, ast.Constant) and p.value < 0 for p in parts)


def _how_far(shape: tuple, element: tuple, parts: list[ast.expr]) -> str:
    """Which index goes past the end of a tile: an if would hide a loop that is too long."""
    axis = next(i for i, size in enumerate(shape) if not 0 <= element[i] < size)
    words = ("rows", "columns") if len(shape) == 2 else ("elements",) * len(shape)
    return f"it has only {shape[axis]} {words[axis]}: how far does {ast.unparse(parts[axis])} run?"


def _plain(shape, position, lanes: Lanes) -> tuple[int, ...]:
    return tuple(int(lanes.at(s, position)) for s in shape)
