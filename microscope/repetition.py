"""Loops that come back to where they were: nothing will ever end them.

While a loop runs, nobody but its own threads does. If the same threads come to its head with the
same memory and the same values of the variables that decide what it does, then what has happened
since will happen again, without end. A loop that waits for memory (``while flag[0] == 0: pass``) is
found out so after few iterations, whatever it counts meanwhile.
"""

from __future__ import annotations

import numpy as np

from . import values
from .lanes import Mask
from .memory import Array, Buffer
from .variables import PossiblyUnbound

FIRST = 64  # iterations before anybody looks
MOST_BYTES = 1 << 28  # of memory that is worth a copy


class Repetition:
    """Looks for a state of one loop that comes back.

    What a power of two of iterations has led to is remembered until the next, so that a period of
    any length is found. Memory is looked at only where the variables are the same.

    Parameters
    ----------
    names : frozenset of str
        The variables that decide what the loop does.
    """

    def __init__(self, names: frozenset[str]):
        self.names = sorted(names)
        self.variables: list | None = None
        self.memory: list[tuple[np.ndarray, np.ndarray]] | None = None

    def found(self, count: int, run, m: Mask) -> bool:
        """Say whether this is a state that the loop has been in before.

        Parameters
        ----------
        count : int
            Iterations so far.
        run : Runner
        m : Mask
            The lanes that go on. They only ever get fewer.
        """
        if count < FIRST:
            return False
        env, session = run.frame.env, run.session
        now = [m.n, session.printed, session.turns, *map(env.get, self.names)]
        if count & (count - 1) == 0:
            self.variables, self.memory = now, None
            return False
        if self.variables is None or not all(map(_same, now, self.variables)):
            return False
        if self.memory is None:
            buffers = _buffers([*env.values(), *run.shared.values()])
            if sum(b.flat.nbytes for b in buffers) <= MOST_BYTES:
                self.memory = [(b.flat, b.flat.copy()) for b in buffers]
            else:
                self.variables = None
            return False
        for k, (flat, before) in enumerate(self.memory):
            if not np.array_equal(flat.view(np.uint8), before.view(np.uint8)):
                self.memory.insert(0, self.memory.pop(k))  # the likeliest to differ again
                return False
        return True


def _same(a, b) -> bool:
    """Say whether two values of a variable are the same in all lanes, to the bit."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, Array):
        parts = (a.offset, *a.shape, *a.strides), (b.offset, *b.shape, *b.strides)
        return a.buffer is b.buffer and _same(*parts)
    if isinstance(a, PossiblyUnbound):
        return _same(a.value, b.value) and _same(a.unbound, b.unbound)
    if values.is_value(a) or isinstance(a, np.ndarray):
        return (a.dtype, a.shape) == (b.dtype, b.shape) and a.tobytes() == b.tobytes()
    return isinstance(a, int) and a == b


def _buffers(found) -> list[Buffer]:
    """The memory behind some values."""
    buffers: dict[Buffer, None] = {}
    for v in found:
        if isinstance(v, tuple):
            buffers.update(dict.fromkeys(_buffers(v)))
        elif isinstance(v, PossiblyUnbound):
            buffers.update(dict.fromkeys(_buffers([v.value])))
        elif isinstance(v, Array):
            buffers[v.buffer] = None
    return list(buffers)
