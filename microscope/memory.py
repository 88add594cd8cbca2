"""Arrays as a kernel sees them: memory, and views that turn indices into elements."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .errors import Unsupported
from .values import poison

ALIGNMENT = 256  # every allocation of the CUDA driver starts at a multiple of this


@dataclass(eq=False)
class Buffer:
    """A stretch of memory.

    Attributes
    ----------
    name : str
    space : {"global", "constant", "shared", "local"}
    dtype : dtype
    size : int
        Elements: of the allocation (global), of one block (shared), of one thread (local).
    flat : ndarray
        The elements: shape (size,) for global, (blocks * size,) for shared,
        (size * lanes,) for local memory, where one element of all threads lies together.
    base : int
        Byte address of the first element.
    shape, strides : tuple of int
        How the declared array lies in it, strides in elements, from element `origin`.
    spacing : int
        Bytes from one element to the next, where the elements are fields of records; 0 elsewhere.
    root : Buffer or None
        The records whose fields these are.
    parts : dict of str to Buffer
        Fields of the elements that have been asked for.
    """

    name: str | None
    space: str
    dtype: np.dtype
    size: int
    flat: np.ndarray
    base: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    origin: int = 0
    spacing: int = 0
    root: Buffer | None = None
    parts: dict[str, Buffer] = field(default_factory=dict)

    @property
    def pitch(self) -> int:
        """Bytes from one element to the next."""
        return self.spacing or self.dtype.itemsize

    def index_of(self, element: int) -> tuple[int, ...]:
        """Index, in the declared shape, of an element's number."""
        index, rest = [0] * len(self.shape), int(element) - self.origin
        order = sorted(range(len(self.shape)), key=lambda d: -abs(self.strides[d]))
        for d in order:
            if self.strides[d]:
                step = rest // self.strides[d]
                index[d] = max(0, min(step, self.shape[d] - 1))
                rest -= index[d] * self.strides[d]
        return tuple(index)


@dataclass(eq=False)
class Array:
    """A view of a buffer: what a name in a kernel stands for.

    `offset` and `shape` may differ from thread to thread (``A[row]``, ``A[i:i + 4]``): then they
    are vectors over the lanes.
    """

    buffer: Buffer
    offset: object
    shape: tuple
    strides: tuple

    @property
    def dtype(self) -> np.dtype:
        return self.buffer.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def name(self) -> str:
        return self.buffer.name or "array"

    def transposed(self) -> Array:
        """``A.T``."""
        return Array(self.buffer, self.offset, self.shape[::-1], self.strides[::-1])

    @property
    def contiguous(self) -> bool:
        if any(not isinstance(n, np.ndarray) and n == 0 for n in self.shape):
            return True
        expected = 1
        for n, s in zip(self.shape[::-1], self.strides[::-1], strict=True):
            if isinstance(expected, np.ndarray) or isinstance(s, np.ndarray) or s != expected:
                return False
            expected = expected * n
        return True


def part_of(a: Array, name: str, d: np.dtype, offset: int) -> Array:
    """A field of records, or the real or imaginary parts of complex numbers: a view.

    Parameters
    ----------
    a : Array
    name : str
    d : dtype
        Its type; with a shape where each record holds an array.
    offset : int
        Where it begins in each element, in bytes.

    Raises
    ------
    Unsupported
        If it does not lie where a GPU could load it.
    """
    buffer, unit = a.buffer, d.base.itemsize
    aligned = d.base.alignment
    if offset % aligned or buffer.pitch % aligned:
        raise Unsupported(
            None,
            f"{a.name}.{name} lies at byte {offset} of {buffer.pitch}, where no {d.base.name} can "
            "be loaded: make the type with np.dtype(…, align=True)",
        )
    steps = 1 if not d.shape else buffer.pitch // unit
    part = buffer.parts.get(name)
    if part is None:
        if d.shape and (buffer.space == "local" or buffer.pitch % unit):
            what = f"{a.name}.{name}: an array in a record of {buffer.space} memory"
            raise Unsupported(None, f"{what}: write a field for each of its elements")
        if d.shape:
            flat, spacing = _in_steps(buffer.flat, d.base), unit
        else:
            flat, spacing = buffer.flat[name] if buffer.dtype.names else _half(buffer, name), 0
            spacing = buffer.pitch
        whole = buffer.name or "array"
        part = buffer.parts[name] = Buffer(
            f"{whole}.{name}", buffer.space, d.base, buffer.size * steps, flat,
            buffer.base + (0 if d.shape else offset), buffer.shape + d.shape,
            tuple(s * steps for s in buffer.strides) + row_major(d.shape),
            buffer.origin * steps + (offset // unit if d.shape else 0),
            spacing, buffer.root or buffer,
        )  # fmt: skip
    shift = offset // unit if d.shape else 0
    strides = tuple(s * steps for s in a.strides) + row_major(d.shape)
    return Array(part, a.offset * steps + shift, a.shape + d.shape, strides)


def reinterpreted(a: Array, d: np.dtype, what: str) -> Array:
    """The same bytes as elements of another type: ``a.view(dtype)``.

    Parameters
    ----------
    a : Array
    d : dtype
        Numbers.
    what : str
        The call, for messages.

    Raises
    ------
    Unsupported
        If Numba has no such view, or the interpreter doesn't know where its bytes lie.
    """
    buffer, old, new = a.buffer.root or a.buffer, a.dtype.itemsize, d.itemsize
    if a.dtype.names or a.buffer.spacing or d.kind not in "biufc":
        raise Unsupported(None, f"{what}: takes a type of numbers, of an array of numbers")
    if buffer.space == "local":
        raise Unsupported(None, f"{what}: of a local array: view its elements one by one")
    apart = not a.ndim or isinstance(a.strides[-1], np.ndarray) or a.strides[-1] != 1
    if old != new and (apart or any(np.any(s * old % new) for s in a.strides[:-1])):
        raise Unsupported(None, f"{what}: the elements must be neighbours in memory")
    if buffer.space == "shared" and buffer.size * buffer.dtype.itemsize % new:
        raise Unsupported(None, f"{what}: {a.name} has {buffer.size * buffer.dtype.itemsize} bytes")
    key = f"view({d.name})"
    part = buffer if buffer.dtype == d else buffer.parts.get(key)
    if part is None:
        raw = buffer.flat.view(np.uint8)
        flat = raw[: raw.size // new * new].view(d)
        size = buffer.size * buffer.dtype.itemsize // new
        part = buffer.parts[key] = Buffer(
            buffer.name, buffer.space, d, size, flat, buffer.base, (size,), (1,), root=buffer
        )
    if old == new:
        return Array(part, a.offset, a.shape, a.strides)
    shape = (*a.shape[:-1], a.shape[-1] * old // new)
    return Array(part, a.offset * old // new, shape, (*(s * old // new for s in a.strides[:-1]), 1))


def _in_steps(flat: np.ndarray, d: np.dtype) -> np.ndarray:
    """All that lies from the first of some records to the end of the last, in pieces of a type."""
    if flat.strides == (flat.itemsize,):
        return flat.view(np.dtype((np.void, flat.itemsize))).view(d)
    count = ((flat.size - 1) * flat.strides[0] + flat.itemsize) // d.itemsize
    first = flat[:1].view(np.uint8)[: d.itemsize].view(d)
    return np.lib.stride_tricks.as_strided(first, (count,), (d.itemsize,))


def _half(buffer: Buffer, name: str) -> np.ndarray:
    """The real or the imaginary parts of complex numbers."""
    return getattr(buffer.flat, name)


def row_major(shape) -> tuple[int, ...]:
    """Strides, in elements, of a contiguous array."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))


def of_argument(a: np.ndarray, name: str | None, base: int, space: str = "global") -> Array:
    """Wrap an array argument: the buffer is the array's own memory, with its strides.

    Parameters
    ----------
    a : ndarray
        At least one axis.
    name : str or None
    base : int
        Byte address of its lowest element.
    """
    if any(s % a.itemsize for s in a.strides):
        raise Unsupported(None, f"array {name!r} has strides that are no multiple of its itemsize")
    strides = tuple(s // a.itemsize for s in a.strides)
    if a.size == 0:
        buffer = Buffer(name, space, a.dtype, 0, a.reshape(-1), base, a.shape, strides)
        return Array(buffer, 0, a.shape, strides)
    origin = -sum((n - 1) * s for n, s in zip(a.shape, strides, strict=True) if s < 0)
    extent = 1 + sum((n - 1) * abs(s) for n, s in zip(a.shape, strides, strict=True))
    if a.flags.c_contiguous:
        flat = a.reshape(-1)
    else:
        lowest = a[tuple(slice(None, None, -1) if s < 0 else slice(None) for s in strides)]
        flat = np.lib.stride_tricks.as_strided(lowest, (extent,), (a.itemsize,))
    buffer = Buffer(name, space, a.dtype, extent, flat, base, a.shape, strides, origin)
    return Array(buffer, origin, a.shape, strides)


def contents(a: Array) -> np.ndarray:
    """The array of an argument as the launch has left it."""
    buffer = a.buffer
    if not buffer.flat.size:
        return np.empty(buffer.shape, buffer.dtype)
    steps = [s * buffer.dtype.itemsize for s in buffer.strides]
    start = buffer.flat[buffer.origin :]
    return np.lib.stride_tricks.as_strided(start, buffer.shape, steps)


def of_constant(a: np.ndarray, name: str) -> Array:
    """A global array as the compiler keeps it: a copy in constant memory."""
    return of_argument(np.array(a, order="A"), name, 0, "constant")


def duplicate(a: np.ndarray) -> np.ndarray:
    """A copy that lies in memory exactly as `a` does: its strides, gaps and alignment."""
    if a.size == 0:
        return a.copy()
    low, high = np.lib.array_utils.byte_bounds(a)
    shift = base_address(a) % ALIGNMENT
    store = np.empty(shift + high - low, np.uint8)
    start = shift + a.__array_interface__["data"][0] - low
    copy = np.ndarray(a.shape, a.dtype, store, start, a.strides)
    copy[...] = a
    return copy


def base_address(a: np.ndarray) -> int:
    """Byte offset of an array's lowest element in the allocation it is a view of."""
    root = a
    while isinstance(root.base, np.ndarray):
        root = root.base
    low = np.lib.array_utils.byte_bounds(a)[0]
    return low - np.lib.array_utils.byte_bounds(root)[0]


def shared_array(name, shape, dtype: np.dtype, base: int, blocks: int) -> Array:
    """A fresh, poisoned array for each of some blocks; for none, one element to tell its type."""
    size = int(np.prod(shape, dtype=np.int64))
    flat = np.full(blocks * size or 1, poison(dtype), dtype)
    return declared(name, "shared", shape, dtype, size, flat, base)


def local_array(name, shape, dtype: np.dtype, lanes: int) -> Array:
    """A fresh, poisoned array for each of some threads, as `shared_array`."""
    size = int(np.prod(shape, dtype=np.int64))
    flat = np.full(size * lanes or 1, poison(dtype), dtype)
    return declared(name, "local", shape, dtype, size, flat, 0)


def declared(name, space, shape, dtype, size, flat, base) -> Array:
    """An array a kernel declares itself, row-major."""
    strides = row_major(shape)
    buffer = Buffer(name, space, dtype, size, flat, base, tuple(shape), strides)
    return Array(buffer, 0, tuple(shape), strides)
