"""Arrays in "device memory", with what numba-cuda's own offer to host code, and no more.

They are no NumPy arrays: there is no arithmetic on the host, a slice is a view, ``.T`` is a copy,
and the contents come back through `copy_to_host`. What works here works on a GPU.
"""

from __future__ import annotations

import types

import numpy as np

from . import xoroshiro

GAPS = "this array has gaps, so that a copy would be needed: make one on the host"


class Interface(dict):
    """What a CUDA array interface says, and whose it is.

    Attributes
    ----------
    array : DeviceArray
    """


class DeviceArray:
    """An array in "device memory".

    Attributes
    ----------
    memory : ndarray
        What kernels read and write.
    blank : bool
        Whether surely nobody has written to it since it was made, nor made a view of it.
    stream : object
        The stream that it was made with; 0 if with none.
    owner : object
        What keeps the memory of another library alive.
    """

    __cuda_memory__ = True
    __cuda_ndarray__ = True

    def __init__(self, memory: np.ndarray, stream=0, owner=None):
        self.memory, self.stream, self.owner, self.blank = memory, stream or 0, owner, False

    shape = property(lambda self: self.memory.shape)
    strides = property(lambda self: self.memory.strides)
    dtype = property(lambda self: self.memory.dtype)
    ndim = property(lambda self: self.memory.ndim)
    size = property(lambda self: int(self.memory.size))
    nbytes = property(lambda self: self.memory.nbytes)

    @property
    def alloc_size(self) -> int:
        """Bytes from the first element to the last."""
        if not self.size:
            return 0
        low, high = np.lib.array_utils.byte_bounds(self.memory)
        return high - low

    @property
    def flags(self) -> dict[str, bool]:
        """How the elements lie."""
        found = self.memory.flags
        return {"C_CONTIGUOUS": found.c_contiguous, "F_CONTIGUOUS": found.f_contiguous}

    @property
    def __cuda_array_interface__(self) -> dict:
        interface = self.memory.__array_interface__
        found = Interface(
            shape=self.shape,
            strides=None if self.memory.flags.c_contiguous else self.strides,
            data=(interface["data"][0] if self.size else 0, False),
            typestr=self.dtype.str,
            stream=getattr(self.stream, "handle", None),
            version=3,
        )
        found.array = self
        return found

    def is_c_contiguous(self) -> bool:
        """Say whether rows follow each other without gaps."""
        return self.memory.flags.c_contiguous

    def is_f_contiguous(self) -> bool:
        """Say whether columns follow each other without gaps."""
        return self.memory.flags.f_contiguous

    def __len__(self) -> int:
        if not self.ndim:
            raise IndexError("an array of no axis has no length")
        return self.shape[0]

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        if copy is False:
            raise ValueError("an array on the device can't be seen from the host without a copy")
        return self.copy_to_host().astype(dtype or self.dtype, copy=False)

    def __getattr__(self, name: str):
        if not name.startswith("_") and hasattr(np.ndarray, name):
            raise AttributeError(
                f"a device array has no .{name}: copy it to the host first, as in "
                f"a.copy_to_host().{name}, or write a kernel",
                name=name,
                obj=self,
            )
        raise AttributeError(f"a device array has no .{name}", name=name, obj=self)

    # -- copies

    def copy_to_host(self, ary: np.ndarray | None = None, stream=0) -> np.ndarray:
        """Copy to a new array on the host, or into `ary`, which must be of the same make."""
        if any(step < 0 for step in self.strides):
            raise NotImplementedError(
                f"strides {self.strides}: a view that runs backwards can't be copied to the host"
            )
        if ary is None:
            return np.array(self.memory, order="K")
        _check_alike(self.memory, ary)
        ary[...] = self.memory
        return ary

    def copy_to_device(self, ary, stream=0) -> None:
        """Copy `ary` into this array; it must be of the same make."""
        self.blank = False
        if isinstance(ary, DeviceArray):
            _check_contiguous(ary.memory)
            ary = ary.memory
        elif hasattr(ary, "__cuda_array_interface__"):
            ary = from_interface(ary).memory
        else:
            order = "C" if _core(self.memory).flags.c_contiguous else "F"
            ary = np.asarray(np.array(ary, copy=None, subok=True), order=order)
        if not ary.size:
            return
        _check_contiguous(self.memory)
        _check_alike(_core(self.memory), _core(ary))
        self.memory[...] = ary

    def bind(self, stream=0) -> DeviceArray:
        """The same memory, with a stream of its own."""
        return self._part(self.memory, stream)

    # -- views

    def _part(self, memory: np.ndarray, stream=0) -> DeviceArray:
        self.blank = False
        return DeviceArray(memory, stream or self.stream, self.owner)

    def getitem(self, item, stream=0):
        """``a[item]``: a number, a record, or a view."""
        index = item if isinstance(item, tuple) else (item,)
        if len(index) > self.ndim:
            raise IndexError(f"{len(index)} indices for an array of {self.ndim} axes")
        for i in index:
            if isinstance(i, types.EllipsisType) or not isinstance(i, (slice, int, np.integer)):
                raise TypeError(f"a device array takes whole numbers and slices, not {i!r}")
        if len(index) == self.ndim and not any(isinstance(i, slice) for i in index):
            if self.dtype.names:
                where = tuple(slice(i, i + 1 or None) for i in index)
                self.memory[index]  # out of bounds?
                return DeviceRecord(self.memory[where].reshape(()), self.stream)
            return self.memory[index]
        return self._part(self.memory[index])

    def setitem(self, key, value, stream=0) -> None:
        """``a[key] = value``: a number, or an array that is broadcast."""
        self.blank = False
        value = value.memory if isinstance(value, DeviceArray) else np.asarray(value)
        part = self.memory[key]
        if value.ndim > np.ndim(part):
            raise ValueError(f"can't assign {value.ndim} axes to {np.ndim(part)}")
        given = (1,) * (np.ndim(part) - value.ndim) + value.shape
        for axis, (mine, theirs) in enumerate(zip(np.shape(part), given, strict=True)):
            if theirs not in (1, mine):
                raise ValueError(f"can't assign {theirs} elements to axis {axis} of {mine}")
        self.memory[key] = value

    __getitem__, __setitem__ = getitem, setitem

    def view(self, dtype) -> DeviceArray:
        """The same bytes as elements of another type."""
        return self._part(self.memory.view(dtype))

    def reshape(self, *shape, order: str = "C") -> DeviceArray:
        """The same elements in another shape: a view."""
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        made = self.memory.reshape(shape, order=order)
        return self._without_copy(made)

    def ravel(self, order: str = "C", stream=0) -> DeviceArray:
        """The same elements along one axis: a view."""
        if not (self.is_c_contiguous() or self.is_f_contiguous()):
            raise NotImplementedError(GAPS)
        return self._without_copy(self.memory.reshape(-1, order=order))

    def _without_copy(self, made: np.ndarray) -> DeviceArray:
        gaps = not (self.is_c_contiguous() or self.is_f_contiguous())
        moved = made.size and not np.shares_memory(made, self.memory)
        if moved or made.shape != self.shape and gaps:
            raise NotImplementedError(
                "this array has gaps, so that a copy would be needed: make one"
            )
        return self._part(made)

    def squeeze(self, axis=None, stream=0) -> DeviceArray:
        """A view without the axes of size 1."""
        return self._part(np.squeeze(self.memory, axis), stream)

    def split(self, section: int, stream=0):
        """Views of `section` elements each; the last may have fewer."""
        if self.ndim != 1 or self.strides != (self.dtype.itemsize,):
            raise ValueError("split takes an array of one axis without gaps")
        for begin in range(0, self.size, section):
            yield self._part(self.memory[begin : begin + section], stream)

    @property
    def T(self) -> DeviceArray:  # noqa: N802  (NumPy's name)
        """The transposed matrix: a copy."""
        return self.transpose()

    def transpose(self, axes=None) -> DeviceArray:
        """The transposed matrix: a copy, as numba-cuda makes it by a kernel."""
        if axes and tuple(axes) == tuple(range(self.ndim)):
            return self
        if self.ndim != 2:
            raise NotImplementedError(f"only a matrix can be transposed, not {self.ndim} axes")
        if axes is not None and set(axes) != {0, 1}:
            raise ValueError(f"axes {axes!r}: name each of the two axes once")
        return DeviceArray(np.array(self.memory.T, order="C"), self.stream)

    def __repr__(self) -> str:
        return f"<device array, shape {self.shape}, {self.dtype}: copy_to_host() shows it>"


class DeviceRecord(DeviceArray):
    """One record in "device memory": ``r["field"]`` reads and writes its fields."""

    def getitem(self, item, stream=0):
        """The value of a field: a number, a record or an array."""
        part = self.memory[item]
        if part.dtype.names and not part.ndim:
            return DeviceRecord(part, self.stream)
        return DeviceArray(part, self.stream) if part.ndim else part[()]

    def setitem(self, key, value, stream=0) -> None:
        """Store a number in a field."""
        self.memory[key] = value

    __getitem__, __setitem__ = getitem, setitem


class MappedArray(np.ndarray):
    """Memory that host and device see both: a NumPy array that kernels take as it is."""

    stream = 0

    @property
    def __cuda_array_interface__(self) -> dict:
        interface = dict(self.__array_interface__)
        return interface | {"stream": None, "version": 3}


def from_interface(obj) -> DeviceArray:
    """The memory of another library's array, as it lies there.

    Raises
    ------
    TypeError
        If it lies on no device.
    NotImplementedError
        If it has a mask.
    """
    if isinstance(obj, DeviceArray):
        return DeviceArray(obj.memory, obj.stream, obj)
    found = getattr(obj, "__cuda_array_interface__", None)
    if found is None:
        raise TypeError(
            f"{type(obj).__name__} is no array on a device: copy it there with cuda.to_device"
        )
    if found.get("mask") is not None:
        raise NotImplementedError("an array with a mask can't be passed to a kernel")
    if isinstance(obj, np.ndarray):
        return DeviceArray(np.asarray(obj).view(np.ndarray), owner=obj)
    if isinstance(found, Interface):
        return DeviceArray(found.array.memory, found.array.stream, obj)
    raise TypeError(f"{type(obj).__name__} lies on a GPU: copy it to the host first")


def to_device(obj, stream=0, copy: bool = True, to: DeviceArray | None = None) -> DeviceArray:
    """Copy an array, a number or a record to the device; an array that lies there stays."""
    if to is not None:
        if copy:
            to.copy_to_device(obj, stream)
        return to
    if isinstance(obj, DeviceArray):
        return obj
    if hasattr(obj, "__cuda_array_interface__"):
        return from_interface(obj)
    made = np.array(obj, copy=None, subok=True)
    if isinstance(obj, np.void):
        return DeviceRecord(np.array(obj), stream)
    _check_contiguous(made)
    order = "K" if 0 not in made.strides else "C"
    return DeviceArray(np.array(made, order=order).view(np.ndarray), stream)


def device_array(shape, dtype=np.float64, strides=None, order="C", stream=0) -> DeviceArray:
    """An array on the device, not initialised."""
    made = DeviceArray(empty(shape, dtype, strides, order), stream)
    made.blank = True
    return made


def device_array_like(ary, stream=0) -> DeviceArray:
    """An array on the device with the shape and type of another, not initialised."""
    like = ary.memory if isinstance(ary, DeviceArray) else ary
    made = DeviceArray(_empty_like(like), stream)
    made.blank = True
    return made


def _empty_like(a: np.ndarray) -> np.ndarray:
    """Memory of the shape of `a`, whose axes follow each other as those of `a` do."""
    if a.flags.c_contiguous or a.flags.f_contiguous or a.ndim < 2:
        order = "F" if a.flags.f_contiguous and not a.flags.c_contiguous else "C"
        return np.empty(a.shape, a.dtype, order=order)
    strides, step = [0] * a.ndim, a.dtype.itemsize
    for axis in sorted(range(a.ndim), key=lambda d: a.strides[d]):
        strides[axis] = step
        step *= a.shape[axis]
    return np.ndarray(a.shape, a.dtype, np.empty(step, np.uint8), 0, strides)


def empty(shape, dtype=np.float64, strides=None, order="C") -> np.ndarray:
    """Memory that nobody has written.

    Raises
    ------
    TypeError
        If the shape is not made of whole numbers.
    """
    from .values import dtype_of

    sizes = (shape,) if np.ndim(shape) == 0 else tuple(shape)
    for n in sizes:
        if isinstance(n, np.ndarray) and n.ndim == 0:
            n = n[()]
        if not isinstance(n, (int, np.integer)):
            raise TypeError(f"shape {shape!r} must be whole numbers: divide with //")
    found = dtype_of(dtype)
    d = np.dtype(dtype) if found is None else found
    sizes = tuple(map(int, sizes))
    if strides is None:
        return np.empty(sizes, d, order=order)
    steps = (strides,) if isinstance(strides, int) else tuple(strides)
    extent = sum((n - 1) * s for n, s in zip(sizes, steps, strict=True)) + d.itemsize
    return np.ndarray(sizes, d, np.empty(extent, np.uint8), 0, steps)


def _core(a: np.ndarray) -> np.ndarray:
    """One copy of what an array repeats along an axis of stride 0."""
    if not a.size or not a.strides:
        return a
    return a[tuple(0 if s == 0 else slice(None) for s in a.strides)]


def _check_contiguous(a: np.ndarray) -> None:
    flags = np.asarray(_core(a)).flags
    if not flags.c_contiguous and not flags.f_contiguous:
        raise ValueError(
            "the array has gaps, and is copied in one piece only: pass np.ascontiguousarray(a)"
        )


def _check_alike(a: np.ndarray, b) -> None:
    """Refuse a copy between arrays whose elements don't lie alike."""
    a, b = np.asarray(a), b.memory if isinstance(b, DeviceArray) else np.asarray(b)
    if a.dtype != b.dtype:
        raise TypeError(f"cannot copy between {a.dtype} and {b.dtype}: incompatible dtype")
    one, other = a.squeeze(), b.squeeze()
    if one.shape != other.shape:
        raise ValueError(f"cannot copy between shape {a.shape} and shape {b.shape}")
    if a.size and one.strides != other.strides:
        raise ValueError(f"cannot copy between strides {a.strides} and strides {b.strides}")


# -- random numbers


def create_states(n, seed, subsequence_start=0, stream=0) -> DeviceArray:
    """The states of `n` random number generators, on the device."""
    return to_device(xoroshiro.states(n, seed, subsequence_start))


def init_states(states: DeviceArray, seed, subsequence_start=0, stream=0) -> None:
    """Begin anew with the generators of an array."""
    states.copy_to_device(xoroshiro.states(len(states), seed, subsequence_start))
