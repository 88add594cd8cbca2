"""Memory as type inference sees it: arrays have types, and no elements.

A load gives a number that stands for its type, a store remembers which argument it changes. No
thread is ever within the bounds of an array, since nobody knows them yet.
"""

from __future__ import annotations

import numpy as np

from . import memory, values
from .errors import KernelError
from .indexing import Memory
from .lanes import Lanes, Mask
from .memory import Array
from .session import Session

SAMPLE_SIZE = 64  # elements of an array that stands for its type


class TypedMemory(Memory):
    """Memory whose arrays have types only.

    Parameters
    ----------
    session : Session
    origins : dict of Buffer to frozenset
        The paths of the arguments that an array is a part of, as `stand_in` fills it.
    written : set of tuple of int
        Filled: the arguments through which an array is changed, by their paths.

    Attributes
    ----------
    views : list of Array
        Parts that have been taken of arrays.
    """

    def __init__(self, session: Session, origins: dict, written: set[tuple[int, ...]]):
        super().__init__(session, Lanes((1, 1, 1), np.zeros((1, 3), np.int64), (1, 1, 1)), {})
        self.origins, self.written = origins, written
        self.views: list[Array] = []

    # -- where an array comes from

    def origin(self, a) -> frozenset:
        """The arguments that an array is a part of."""
        if not isinstance(a, Array):
            return frozenset()
        return self.origins.get(a.buffer.root or a.buffer, frozenset())

    def derive(self, array: Array, *sources) -> None:
        """Note that an array is any one of some others."""
        self.origins[array.buffer] = frozenset().union(*map(self.origin, sources))

    def writes(self, a) -> None:
        """Remember the arguments through which an array is changed."""
        self.written |= self.origin(a)

    # -- accesses

    def load_element(self, a: Array, index: tuple, m: Mask, n):
        self.check_index(a, index, n)
        return values.sample(a.dtype)

    def put_element(self, a: Array, index: tuple, v, m: Mask, n, checked: bool) -> None:
        self.check_index(a, index, n)
        self.writes(a)

    def locate(self, a: Array, index: tuple, m: Mask, n, checked: bool = False):
        self.check_index(a, index, n)
        return np.int64(0), None

    def wrap(self, i, size, m: Mask, n, a: Array, checked: bool = False):
        return np.int64(0), None

    def out_of_bounds(self, a: Array, index: tuple, outside, n) -> None:
        """Never: nobody knows the bounds."""

    def unread(self, d: np.dtype):
        return values.sample(d)

    def view(self, a: Array, index: tuple, m: Mask, n) -> Array:
        part = super().view(a, index, m, n)
        self.views.append(part)
        return part

    def each(self, a: Array, m: Mask):
        yield (np.int64(0),) * a.ndim, m
        yield (np.int64(0),) * a.ndim, m  # the second time with what the first has made

    # -- sizes, which are those of samples

    def check_sizes(self, fit, error: KernelError) -> None:
        pass

    def positions(self, shape: tuple, inputs: list[tuple], n):
        return [(0,) * len(shape)]

    def shared_array(self, shape, dtype: np.dtype, base: int) -> Array:
        return memory.shared_array(None, shape, dtype, base, 0)

    def local_array(self, shape, dtype: np.dtype) -> Array:
        return memory.local_array(None, shape, dtype, 0)


def stand_in(v, path: tuple[int, ...], origins: dict):
    """A value that stands for the type of an argument.

    Parameters
    ----------
    v : object
    path : tuple of int
        Which argument it is: its position, and positions within tuples.
    origins : dict
        Filled: the paths of the arguments that an array is a part of.
    """
    if isinstance(v, Array):
        array = sample_array(v)
        origins[array.buffer] = frozenset([path])
        return array
    if isinstance(v, tuple):
        return values.rebuilt(v, (stand_in(x, (*path, k), origins) for k, x in enumerate(v)))
    return values.sample(v.dtype) if values.is_value(v) else v


def sample_array(a: Array) -> Array:
    """An array that stands for all of its make."""
    shape = (SAMPLE_SIZE,) * a.ndim
    strides = memory.row_major(shape)
    if not a.contiguous:
        strides = tuple(2 * s for s in strides)
    buffer = memory.Buffer(
        a.name,
        a.buffer.space,
        a.dtype,
        SAMPLE_SIZE,
        np.ones(SAMPLE_SIZE, a.dtype),
        0,
        shape,
        strides,
    )
    return Array(buffer, 0, shape, strides)
