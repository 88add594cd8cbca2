"""Launches that are prepared once for arrays of some shapes, wherever these lie at a call.

A framework's tensors lie elsewhere at nearly every step. Preparing a launch takes the host far
longer than making it, and all that depends on where its arrays lie is their addresses, in the
arguments and in tensor maps: these are written anew.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kernels.host.follow import ADDRESS, Noted, map_on_device, taking_notes

__all__ = ["Movable", "prepared_and_launched"]

Places = tuple[int, ...]


class Movable:
    """A launch on arrays that may lie elsewhere at every call.

    Called with the addresses of its arrays, on multiples of 16 bytes where those were that it was
    prepared for. It belongs to one stream, as its workspaces do.
    """

    __slots__ = ("arrays", "held", "launch", "lock", "maps", "now", "start")

    def __init__(self, launch: Callable[[], object], start: Places) -> None:
        self.launch, self.start, self.now = launch, start, start
        self.arrays: list[list[tuple]] = [[] for _ in start]  # (numbers, which, address) of each
        self.maps: list[list[tuple]] = [[] for _ in start]  # (maps, launch, number) of each
        self.held: dict[Any, Any] = {}  # maps that arguments point to
        self.lock = threading.Lock()

    def __call__(self, places: Places) -> None:
        """Launch it on arrays at these addresses."""
        with self.lock:  # nobody else writes addresses between ours and the launch
            if places != self.now:
                self._move(places)
            self.launch()

    def _move(self, places: Places) -> None:
        for i, place in enumerate(places):
            if place != self.now[i]:
                by = place - self.start[i]
                for numbers, which, address in self.arrays[i]:
                    numbers[which] = address + by
                for maps, noted, number in self.maps[i]:
                    moved = maps.moved(by)
                    if noted.of_numba:
                        moved = map_on_device(moved)
                        noted.values[number][ADDRESS] = moved.data.ptr
                    else:
                        noted.pointers[number] = moved.__array_interface__["data"][0]
                    self.held[id(noted), number] = moved
        self.now = places

    def knows(self, noted: Noted, ends: Sequence[int]) -> bool:
        """Learn which arguments of a launch lie in which array; False where it is not clear."""
        for number, argument in enumerate(noted.given):
            mapped = hasattr(argument, "moved")
            if not getattr(argument, "shape", ()):
                continue  # a number
            if isinstance(argument, np.ndarray) and not mapped:
                return False  # several maps, of rows that start anywhere
            place = argument.place if mapped else argument.data.ptr
            within = [i for i, at in enumerate(self.start) if at == place] or [
                i for i, at in enumerate(self.start) if at < place < ends[i]
            ]
            if len(within) > 1 and len({self.start[i] for i in within}) > 1:
                return False
            for i in within[:1]:
                if mapped:
                    self.maps[i].append((argument, noted, number))
                else:
                    numbers = noted.values[number].reshape(-1)
                    self.arrays[i].append((numbers, ADDRESS * noted.of_numba, place))
        return True


def prepared_and_launched(
    make: Callable[..., Callable[[], object]], arrays: Sequence[Any]
) -> Movable | Callable[[], object]:
    """Prepare a launch on CuPy arrays, and make it; what comes back is for the next time.

    Parameters
    ----------
    make : callable
        Returns the launch on the arrays.
    arrays : sequence of CuPy arrays

    Returns
    -------
    Movable, or the launch itself
        The launch where it works with copies, or where it isn't clear what lies in which array.
    """
    with taking_notes() as noted:
        launch = make(*arrays)
        launch()
    start = tuple(array.data.ptr for array in arrays)
    ends = [at + _span(array) for at, array in zip(start, arrays, strict=True)]
    moving = Movable(launch, start)
    if None in noted or not all(moving.knows(one, ends) for one in noted):
        return launch
    # Of arrays at one place the first one stands for all.
    found = {at for i, at in enumerate(start) if moving.arrays[i] or moving.maps[i]}
    return moving if found == set(start) else launch


def _span(array: Any) -> int:
    """Bytes from the first element to behind the last."""
    steps = zip(array.shape, array.strides, strict=True)
    return sum((n - 1) * abs(stride) for n, stride in steps) + array.itemsize
