"""How long an answer may run: loops by their iterations, everything by the clock."""

from __future__ import annotations

import ctypes
import threading
from contextlib import contextmanager
from dataclasses import replace

from microscope import LIMITS

#: Turns of loops, enough for every exercise many times over: a count is the same on any machine.
LOOPS = replace(LIMITS, trips=400, all_trips=20_000)
#: The same with longer loops, to tell one that ends late from one that does not end.
LONG_LOOPS = replace(LOOPS, trips=2_000, all_trips=6_500)
SECONDS = 60.0  #: for one kernel in the interpreter
FUNCTION_SECONDS = 10.0  #: for one function of Python
GPU_SECONDS = 10.0  #: for one launch on a GPU


class OverTime(BaseException):
    """The clock has run out. No answer's own ``except Exception`` can swallow it."""


@contextmanager
def time_limit(seconds: float):
    """Raise `OverTime` in this thread if the block takes longer.

    It is raised between two instructions of Python, in any thread and on any system; a call that
    sleeps outside Python is not woken. Where no thread can be started, as in WebAssembly, there is
    no clock: the block takes as long as it takes.
    """
    thread = ctypes.c_ulong(threading.get_ident())
    lock, over = threading.Lock(), threading.Event()

    def ring():
        with lock:
            if not over.is_set():
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(OverTime))

    timer = threading.Timer(seconds, ring)
    timer.daemon = True
    if not _started(timer):
        yield
        return
    try:
        yield
    finally:
        timer.cancel()
        with lock:
            over.set()
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, None)


def _started(timer: threading.Timer) -> bool:
    """Start a timer, if this Python can start threads."""
    try:
        timer.start()
    except RuntimeError:
        return False
    return True
