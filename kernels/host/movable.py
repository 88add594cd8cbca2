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

from kernels.backend import cupy
from kernels.host.follow import ADDRESS, Noted, taking_notes, write

__all__ = ["Movable", "prepared_and_launched"]

Places = tuple[int, ...]


#: Maps of one argument that are kept, for places where its matrix has been.
MOST = 256


class Movable:
    """A launch on arrays that may lie elsewhere at every call.

    Called with the addresses of its arrays, on multiples of 16 bytes where those were that it was
    prepared for. It belongs to one stream, as its workspaces do.
    """

    __slots__ = ("launch", "lock", "maps", "now", "numbers", "start")

    def __init__(self, launch: Callable[[], object], start: Places) -> None:
        self.launch, self.start, self.now = launch, start, start
        #: Of each array: (arguments, which, how far from its first element), and what moves maps.
        self.numbers: list[list[tuple[memoryview, int, int]]] = [[] for _ in start]
        self.maps: list[list[Callable[[int], None]]] = [[] for _ in start]
        self.lock = threading.Lock()

    def __call__(self, places: Places) -> None:
        """Launch it on arrays at these addresses."""
        with self.lock:  # nobody else writes addresses between ours and the launch
            if places != self.now:
                for i, place in enumerate(places):
                    if place != self.now[i]:
                        for numbers, which, behind in self.numbers[i]:
                            numbers[which] = place + behind
                        for move in self.maps[i]:
                            move(place)
                self.now = places
            self.launch()

    def knows(self, noted: Noted, ends: Sequence[int]) -> bool:
        """Learn which arguments of a launch lie in which array; False where it is not clear."""
        for number, argument in enumerate(noted.given):
            if not getattr(argument, "shape", ()):
                continue  # a number
            mapped = hasattr(argument, "moved")
            place = argument.place if mapped else argument.data.ptr
            within = [i for i, at in enumerate(self.start) if at == place] or [
                i for i, at in enumerate(self.start) if at < place < ends[i]
            ]
            if len(within) > 1 and len({self.start[i] for i in within}) > 1:
                return False
            first = noted.offsets[number] // 8
            for i in within[:1]:
                if mapped:
                    self.maps[i].append(_maps_moved(noted, first, argument, self.start[i]))
                else:
                    which = first + ADDRESS * noted.of_numba
                    self.numbers[i].append((noted.numbers, which, place - self.start[i]))
        return True


def _maps_moved(noted: Noted, first: int, maps: Any, start: int) -> Callable[[int], None]:
    """What gives a launch the tensor maps of a matrix that begins elsewhere."""
    if not noted.of_numba:  # they lie among its arguments

        def move_within(place: int) -> None:
            words = np.frombuffer(maps.moved(place - start).tobytes(), np.uint64)
            for i, word in enumerate(words.tolist()):
                noted.numbers[first + i] = word

        return move_within
    known: dict[int, int] = {}  # by place of the matrix, that of its maps in global memory
    room = None

    def move(place: int) -> None:
        nonlocal room
        at = known.get(place)
        if at is None:
            moved = maps.moved(place - start)
            if room is None:
                room = cupy.empty((MOST, moved.nbytes), np.uint8)
            if len(known) == MOST:
                known.clear()  # their room is used again, behind all launches before
            at = known[place] = room.data.ptr + len(known) * moved.nbytes
            write(at, moved, cupy.cuda.get_current_stream().ptr)
        noted.numbers[first + ADDRESS] = at

    return move


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
    found = {at for i, at in enumerate(start) if moving.numbers[i] or moving.maps[i]}
    return moving if found == set(start) else launch


def _span(array: Any) -> int:
    """Bytes from the first element to behind the last."""
    steps = zip(array.shape, array.strides, strict=True)
    return sum((n - 1) * abs(stride) for n, stride in steps) + array.itemsize
