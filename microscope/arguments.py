"""Arguments of a kernel: arrays of every make, brought to the host and checked."""

from __future__ import annotations

from enum import Enum
from functools import partial

import numpy as np

from . import memory, values
from .device_arrays import DeviceArray, Interface, from_interface
from .errors import KernelError
from .memory import Array
from .ptx import tensor_maps
from .source import Code


def host_array(a):
    """An argument's array on the host: Numba's and CuPy's device arrays are copied there."""
    if isinstance(a, DeviceArray):
        return a.memory
    if isinstance(a, np.ndarray) or np.isscalar(a):
        return a
    if isinstance(getattr(a, "__cuda_array_interface__", None), Interface):
        return from_interface(a).memory
    if hasattr(a, "copy_to_host"):
        return _as_on_device(a, a.copy_to_host())
    if hasattr(a, "__cuda_array_interface__") and hasattr(a, "get"):
        return _as_on_device(a, a.get())
    return a


def _as_on_device(device, host: np.ndarray) -> np.ndarray:
    """A host copy with the strides and the alignment that the array has on the device."""
    interface = device.__cuda_array_interface__
    offset = interface["data"][0] % memory.ALIGNMENT
    strides = interface.get("strides") or _contiguous(host)
    extent = sum((n - 1) * abs(s) for n, s in zip(host.shape, strides, strict=True))
    before = sum((n - 1) * -s for n, s in zip(host.shape, strides, strict=True) if s < 0)
    store = np.empty(offset + extent + host.itemsize, np.uint8)
    copy = np.ndarray(host.shape, host.dtype, store, offset + before, strides)
    copy[...] = host
    return copy


def _contiguous(a: np.ndarray) -> tuple[int, ...]:
    return tuple(s * a.itemsize for s in memory.row_major(a.shape))


def argument(a, name: str):
    """A kernel argument as the interpreter takes it.

    Raises
    ------
    KernelError
        If a kernel cannot take such a thing.
    """
    if isinstance(a, np.ndarray):
        a = a.view(np.ndarray) if type(a) is not np.ndarray else a
        if not _holds_numbers(a.dtype):
            instead = OTHER.get(a.dtype.kind, "a kernel takes arrays of numbers")
            raise KernelError(f"argument {name} is an array of {a.dtype}: {instead}")
        base = memory.base_address(a) % memory.ALIGNMENT if a.size else 0
        return memory.of_argument(a, name, base)
    if isinstance(a, np.void) and a.dtype.names:
        return argument(np.asarray(a).view(np.ndarray), name)
    if isinstance(a, tuple):
        made = tuple(argument(x, name) for x in a)
        if hasattr(a, "_fields"):
            return values.Parts(made, values.TupleType(type(a).__name__, a._fields))
        return made
    if isinstance(a, (bool, int, float, complex, Enum)):
        return values.literal(a)
    if isinstance(a, np.generic) and a.dtype.kind in "biufc":
        return a
    if a is None:
        return None
    raise KernelError(
        f"argument {name} is a {type(a).__name__}: a kernel takes arrays, numbers and tuples of "
        "them; make it a NumPy array"
    )


#: What to pass for elements that the interpreter doesn't know, by the kind of their type.
OTHER = dict.fromkeys("mM", "the interpreter knows no dates, so pass .view(np.int64) of it") | (
    dict.fromkeys("SU", "the interpreter knows no texts, so pass .view(np.uint8) of it")
)


def _holds_numbers(d: np.dtype) -> bool:
    """Say whether the elements are numbers, or records of them."""
    if d.names:
        return all(_holds_numbers(d.fields[name][0].base) for name in d.names)
    return d.kind in "biufc"


def bind(code: Code, given: tuple, convert) -> list:
    """The kernel's arguments, converted; one array given twice stays one array.

    What a GPU alone can read, such as a tensor map that the driver made, has a method
    ``in_microscope`` that returns what stands for it here.
    """
    if code.rest is not None:
        raise KernelError(f"{code.name} takes *{code.rest}: a kernel names all its parameters")
    bound = code.bind(list(given), {}, code.name)
    bound = {
        name: a.in_microscope() if hasattr(a, "in_microscope") else a for name, a in bound.items()
    }
    made: dict[int, object] = {}

    def of(name, array):
        if id(array) not in made:
            made[id(array)] = argument(convert(array), name)
        return made[id(array)]

    for name, a in sorted(bound.items(), key=lambda item: tensor_maps.is_map(item[1])):
        if tensor_maps.is_map(a):
            made[id(a)] = tensor_maps.argument(a, name, partial(of, name))
        elif id(a) not in made or not isinstance(made[id(a)], Array):
            made[id(a)] = argument(convert(a), name)
    return [made[id(a)] for a in bound.values()]


def private(a):
    """A copy of an argument, so that a trace changes nothing."""
    a = host_array(a)
    return memory.duplicate(a) if isinstance(a, np.ndarray) else a
