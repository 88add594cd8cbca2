"""GPUs that are none: queued work is done in any order that streams and events allow.

Each stream is a queue, each event a place in one. `Fakes.finish` picks the next stream at random,
so that a wait that is missing shows as a wrong product in some of the orders.
"""

from __future__ import annotations

import ctypes
import random
from types import SimpleNamespace

import numpy as np

from kernels.distributed import simulation


class Array(np.ndarray):
    """A NumPy array with CuPy's way to its address, to the host and back."""

    @property
    def data(self):
        return SimpleNamespace(ptr=self.ctypes.data)

    def get(self):
        return np.array(self)

    def set(self, values):
        self[...] = values


class Event:
    """How much of a stream must be done before whoever waits for it goes on."""

    def __init__(self, fakes):
        self.stream, self.place = None, 0
        fakes.events[id(self)] = self

    @property
    def ptr(self):
        return id(self)


class Device:
    """A GPU by its number."""

    def __init__(self, number, memory):
        self.mem_info = (memory, memory)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


class Stream:
    """A queue of work, and of waits: pairs of a stream and how much of it must be done."""

    def __init__(self, fakes):
        self.fakes, self.queue, self.done = fakes, [], 0
        fakes.streams[id(self)] = self

    @property
    def ptr(self):
        return id(self)

    def __enter__(self):
        self.fakes.current.append(self)

    def __exit__(self, *error):
        self.fakes.current.pop()


class Fakes:
    """What `kernels.distributed` uses of CuPy, on `gpus` GPUs that are none."""

    def __init__(self, gpus, seed=0, memory=2**40):
        self.gpus, self.random, self.memory = gpus, random.Random(seed), memory
        self.streams, self.events, self.current, self.copied = {}, {}, [], 0
        self.cuda = SimpleNamespace(
            Device=self.device,
            Stream=lambda non_blocking: Stream(self),
            Event=lambda disable_timing: Event(self),
            runtime=SimpleNamespace(
                getDeviceCount=lambda: self.gpus,
                deviceCanAccessPeer=lambda a, b: True,
                deviceEnablePeerAccess=lambda there: None,
                CUDARuntimeError=RuntimeError,
                deviceSynchronize=self.finish,
                memcpyPeerAsync=self.memcpy,
                eventRecord=self.record,
                streamWaitEvent=self.wait,
            ),
        )

    def device(self, number):
        assert number < self.gpus
        return Device(number, self.memory)

    def get_default_memory_pool(self):
        return SimpleNamespace(free_bytes=lambda: 0, free_all_blocks=lambda: None)

    @staticmethod
    def empty(shape, dtype):
        return simulation.poisoned(shape, str(np.dtype(dtype))).view(Array)

    def _queue(self, work):
        self.current[-1].queue.append(work)

    def memcpy(self, there, to, here, source, nbytes, stream):
        self.copied += nbytes
        self.streams[stream].queue.append(lambda: ctypes.memmove(there, here, nbytes))

    def record(self, event, stream):
        event, stream = self.events[event], self.streams[stream]
        event.stream, event.place = stream, len(stream.queue)

    def wait(self, stream, event):
        event = self.events[event]
        self.streams[stream].queue.append((event.stream, event.place))

    def gemm(self, A, B, C, add=False):
        return lambda: self._queue(lambda: simulation.gemm(A, B, C, add))

    def add(self, x, y, out):
        self._queue(lambda: np.add(x, y, out=out))

    def copyto(self, there, here):
        self._queue(lambda: np.copyto(there, here))

    def finish(self):
        """Do all that is queued, one piece of any stream that may go on after another."""
        while True:
            waiting = [s for s in self.streams.values() if s.done < len(s.queue)]
            ready = [s for s in waiting if ready_for(s.queue[s.done])]
            if not ready:
                assert not waiting, "streams wait for each other"
                return
            stream = self.random.choice(ready)
            item = stream.queue[stream.done]
            if callable(item):
                item()
            stream.done += 1


def ready_for(item):
    """Whether a piece of work may be done now."""
    return callable(item) or item[0] is None or item[0].done >= item[1]
