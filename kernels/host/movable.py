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
from kernels.host.follow import ADDRESS, Noted, taking_notes

__all__ = ["Movable", "prepared_and_launched"]

Places = tuple[int, ...]


#: Maps of one argument that are kept, for places where its matrix has been.
MOST = 256
TO_DEVICE = 1  # what CUDA calls a copy from the host


class Movable:
    """A launch on arrays that may lie elsewhere at every call.

    Called with the addresses of its arrays, on multiples of 16 bytes where those were that it was
    prepared for. It belongs to one stream, as its workspaces do.
    """

    __slots__ = ("launch", "lock", "moves", "now", "start")

    def __init__(self, launch: Callable[[], object], start: Places) -> None:
        self.launch, self.start, self.now = launch, start, start
        #: For each array what writes its arguments anew, so many bytes from where they began.
        self.moves: list[list[Callable[[int], None]]] = [[] for _ in start]
        self.lock = threading.Lock()

    def __call__(self, places: Places) -> None:
        """Launch it on arrays at these addresses."""
        with self.lock:  # nobody else writes addresses between ours and the launch
            if places != self.now:
                for place, now, start, moves in zip(
                    places, self.now, self.start, self.moves, strict=True
                ):
                    if place != now:
                        for move in moves:
                            move(place - start)
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
            for i in within[:1]:
                move = _maps_moved if mapped else _array_moved
                self.moves[i].append(move(noted, number, argument if mapped else place))
        return True


def _array_moved(noted: Noted, number: int, place: int) -> Callable[[int], None]:
    numbers, which = noted.values[number].reshape(-1), ADDRESS * noted.of_numba

    def move(by: int) -> None:
        numbers[which] = place + by

    return move


def _maps_moved(noted: Noted, number: int, maps: Any) -> Callable[[int], None]:
    pointers, which = noted.pointers, number
    if noted.of_numba:  # finds maps in global memory
        pointers, which = noted.values[number], ADDRESS
    known: dict[int, tuple[int, Any]] = {}  # by where they are: their address, and what keeps them
    room = None

    def move(by: int) -> None:
        nonlocal room
        found = known.get(by)
        if found is None:
            if len(known) == MOST:
                known.clear()  # their room is used again, behind all launches before
            moved = maps.moved(by)
            at = moved.__array_interface__["data"][0]
            if noted.of_numba:
                if room is None:
                    room = cupy.empty((MOST, moved.nbytes), np.uint8)
                to, stream = room.data.ptr + len(known) * moved.nbytes, cupy.cuda.get_current_stream()
                # The driver copies so few bytes out of the host's memory before it returns.
                cupy.cuda.runtime.memcpyAsync(to, at, moved.nbytes, TO_DEVICE, stream.ptr)
                found = to, None
            else:
                found = at, moved
            known[by] = found
        pointers[which] = found[0]

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
    found = {at for at, moves in zip(start, moving.moves, strict=True) if moves}
    return moving if found == set(start) else launch


def _span(array: Any) -> int:
    """Bytes from the first element to behind the last."""
    steps = zip(array.shape, array.strides, strict=True)
    return sum((n - 1) * abs(stride) for n, stride in steps) + array.itemsize
